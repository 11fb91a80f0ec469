package market

import (
	"strconv"
	"time"
)

// LargeOrder is a large level of an order book, from when it was first seen until it was over. One
// level may be the orders of several. Sizes are base units or, of an inverse pair, quote units.
type LargeOrder struct {
	Pair     string // its key
	Side     Side   // Buy of a bid
	Px       Decimal
	Contract Decimal // that of the pair, and whether it is inverse: see [Pair]
	Inverse  bool

	Start   int64 // when it was first seen, ms
	Changed int64 // when its size changed last, ms
	End     int64 // when it was over, ms; 0 while it is not, and where that was missed
	Missed  int64 // when it was found not to be there any more, ms: it went while the book was not seen; else 0

	First, Last, Highest Decimal // sizes: when it was first seen, now or what was left at the end, and the most
	Gone                 Decimal // how much of it has disappeared, by whatever
	Met                  Decimal // what takers traded at its price against its side while it rested
	Trades               int64   // such trades
	LargestTrade         Decimal // the largest of them
	FirstTrade           int64   // when the first of them was, ms; 0 without one
	LastTrade            int64   // when the last of them was, ms

	// Near is by how much a price that was paid while it rested differed from its own at least, and
	// is known where anything was paid.
	Near      Decimal
	NearKnown bool
}

// LargeState is how far a large order is in its life.
type LargeState int

// The states of large orders.
const (
	LargePending   LargeState = iota // it has not rested for [LargeConfirmed] yet
	LargeRests                       // it has, and nothing of it was traded
	LargePartly                      // a part of it was traded; at its end between a tenth and nine tenths of what disappeared
	LargeFilled                      // it is over: nine tenths of what disappeared were traded, or more
	LargeCancelled                   // it is over: a tenth of what disappeared was traded, or less
)

const (
	// LargeConfirmed is how long a large order must rest to be confirmed. One that was cancelled or
	// missed before is none.
	LargeConfirmed = 10 * time.Second

	// BaitFor is how long an order rests at most that may have been bait.
	BaitFor = 10 * time.Minute
)

// baitNear is how near a price that was paid came to one that may have been bait: a thousandth.
var (
	baitNear   = mustDecimal("0.001")
	mostFilled = mustDecimal("0.9")
)

// ID names an order among those of its pair.
func (o *LargeOrder) ID() string {
	return strconv.FormatInt(o.Start, 10) + "-" + o.Kind() + "-" + o.Px.String()
}

// Kind is bid or ask.
func (o *LargeOrder) Kind() string {
	if o.Side == Buy {
		return "bid"
	}
	return "ask"
}

// Over reports whether it rests no more, or is not seen any more.
func (o *LargeOrder) Over() bool { return o.End != 0 || o.Missed != 0 }

// Rested is for how long it has rested, ms, at a time: until its end or until it was missed.
func (o *LargeOrder) Rested(now int64) int64 {
	switch {
	case o.End != 0:
		now = o.End
	case o.Missed != 0:
		now = o.Missed
	}
	return max(0, now-o.Start)
}

// Traded is how much of it was traded: what takers traded at its price, and no more than has
// disappeared. What else disappeared was cancelled.
func (o *LargeOrder) Traded() Decimal {
	if o.Met.Cmp(o.Gone) > 0 {
		return o.Gone
	}
	return o.Met
}

// TradedPercent is how much of all that ever rested of it was traded, in percent to four places.
func (o *LargeOrder) TradedPercent() Decimal {
	traded := o.Traded()
	return Share(traded, o.Gone.Add(o.Last).Sub(traded)).Mul(decimalOf(100))
}

// State is how far it is in its life at a time, ms.
func (o *LargeOrder) State(now int64) LargeState {
	traded := o.Traded()
	switch {
	case o.End != 0 && traded.Cmp(o.Gone.Mul(mostFilled)) >= 0:
		return LargeFilled
	case o.End != 0 && traded.Cmp(o.Gone.Mul(tenth)) <= 0:
		return LargeCancelled
	case traded.IsPos():
		return LargePartly
	case o.Rested(now) >= LargeConfirmed.Milliseconds():
		return LargeRests
	}
	return LargePending
}

// Bait reports whether it looks like one that was never to be traded: it was cancelled within
// [BaitFor], and prices had come as near as a thousandth of its own.
func (o *LargeOrder) Bait() bool {
	return o.End != 0 && o.State(o.End) == LargeCancelled && o.Rested(0) <= BaitFor.Milliseconds() &&
		o.NearKnown && o.Near.Cmp(o.Px.Mul(baitNear)) <= 0
}

// counts reports whether it is one at all, once it is over.
func (o *LargeOrder) counts() bool {
	if o.Rested(0) >= LargeConfirmed.Milliseconds() {
		return true
	}
	state := o.State(o.End)
	return state == LargePartly || state == LargeFilled
}

// Contracts is a size of it in contracts or, where the exchange counts sizes in coins, in these.
func (o *LargeOrder) Contracts(size Decimal) Decimal {
	if o.Contract.IsZero() {
		return size
	}
	n, err := size.Div(o.Contract)
	if err != nil {
		return size
	}
	return n
}

// Coins is a size of it in base coins: of an inverse pair at its price, to eight places.
func (o *LargeOrder) Coins(size Decimal) Decimal {
	if !o.Inverse {
		return size
	}
	coins, err := size.Div(o.Px)
	if err != nil {
		return Decimal{}
	}
	return coins.RoundHAZ(inverseCoinPlaces)
}

// inverseCoinPlaces are those to which sizes of inverse pairs are rounded, as no price divides
// dollars evenly into coins.
const inverseCoinPlaces = 8

// Value is what a size of it is worth at its price, US dollars, of which a stable coin counts as
// one.
func (o *LargeOrder) Value(size Decimal) Decimal {
	if o.Inverse {
		return size
	}
	return Notional(o.Px, size)
}

// resize takes another size.
func (o *LargeOrder) resize(size Decimal, at int64) {
	if size.Equal(o.Last) {
		return
	}
	if size.Cmp(o.Last) < 0 {
		o.Gone = o.Gone.Add(o.Last.Sub(size))
	}
	if size.Cmp(o.Highest) > 0 {
		o.Highest = size
	}
	o.Last, o.Changed = size, at
}

// approach takes a price that was paid.
func (o *LargeOrder) approach(px Decimal) {
	if off := px.Sub(o.Px).Abs(); !o.NearKnown || off.Cmp(o.Near) < 0 {
		o.Near, o.NearKnown = off, true
	}
}

// meet takes a trade at its price, against its side.
func (o *LargeOrder) meet(t *PairTrade) {
	size := t.SizeOf(o.Inverse)
	o.Met = o.Met.Add(size)
	o.Trades++
	if size.Cmp(o.LargestTrade) > 0 {
		o.LargestTrade = size
	}
	if o.FirstTrade == 0 {
		o.FirstTrade = t.Time
	}
	o.LastTrade = t.Time
}
