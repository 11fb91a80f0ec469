package projection

import (
	"encoding/binary"
	"errors"
	"slices"

	"quotary/shared/market"
)

// tradeSet is the set of the trades of one coin in one second. It is what makes
// a one-second kline know its trades: stored beside the row, it tells a trade
// that comes again. The zero value is empty.
type tradeSet struct {
	trades []secondTrade
	byTid  map[int64]int // index in trades; made when a scan becomes slow
	sorted bool
}

type secondTrade struct {
	order  market.Order
	px, sz market.Decimal
	buyer  bool // the taker bought
}

// scanUpTo is the size up to which a scan beats a map.
const scanUpTo = 48

// add puts t into the set and tells whether the set changed. A trade that is in
// it already changes it only when told with a higher Seq: the greater knowledge
// of the order wins, whichever source speaks first.
func (s *tradeSet) add(t *market.Trade) bool {
	n := secondTrade{t.Order(), t.Px, t.Sz, t.Side == market.Buy}
	if i, ok := s.find(t.Tid); ok {
		if n.order.Seq <= s.trades[i].order.Seq {
			return false
		}
		s.trades[i], s.sorted = n, false
		if len(s.trades) == 1 {
			s.sorted = true
		}
		s.byTid = nil
		return true
	}
	s.sorted = len(s.trades) == 0 || s.sorted && s.trades[len(s.trades)-1].order.Compare(n.order) < 0
	s.trades = append(s.trades, n)
	if s.byTid != nil {
		s.byTid[t.Tid] = len(s.trades) - 1
	}
	return true
}

func (s *tradeSet) find(tid int64) (int, bool) {
	if len(s.trades) <= scanUpTo {
		i := slices.IndexFunc(s.trades, func(t secondTrade) bool { return t.order.Tid == tid })
		return i, i >= 0
	}
	if s.byTid == nil {
		s.byTid = make(map[int64]int, 2*len(s.trades))
		for i := range s.trades {
			s.byTid[s.trades[i].order.Tid] = i
		}
	}
	i, ok := s.byTid[tid]
	return i, ok
}

func (s *tradeSet) sort() {
	if !s.sorted {
		slices.SortFunc(s.trades, func(a, b secondTrade) int { return a.order.Compare(b.order) })
		s.sorted, s.byTid = true, nil
	}
}

// fold adds the trades to c.
func (s *tradeSet) fold(c *market.Candle) {
	s.sort()
	for i := range s.trades {
		st := &s.trades[i]
		t := market.Trade{Side: market.Sell, Px: st.px, Sz: st.sz, Time: st.order.Time, Seq: st.order.Seq, Tid: st.order.Tid}
		if st.buyer {
			t.Side = market.Buy
		}
		c.Add(&t)
	}
}

// tradesVersion opens an encoded set.
const tradesVersion = 1

// encode writes the set of the second that starts at start (ms), about 30 bytes
// a trade: version, number of trades, and in their order for each trade its id,
// ms within the second, step in Seq, px, sz and taker side. 10,000 trades of one
// coin in one second fit the 400 KB of a row.
func (s *tradeSet) encode(start int64) []byte {
	s.sort()
	b := make([]byte, 0, 8+36*len(s.trades))
	b = append(b, tradesVersion)
	b = binary.AppendUvarint(b, uint64(len(s.trades)))
	seq := int64(0)
	for i := range s.trades {
		t := &s.trades[i]
		b = binary.AppendUvarint(b, uint64(t.order.Tid))
		b = binary.AppendUvarint(b, uint64(t.order.Time-start))
		b = binary.AppendVarint(b, t.order.Seq-seq)
		seq = t.order.Seq
		b = appendShort(b, t.px)
		b = appendShort(b, t.sz)
		if t.buyer {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	return b
}

func appendShort(b []byte, d market.Decimal) []byte {
	at := len(b)
	b = market.AppendText(append(b, 0), d)
	b[at] = byte(len(b) - at - 1)
	return b
}

var errTrades = errors.New("the trades beside the row cannot be read")

// decodeTrades reads what encode wrote.
func decodeTrades(b []byte, start int64) (tradeSet, error) {
	d := tradeDecoder{b: b, ok: true}
	if d.byte() != tradesVersion {
		return tradeSet{}, errTrades
	}
	n := d.uvarint()
	if n > uint64(len(b)) {
		return tradeSet{}, errTrades
	}
	s := tradeSet{trades: make([]secondTrade, 0, n), sorted: true}
	seq := int64(0)
	for range n {
		var t secondTrade
		t.order.Tid = int64(d.uvarint())
		t.order.Time = start + int64(d.uvarint())
		seq += d.varint()
		t.order.Seq = seq
		t.px, t.sz = d.decimal(), d.decimal()
		t.buyer = d.byte() == 1
		s.trades = append(s.trades, t)
	}
	if !d.ok || len(d.b) != 0 {
		return tradeSet{}, errTrades
	}
	return s, nil
}

// tradeDecoder reads from b; ok turns false at the first fault.
type tradeDecoder struct {
	b  []byte
	ok bool
}

func (d *tradeDecoder) byte() byte {
	if len(d.b) == 0 {
		d.ok = false
		return 0
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

func (d *tradeDecoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	return advance(d, v, n)
}

func (d *tradeDecoder) varint() int64 {
	v, n := binary.Varint(d.b)
	return advance(d, v, n)
}

func advance[T any](d *tradeDecoder, v T, n int) T {
	if n <= 0 {
		var zero T
		d.ok, d.b = false, nil
		return zero
	}
	d.b = d.b[n:]
	return v
}

func (d *tradeDecoder) decimal() market.Decimal {
	n := int(d.byte())
	if n > len(d.b) {
		d.ok = false
		return market.Decimal{}
	}
	v, err := market.ParseDecimal(string(d.b[:n]))
	d.ok = d.ok && err == nil
	d.b = d.b[n:]
	return v
}
