package market

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// largeEvent is one of the two kinds of events that large orders are made of.
type largeEvent struct {
	levels *LargeLevels
	trade  *PairTrade
}

const largeBegin = int64(1_795_000_000_000)

// drawLargeEvents draws what a book and its trades say in a time, in its order: levels of a few
// prices, worth 0 to 300 of the 100 from which they are large.
func drawLargeEvents(t *rapid.T) (events []largeEvent) {
	at := largeBegin
	inverse := rapid.Bool().Draw(t, "inverse")
	level := func() LargeLevel {
		l := LargeLevel{Side: Buy, Px: decimalOf(rapid.Int64Range(1, 4).Draw(t, "price")), Sz: decimalOf(rapid.Int64Range(0, 100).Draw(t, "size"))}
		if rapid.Bool().Draw(t, "ask") {
			l.Side, l.Px = Sell, l.Px.Add(decimalOf(4))
		}
		l.Unseen = l.Sz.IsZero() && rapid.IntRange(0, 5).Draw(t, "unseen") == 0
		return l
	}
	for n := range int64(rapid.IntRange(1, 60).Draw(t, "events")) {
		at += rapid.SampledFrom([]int64{0, 1, 300, 4000, 20_000}).Draw(t, "later")
		if rapid.Bool().Draw(t, "trade") {
			trade := PairTrade{Pair: "a:x", ID: n + 1, Time: at, Side: rapid.SampledFrom([]Side{Buy, Sell}).Draw(t, "taker"), Px: decimalOf(rapid.Int64Range(1, 8).Draw(t, "price")), Sz: decimalOf(rapid.Int64Range(1, 60).Draw(t, "size"))}
			events = append(events, largeEvent{trade: &trade})
			continue
		}
		e := LargeLevels{Pair: "a:x", Time: at, Number: n + 1, From: decimalOf(100), Inverse: inverse, Whole: n == 0 || rapid.IntRange(0, 9).Draw(t, "whole") == 0}
		for range rapid.IntRange(0, 3).Draw(t, "levels") {
			if l := level(); !slices.ContainsFunc(e.Levels, func(o LargeLevel) bool { return o.Side == l.Side && o.Px.Equal(l.Px) }) {
				l.Unseen = l.Unseen && !e.Whole
				e.Levels = append(e.Levels, l)
			}
		}
		events = append(events, largeEvent{levels: &e})
	}
	return events
}

func (e largeEvent) time() int64 {
	if e.trade != nil {
		return e.trade.Time
	}
	return e.levels.Time
}

// bruteLarge follows one price after another, over all events in the order of their times.
func bruteLarge(events []largeEvent) (over, running []LargeOrder) {
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b largeEvent) int {
		isLevels := func(e largeEvent) int { return map[bool]int{true: 1}[e.levels != nil] }
		return cmp.Or(cmp.Compare(a.time(), b.time()), cmp.Compare(isLevels(a), isLevels(b)))
	})
	for place := range int64(8) {
		side, px := Buy, decimalOf(place+1)
		if place >= 4 {
			side = Sell
		}
		var o *LargeOrder
		end := func() {
			rested := max(o.End, o.Missed) - o.Start
			traded := o.Met
			if o.Gone.Cmp(traded) < 0 {
				traded = o.Gone
			}
			tenTimes := traded.Mul(decimalOf(10))
			if rested >= 10_000 || traded.IsPos() && (o.Missed != 0 || tenTimes.Cmp(o.Gone) > 0) || o.End != 0 && o.Gone.IsZero() {
				over = append(over, *o)
			}
			o = nil
		}
		heard := int64(0)
		for _, e := range events {
			if o != nil && heard > 0 && e.time()-heard > LargeSilence.Milliseconds() {
				o.Missed = heard
				end()
			}
			if t := e.trade; t != nil {
				if o == nil {
					continue
				}
				if off := t.Px.Sub(px).Abs(); !o.NearKnown || off.Cmp(o.Near) < 0 {
					o.Near, o.NearKnown = off, true
				}
				if t.Side != side && t.Px.Equal(px) {
					size := t.SizeOf(o.Inverse)
					o.Met, o.Trades, o.LastTrade = o.Met.Add(size), o.Trades+1, t.Time
					o.LargestTrade = slices.MaxFunc([]Decimal{o.LargestTrade, size}, Decimal.Cmp)
					o.FirstTrade = cmp.Or(o.FirstTrade, t.Time)
				}
				continue
			}
			heard = e.levels.Time
			i := slices.IndexFunc(e.levels.Levels, func(l LargeLevel) bool { return l.Side == side && l.Px.Equal(px) })
			if i < 0 {
				if o != nil && e.levels.Whole {
					o.Missed = e.levels.Time
					end()
				}
				continue
			}
			l := e.levels.Levels[i]
			value := l.Sz
			if !e.levels.Inverse {
				value = l.Sz.Mul(px)
			}
			size := l.Sz
			switch {
			case o == nil:
				if value.Cmp(decimalOf(100)) >= 0 {
					o = &LargeOrder{Pair: "a:x", Side: side, Px: px, Inverse: e.levels.Inverse, Start: e.time(), Changed: e.time(), First: size, Last: size, Highest: size}
				}
				continue
			case value.Cmp(decimalOf(10)) < 0 && (l.Unseen || e.levels.Whole):
				o.Missed = e.time()
				end()
				continue
			case !size.Equal(o.Last):
				if size.Cmp(o.Last) < 0 {
					o.Gone = o.Gone.Add(o.Last.Sub(size))
				}
				o.Highest = slices.MaxFunc([]Decimal{o.Highest, size}, Decimal.Cmp)
				o.Last, o.Changed = size, e.time()
			}
			if value.Cmp(decimalOf(10)) < 0 {
				o.End = e.time()
				end()
			}
		}
		if o != nil {
			running = append(running, *o)
		}
	}
	return over, running
}

var largeOptions = gocmp.Options{cmpopts.EquateEmpty(), gocmp.Comparer(func(a, b Decimal) bool { return a.Equal(b) })}

func sortLarge(list []LargeOrder) []LargeOrder {
	slices.SortFunc(list, func(a, b LargeOrder) int { return cmp.Compare(a.ID(), b.ID()) })
	return list
}

// However often events come, in which order within the delay, and however often the fold is begun
// again from what is running, orders are those of the events in the order of their times.
func TestLargeOrdersAreThoseOfTheEventsInTheirOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		events := drawLargeEvents(t)
		end := events[len(events)-1].time()
		for i, e := range events { // a pair begins with its book
			if e.levels != nil {
				events = events[i:]
				break
			}
			if i == len(events)-1 {
				return
			}
		}
		wantOver, wantRunning := bruteLarge(events)
		var l LargeOrders
		var over []LargeOrder
		add := func(e largeEvent) {
			if e.trade != nil {
				l.AddTrade(e.trade)
			} else {
				l.AddLevels(e.levels)
			}
		}
		add(events[0])
		for from := 0; from < len(events); {
			to := min(len(events), from+rapid.IntRange(1, 20).Draw(t, "together"))
			for to < len(events) && events[to].time() == events[to-1].time() {
				to++
			}
			part := rapid.Permutation(slices.Concat(events[from:to], events[from:to])).Draw(t, "order")
			for _, e := range part {
				add(e)
			}
			over = append(over, l.Advance(events[to-1].time())...)
			for _, e := range part { // too late
				add(e)
			}
			l = LargeOrders{Running: slices.Clone(l.Running), Until: l.Until, Heard: l.Heard}
			from = to
		}
		if len(l.Advance(end)) > 0 {
			t.Fatal("a second time there is something over")
		}
		if diff := gocmp.Diff(sortLarge(wantOver), sortLarge(over), largeOptions); diff != "" {
			t.Fatalf("over (-want +got):\n%s", diff)
		}
		if diff := gocmp.Diff(sortLarge(wantRunning), sortLarge(slices.Clone(l.Running)), largeOptions); diff != "" {
			t.Fatalf("running (-want +got):\n%s", diff)
		}
	})
}

func TestTheStatesOfALargeOrder(t *testing.T) {
	t.Parallel()
	ten := decimalOf(10)
	for name, c := range map[string]struct {
		order LargeOrder
		now   int64 // after its start, ms
		want  LargeState
		bait  bool
	}{
		"before it has rested for long":                {LargeOrder{Last: ten}, 9_999, LargePending, false},
		"behind that":                                  {LargeOrder{Last: ten}, 10_000, LargeRests, false},
		"of which something was traded":                {LargeOrder{Last: ten, Gone: ten, Met: decimalOf(1)}, 1, LargePartly, false},
		"of which takers traded what did not go":       {LargeOrder{Last: ten, Met: ten}, 1, LargePending, false},
		"at its end, nine tenths traded":               {LargeOrder{Gone: ten, Met: decimalOf(9), End: largeBegin + 50_000}, 0, LargeFilled, false},
		"at its end, a half traded":                    {LargeOrder{Gone: ten, Met: decimalOf(5), End: largeBegin + 50_000}, 0, LargePartly, false},
		"at its end, a tenth traded, prices far":       {LargeOrder{Gone: ten, Met: decimalOf(1), End: largeBegin + 50_000, Near: decimalOf(2), NearKnown: true}, 0, LargeCancelled, false},
		"at its end, a tenth traded, prices near":      {LargeOrder{Gone: ten, Met: decimalOf(1), End: largeBegin + 50_000, Near: decimalOf(1), NearKnown: true}, 0, LargeCancelled, true},
		"at its end, nothing traded, no price paid":    {LargeOrder{Gone: ten, End: largeBegin + 50_000}, 0, LargeCancelled, false},
		"at its end behind ten minutes, prices near":   {LargeOrder{Gone: ten, End: largeBegin + 600_001, NearKnown: true}, 0, LargeCancelled, false},
		"missed, of which something was traded before": {LargeOrder{Last: ten, Gone: ten, Met: ten, Missed: largeBegin + 5}, 0, LargePartly, false},
	} {
		c.order.Start, c.order.Px = largeBegin, decimalOf(1000)
		if got := c.order.State(largeBegin + c.now); got != c.want || c.order.Bait() != c.bait {
			t.Errorf("%s: %d, bait %t, want %d, %t", name, got, c.order.Bait(), c.want, c.bait)
		}
	}
}

func TestLargeOrdersAreBounded(t *testing.T) {
	t.Parallel()
	var l LargeOrders
	e := LargeLevels{Pair: "a:x", Time: largeBegin, Number: 1, Whole: true, From: decimalOf(100)}
	for i := range int64(2 * MostLarge) {
		e.Levels = append(e.Levels, LargeLevel{Side: Buy, Px: decimalOf(1000 + i), Sz: decimalOf(1)})
	}
	l.AddLevels(&e)
	for i := range int64(mostWaiting + 10) {
		l.AddTrade(&PairTrade{Pair: "a:x", ID: i + 1, Time: largeBegin + i, Px: decimalOf(1), Sz: decimalOf(1), Side: Sell})
	}
	if l.Advance(largeBegin + 2*mostWaiting); len(l.Running) != MostLarge || l.Refused != MostLarge || l.Late != int64(10+e.Weight()) {
		t.Errorf("%d orders, %d refused, %d events left out", len(l.Running), l.Refused, l.Late)
	}
	l, e.Whole = LargeOrders{}, false
	for i := range int64(100) {
		e.Time, e.Number = largeBegin+i, i+1
		l.AddLevels(&e)
	}
	if kept := 100 - int(l.Late); kept > 1+mostWaiting/e.Weight() || kept < mostWaiting/e.Weight() {
		t.Errorf("%d events of %d levels wait", kept, len(e.Levels))
	}
	l.Advance(largeBegin + 100)
	e.Time = largeBegin + 101
	before := l.Late
	if l.AddLevels(&e); l.Late != before {
		t.Error("nothing waits, and an event is left out")
	}
}

func TestLargeOrdersOfASilentBookAreMissed(t *testing.T) {
	t.Parallel()
	var l LargeOrders
	l.AddLevels(&LargeLevels{Pair: "a:x", Time: largeBegin, Number: 1, Whole: true, From: decimalOf(100), Levels: []LargeLevel{{Side: Buy, Px: decimalOf(2), Sz: decimalOf(50)}}})
	l.AddLevels(&LargeLevels{Pair: "a:x", Time: largeBegin + 60_000, Number: 2, From: decimalOf(100)}) // the book as it was
	if over := l.Advance(largeBegin + 60_000 + LargeSilence.Milliseconds()); len(over) != 0 || len(l.Running) != 1 {
		t.Errorf("before: %+v", over)
	}
	if over := l.Advance(largeBegin + 60_001 + LargeSilence.Milliseconds()); len(over) != 1 || over[0].Missed != largeBegin+60_000 || len(l.Running) != 0 {
		t.Errorf("behind: %+v", over)
	}
}

func BenchmarkLargeOrders(b *testing.B) {
	var l LargeOrders
	at := largeBegin
	e := LargeLevels{Pair: "a:x", Time: at, Number: 1, Whole: true, From: decimalOf(100)}
	for i := range int64(100) {
		e.Levels = append(e.Levels, LargeLevel{Side: Buy, Px: decimalOf(1000 + i), Sz: decimalOf(1)})
	}
	l.AddLevels(&e)
	for n := int64(2); b.Loop(); n++ {
		at += 10
		l.AddTrade(&PairTrade{Pair: "a:x", ID: n, Time: at, Px: decimalOf(1000 + n%7), Sz: decimalOf(1), Side: Sell})
		l.AddLevels(&LargeLevels{Pair: "a:x", Time: at, Number: n, From: decimalOf(100), Levels: []LargeLevel{{Side: Buy, Px: decimalOf(1000 + n%100), Sz: decimalOf(1 + n%5)}}})
		if n%100 == 0 {
			l.Advance(at)
		}
	}
}

func TestATakerRunEnds(t *testing.T) {
	t.Parallel()
	first := PairTrade{ID: 10, Prev: 9, Side: Buy, Time: largeBegin, Px: decimalOf(100), Sz: decimalOf(2)}
	for name, c := range map[string]struct {
		next PairTrade
		want bool
	}{
		"not before one that follows":      {PairTrade{ID: 11, Prev: 10, Side: Buy, Time: largeBegin + 500, Px: decimalOf(103), Sz: decimalOf(5)}, true},
		"before one of an unnumbered list": {PairTrade{ID: 15, Side: Buy, Time: largeBegin, Px: decimalOf(103), Sz: decimalOf(5)}, true},
		"before the other side":            {PairTrade{ID: 11, Prev: 10, Side: Sell, Time: largeBegin, Px: decimalOf(103), Sz: decimalOf(5)}, false},
		"before a pause":                   {PairTrade{ID: 11, Prev: 10, Side: Buy, Time: largeBegin + 501, Px: decimalOf(103), Sz: decimalOf(5)}, false},
		"where a trade is missing":         {PairTrade{ID: 12, Prev: 11, Side: Buy, Time: largeBegin, Px: decimalOf(103), Sz: decimalOf(5)}, false},
	} {
		run := RunOf(&first)
		got := run.Add(&c.next)
		want := "10 10 100 100 0 2 2 200 1"
		if c.want {
			want = fmt.Sprintf("10 %d 100 103 3 5 7 715 2", c.next.ID)
		}
		if shown := fmt.Sprint(run.ID, run.Last, run.StartPx, run.FarPx, run.Slippage(), run.Largest, run.Size, run.Value, run.Count); got != c.want || shown != want {
			t.Errorf("%s: %t, %s, want %s", name, got, shown, want)
		}
	}
}
