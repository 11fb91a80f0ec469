package market

import (
	"cmp"
	"slices"
	"strings"
)

// SideSum is what the completed trades of one direction come to.
type SideSum struct {
	Count, Wins int64
	Pnl         Decimal // sum of closedPnl, quote units
}

func (s *SideSum) merge(o SideSum) {
	s.Count += o.Count
	s.Wins += o.Wins
	s.Pnl = s.Pnl.Add(o.Pnl)
}

// TradeSum is what completed trades come to. The zero value is that of none.
type TradeSum struct {
	Long, Short SideSum
	Orders      int64 // distinct orders that opened and closed each, summed up
	Duration    int64 // of all together, ms
	First, Last int64 // when the first and the last of them ended, ms; 0 without any
}

// Count is how many trades were summed up.
func (s *TradeSum) Count() int64 { return s.Long.Count + s.Short.Count }

// Wins is how many of them made a profit, fees and funding apart.
func (s *TradeSum) Wins() int64 { return s.Long.Wins + s.Short.Wins }

// Pnl is their closedPnl, quote units.
func (s *TradeSum) Pnl() Decimal { return s.Long.Pnl.Add(s.Short.Pnl) }

// WinRate is the share of trades that made a profit, 0 to 1; 0 without trades.
func (s *TradeSum) WinRate() float64 { return shareOf(s.Wins(), s.Count()) }

// WinPercent is WinRate in percent.
func (s *TradeSum) WinPercent() float64 {
	if r := Ratio(hundred.Mul(count(s.Wins())), count(s.Count())); r != nil {
		return *r
	}
	return 0
}

// WinRate is that of one direction.
func (s *SideSum) WinRate() float64 { return shareOf(s.Wins, s.Count) }

// AverageDuration is how long a trade lasted on average, ms; 0 without trades.
func (s *TradeSum) AverageDuration() int64 {
	if s.Count() == 0 {
		return 0
	}
	return s.Duration / s.Count()
}

// Add takes a trade in.
func (s *TradeSum) Add(t *CompletedTrade) {
	s.add(TradeEnd{End: t.End, Long: t.Long, Pnl: t.Pnl, Orders: t.Orders(), Duration: t.Duration()})
}

func (s *TradeSum) add(t TradeEnd) { s.Merge(sumOf(t)) }

// sumOf is the sum of one trade.
func sumOf(t TradeEnd) TradeSum {
	side := SideSum{Count: 1, Pnl: t.Pnl}
	if t.Pnl.IsPos() {
		side.Wins = 1
	}
	one := TradeSum{Orders: t.Orders, Duration: t.Duration, First: t.End, Last: t.End}
	if t.Long {
		one.Long = side
	} else {
		one.Short = side
	}
	return one
}

// Merge takes other trades in.
func (s *TradeSum) Merge(o TradeSum) {
	if o.Count() == 0 {
		return
	}
	if s.Count() == 0 || o.First < s.First {
		s.First = o.First
	}
	s.Last = max(s.Last, o.Last)
	s.Long.merge(o.Long)
	s.Short.merge(o.Short)
	s.Orders += o.Orders
	s.Duration += o.Duration
}

// BestTrades is how many of the best trades a [TradeReport] keeps.
const BestTrades = 100

// TradeReport is what completed trades come to in detail: by direction, by coin, and
// the best of them. The zero value is that of none. Trades may be added in any order,
// each once.
type TradeReport struct {
	Sum                      TradeSum
	LongFee, ShortFee        Decimal // USDC; negative is a rebate
	MinDuration, MaxDuration int64   // ms; 0 without trades
	Coins                    []CoinSum
	Best                     []TradeRef // by profit, the best first, at most BestTrades
}

// CoinSum is what the completed trades in a coin come to.
type CoinSum struct {
	Coin     string
	Trades   int64
	Pnl, Fee Decimal // quote units, USDC
}

// TradeRef names a completed trade with what it earned.
type TradeRef struct {
	Coin       string
	Long       bool
	Start, End int64 // ms
	Tid        int64 // of the fill that closed it
	Pnl        Decimal
}

// Fee is what all trades paid, USDC.
func (r *TradeReport) Fee() Decimal { return r.LongFee.Add(r.ShortFee) }

// Add takes a trade in.
func (r *TradeReport) Add(t *CompletedTrade) {
	first := r.Sum.Count() == 0
	r.Sum.Add(t)
	if t.Long {
		r.LongFee = r.LongFee.Add(t.Fee)
	} else {
		r.ShortFee = r.ShortFee.Add(t.Fee)
	}
	r.addDurations(t.Duration(), t.Duration(), first)
	r.addCoin(CoinSum{t.Coin, 1, t.Pnl, t.Fee})
	r.addBest(TradeRef{t.Coin, t.Long, t.Start, t.End, t.Tid, t.Pnl})
}

// Merge takes other trades in.
func (r *TradeReport) Merge(o *TradeReport) {
	if o.Sum.Count() == 0 {
		return
	}
	first := r.Sum.Count() == 0
	r.Sum.Merge(o.Sum)
	r.LongFee, r.ShortFee = r.LongFee.Add(o.LongFee), r.ShortFee.Add(o.ShortFee)
	r.addDurations(o.MinDuration, o.MaxDuration, first)
	for _, c := range o.Coins {
		r.addCoin(c)
	}
	for _, t := range o.Best {
		r.addBest(t)
	}
}

func (r *TradeReport) addDurations(least, most int64, first bool) {
	if first || least < r.MinDuration {
		r.MinDuration = least
	}
	r.MaxDuration = max(r.MaxDuration, most)
}

func (r *TradeReport) addCoin(sum CoinSum) {
	at, known := slices.BinarySearchFunc(r.Coins, sum.Coin, func(c CoinSum, coin string) int { return strings.Compare(c.Coin, coin) })
	if !known {
		r.Coins = slices.Insert(r.Coins, at, CoinSum{Coin: strings.Clone(sum.Coin)})
	}
	c := &r.Coins[at]
	c.Trades += sum.Trades
	c.Pnl, c.Fee = c.Pnl.Add(sum.Pnl), c.Fee.Add(sum.Fee)
}

func (r *TradeReport) addBest(t TradeRef) {
	at, _ := slices.BinarySearchFunc(r.Best, t, compareBest)
	if at == BestTrades {
		return
	}
	t.Coin = strings.Clone(t.Coin)
	r.Best = slices.Insert(r.Best, at, t)
	r.Best = r.Best[:min(len(r.Best), BestTrades)]
}

// compareBest orders trades by profit, the best first; of equal ones the earlier.
func compareBest(a, b TradeRef) int {
	return cmp.Or(b.Pnl.Cmp(a.Pnl), cmp.Compare(a.End, b.End), strings.Compare(a.Coin, b.Coin), cmp.Compare(a.Tid, b.Tid))
}

// CoinsByPnl are the coins by profit, the best first.
func (r *TradeReport) CoinsByPnl() []CoinSum {
	coins := slices.Clone(r.Coins)
	slices.SortStableFunc(coins, func(a, b CoinSum) int { return b.Pnl.Cmp(a.Pnl) })
	return coins
}
