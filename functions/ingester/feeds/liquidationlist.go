package feeds

import (
	"cmp"
	"iter"
	"slices"

	"quotary/shared/market"
)

// stretch is of how many events in a row it is known what the largest are.
const stretch = 64

// liquidationList is liquidations by time. Whoever wants but what is worth a million is shown the last
// of these without a look at each: what the largest of a stretch are says mostly that it has none. The
// zero value is empty.
type liquidationList struct {
	events  []market.LiquidationEvent
	largest []map[string]market.Decimal // of the first stretches: values by coin, and of all as ""
}

// behind is the place of the first event at a time or later, ms.
func (l *liquidationList) behind(ms int64) int {
	at, _ := slices.BinarySearchFunc(l.events, ms, func(e market.LiquidationEvent, ms int64) int { return cmp.Compare(e.Time, ms) })
	return at
}

// insert adds an event behind those of its time.
func (l *liquidationList) insert(e *market.LiquidationEvent) {
	at := l.behind(e.Time + 1)
	l.events = slices.Insert(l.events, at, *e)
	l.changed(at)
}

// merge adds a part of an event, which began at a time or later, ms.
func (l *liquidationList) merge(part *market.LiquidationEvent, ms int64) {
	if i := l.find(part, ms); i >= 0 {
		l.events[i].Add(part)
		l.changed(i)
	}
}

// find is where the event is that something is a part of, which began at a time or later, ms; -1 where there is none.
func (l *liquidationList) find(part *market.LiquidationEvent, ms int64) int {
	for i := l.behind(ms); i < len(l.events); i++ {
		if l.events[i].Same(part) {
			return i
		}
	}
	return -1
}

// drop takes the oldest n out.
func (l *liquidationList) drop(n int) {
	l.events = slices.Clone(l.events[n:])
	l.changed(0)
}

// changed forgets what was largest from a place on.
func (l *liquidationList) changed(at int) {
	l.largest = l.largest[:min(len(l.largest), at/stretch)]
}

// learn finds what is largest of all whole stretches.
func (l *liquidationList) learn() {
	for n := len(l.largest); n < len(l.events)/stretch; n++ {
		most := map[string]market.Decimal{}
		for i := range l.events[n*stretch : (n+1)*stretch] {
			e := &l.events[n*stretch+i]
			for _, coin := range [...]string{"", e.Coin} {
				if of, ok := most[coin]; !ok || e.Value.GreaterThan(of) {
					most[coin] = e.Value
				}
			}
		}
		l.largest = append(l.largest, most)
	}
}

// backward are the events, newest first, without the stretches of which a filter shows nothing.
func (l *liquidationList) backward(filter *liquidationFilter) iter.Seq[*market.LiquidationEvent] {
	return func(yield func(*market.LiquidationEvent) bool) {
		l.learn()
		for i := len(l.events) - 1; i >= 0; i-- {
			if n := i / stretch; i%stretch == stretch-1 {
				if most, ok := l.largest[n][filter.coin]; !ok || most.Cmp(filter.least) < 0 {
					i = n * stretch
					continue
				}
			}
			if !yield(&l.events[i]) {
				return
			}
		}
	}
}
