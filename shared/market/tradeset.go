package market

import (
	"cmp"
	"slices"
)

// TradeSet is the set of the trades of one coin in one second. It is what makes a
// one-second candle know its trades: stored beside the candle, it recognises a
// trade that comes again. The zero value is empty.
type TradeSet struct {
	trades []SetTrade
	byTid  map[int64]int // index in trades; made when a scan becomes slow
	sorted bool
}

// SetTrade is what a set keeps of a trade.
type SetTrade struct {
	Order  Order
	Px, Sz Decimal
	Bought bool // by the taker

	TradeDetails
}

// TradeDetails are what a set knows of a trade beside what makes candles.
type TradeDetails struct {
	Arrival Arrival   // the first of those that it came with; 0 is not known
	Hash    string    // of the transaction; "" is not known
	Users   [2]string // buyer, seller; "" is not known
}

// keep is d with what is known of the same trade by another source, which came before.
func (d *TradeDetails) keep(before *TradeDetails) {
	if before.Arrival != 0 && (d.Arrival == 0 || before.Arrival < d.Arrival) {
		d.Arrival = before.Arrival
	}
	d.Hash = cmp.Or(d.Hash, before.Hash)
	for i := range d.Users {
		d.Users[i] = cmp.Or(d.Users[i], before.Users[i])
	}
}

// NewTradeSet is the set of trades that differ in their ids. It keeps the slice.
func NewTradeSet(trades []SetTrade) TradeSet { return TradeSet{trades: trades} }

// Len is the number of trades.
func (s *TradeSet) Len() int { return len(s.trades) }

// Has reports whether the trade of an id is in the set.
func (s *TradeSet) Has(tid int64) bool {
	_, ok := s.find(tid)
	return ok
}

// Sorted are the trades in their order. They belong to the set and are valid
// until it changes.
func (s *TradeSet) Sorted() []SetTrade {
	s.sort()
	return s.trades
}

// scanUpTo is the size up to which a scan beats a map.
const scanUpTo = 48

// Add puts t into the set and reports whether the set changed. A trade that is in
// it already changes it only when it comes with a higher Seq: the greater
// knowledge of the order wins, whichever source is first.
func (s *TradeSet) Add(t *Trade) bool {
	n := SetTrade{t.Order(), t.Px, t.Sz, t.Side == Buy, TradeDetails{t.Arrival, t.Hash, t.Users}}
	if i, ok := s.find(t.Tid); ok {
		if n.Order.Seq <= s.trades[i].Order.Seq {
			return false
		}
		n.keep(&s.trades[i].TradeDetails)
		s.trades[i], s.sorted = n, false
		if len(s.trades) == 1 {
			s.sorted = true
		}
		return true // at the same place, until they are sorted
	}
	s.sorted = len(s.trades) == 0 || s.sorted && s.trades[len(s.trades)-1].Order.Compare(n.Order) < 0
	s.trades = append(s.trades, n)
	if s.byTid != nil {
		s.byTid[t.Tid] = len(s.trades) - 1
	}
	return true
}

func (s *TradeSet) find(tid int64) (int, bool) {
	if len(s.trades) <= scanUpTo {
		i := slices.IndexFunc(s.trades, func(t SetTrade) bool { return t.Order.Tid == tid })
		return i, i >= 0
	}
	if s.byTid == nil {
		s.byTid = make(map[int64]int, 2*len(s.trades))
		for i := range s.trades {
			s.byTid[s.trades[i].Order.Tid] = i
		}
	}
	i, ok := s.byTid[tid]
	return i, ok
}

func (s *TradeSet) sort() {
	if !s.sorted {
		slices.SortFunc(s.trades, func(a, b SetTrade) int { return a.Order.Compare(b.Order) })
		s.sorted, s.byTid = true, nil
	}
}

// Trade is one of a coin's trades as a source delivers it.
func (t *SetTrade) Trade(coin string) Trade {
	all := Trade{Coin: coin, Side: Sell, Px: t.Px, Sz: t.Sz, Time: t.Order.Time, Seq: t.Order.Seq, Tid: t.Order.Tid,
		Hash: t.Hash, Users: t.Users, Arrival: t.Arrival}
	if t.Bought {
		all.Side = Buy
	}
	return all
}

// Fold adds the trades to c.
func (s *TradeSet) Fold(c *Candle) {
	s.sort()
	for i := range s.trades {
		t := s.trades[i].Trade("")
		c.Add(&t)
	}
}
