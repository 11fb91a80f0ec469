package market

import (
	"cmp"
	"slices"
	"time"
)

// LargeOrders follows the large orders of one pair, of what its book and its trades say. These
// come by different ways, so that what happened within the last [LargeDelay] waits to be put into
// the order of its times: whatever comes within that, however often and in whatever order, makes
// the same orders. What comes later is left out, and counted. The zero value has none.
type LargeOrders struct {
	Running []LargeOrder // sorted by side and price
	Until   int64        // ms: what happened until then is in it
	Heard   int64        // ms: when the book was heard of last
	Late    int64        // events that came too late, or were too many
	Refused int64        // levels that were not followed, as [MostLarge] were

	levels  []LargeLevels // that wait
	trades  []PairTrade
	waiting int // of both, what weighs as [mostWaiting] counts
}

const (
	// LargeDelay is how long events wait for others of an earlier time.
	LargeDelay = 5 * time.Second

	// LargeSilence is how long the orders of a book of which nothing is heard are kept: then they
	// are missed.
	LargeSilence = 10 * time.Minute

	// MostLarge is how many orders of a pair are followed at most.
	MostLarge = 400

	// mostWaiting is how many trades and changes of levels of a pair wait at most, of which an event
	// has many: others are left out as well.
	mostWaiting = 50_000
)

// AddLevels takes how large levels changed.
func (l *LargeOrders) AddLevels(e *LargeLevels) {
	if e.Time <= l.Until || l.full() {
		l.Late++
		return
	}
	l.levels = append(l.levels, *e)
	l.waiting += e.Weight()
}

// AddTrade takes a trade. Those of a pair of whose book nothing is known are of no use.
func (l *LargeOrders) AddTrade(t *PairTrade) {
	switch {
	case l.Until == 0 && len(l.levels) == 0:
	case t.Time <= l.Until || l.full():
		l.Late++
	default:
		l.trades = append(l.trades, *t)
		l.waiting++
	}
}

func (l *LargeOrders) full() bool { return l.waiting >= mostWaiting }

// Advance takes what has waited up to a time, ms, in its order, and returns the orders that were
// over in it: a trade of the millisecond of a change comes before that.
func (l *LargeOrders) Advance(until int64) (over []LargeOrder) {
	if until <= l.Until {
		return nil
	}
	slices.SortStableFunc(l.trades, func(a, b PairTrade) int { return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.ID, b.ID)) })
	slices.SortStableFunc(l.levels, compareLevels)
	t, paid := 0, Decimal{} // the price of the trade before, 0 where orders have begun since
	for i := 0; ; i++ {
		last := i == len(l.levels) || l.levels[i].Time > until
		for ; t < len(l.trades) && l.trades[t].Time <= until && (last || l.trades[t].Time <= l.levels[i].Time); t++ {
			if one := &l.trades[t]; t == 0 || one.ID != l.trades[t-1].ID {
				over = l.silent(over, one.Time)
				l.trade(one, !one.Px.Equal(paid))
				paid = one.Px
			}
		}
		if last {
			l.levels = append([]LargeLevels(nil), l.levels[i:]...)
			break
		}
		if i == 0 || compareLevels(l.levels[i-1], l.levels[i]) != 0 {
			over = l.change(l.silent(over, l.levels[i].Time), &l.levels[i])
			paid = Decimal{}
		}
	}
	l.trades = append(l.trades[:0], l.trades[t:]...)
	l.waiting = len(l.trades)
	for i := range l.levels {
		l.waiting += l.levels[i].Weight()
	}
	l.Until = until
	return l.silent(over, until)
}

// silent ends all orders where nothing has been heard of the book for too long at a time, ms.
func (l *LargeOrders) silent(over []LargeOrder, at int64) []LargeOrder {
	if l.Heard > 0 && at-l.Heard > LargeSilence.Milliseconds() {
		return l.Miss(over, l.Heard)
	}
	return over
}

// compareLevels orders what a book says; 0 is of the same said twice.
func compareLevels(a, b LargeLevels) int {
	whole := func(e *LargeLevels) int {
		if e.Whole {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Number, b.Number), cmp.Compare(whole(&a), whole(&b)), cmp.Compare(len(a.Levels), len(b.Levels)))
}

// find returns the place of the order at a price.
func (l *LargeOrders) find(side Side, px Decimal) (int, bool) {
	return slices.BinarySearchFunc(l.Running, px, func(o LargeOrder, px Decimal) int {
		return cmp.Or(cmp.Compare(o.Side, side), o.Px.Cmp(px))
	})
}

// trade takes a trade, of which the orders know no price as near where another is set.
func (l *LargeOrders) trade(t *PairTrade, another bool) {
	if another {
		for i := range l.Running {
			l.Running[i].approach(t.Px)
		}
	}
	against := Buy
	if t.Side == Buy {
		against = Sell
	}
	if i, ok := l.find(against, t.Px); ok {
		l.Running[i].meet(t)
	}
}

// change takes what a book says.
func (l *LargeOrders) change(over []LargeOrder, e *LargeLevels) []LargeOrder {
	l.Heard = e.Time
	if e.Whole {
		over = l.missOthers(over, e)
	}
	for i := range e.Levels {
		level := &e.Levels[i]
		at, known := l.find(level.Side, level.Px)
		switch value := e.value(level); {
		case !known:
			l.begin(at, e, level)
		case value.Cmp(LargeLeft(e.From)) >= 0:
			l.Running[at].resize(level.Sz, e.Time)
		default:
			o := &l.Running[at]
			if level.Unseen {
				o.Missed = e.Time
			} else {
				o.resize(level.Sz, e.Time)
				o.End = e.Time
			}
			if o.counts() {
				over = append(over, *o)
			}
			l.Running = slices.Delete(l.Running, at, at+1)
		}
	}
	return over
}

// begin begins an order where a level is large.
func (l *LargeOrders) begin(at int, e *LargeLevels, level *LargeLevel) {
	if e.value(level).Cmp(e.From) < 0 {
		return
	}
	if len(l.Running) >= MostLarge {
		l.Refused++
		return
	}
	l.Running = slices.Insert(l.Running, at, LargeOrder{
		Pair: e.Pair, Side: level.Side, Px: level.Px, Contract: e.Contract, Inverse: e.Inverse,
		Start: e.Time, Changed: e.Time, First: level.Sz, Last: level.Sz, Highest: level.Sz,
	})
}

// missOthers ends the orders that are not among all levels: how they went is not known.
func (l *LargeOrders) missOthers(over []LargeOrder, e *LargeLevels) []LargeOrder {
	there := make([]bool, len(l.Running))
	for i := range e.Levels {
		level := &e.Levels[i]
		if at, known := l.find(level.Side, level.Px); known && e.value(level).Cmp(LargeLeft(e.From)) >= 0 {
			there[at] = true
		}
	}
	kept := l.Running[:0]
	for i := range l.Running {
		if there[i] {
			kept = append(kept, l.Running[i])
			continue
		}
		if l.Running[i].Missed = e.Time; l.Running[i].counts() {
			over = append(over, l.Running[i])
		}
	}
	clear(l.Running[len(kept):])
	l.Running = kept
	return over
}

// Miss ends all orders, as those of a pair whose book is not followed any more since a time, ms.
func (l *LargeOrders) Miss(over []LargeOrder, at int64) []LargeOrder {
	for i := range l.Running {
		if l.Running[i].Missed = max(at, l.Running[i].Start); l.Running[i].counts() {
			over = append(over, l.Running[i])
		}
	}
	l.Running, l.Heard = nil, 0
	return over
}
