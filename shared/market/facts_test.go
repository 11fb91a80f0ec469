package market_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"quotary/shared/market"
	"quotary/shared/market/markettest"
)

// hours are times within nine of them.
var hours = rapid.Int64Range(noon, noon+9*hour)

var sameFacts = cmp.Options{equalDecimals, cmpopts.EquateEmpty()}

// An hour is merged with the days and weeks that it is a part of, in whatever order.
func TestEveryWindowIsWhatALoopOverItsEventsSumsUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := markettest.DidAtMost(12, hours).Draw(t, "deeds")
		edges := rapid.Int64Range(0, 10)
		from := noon + edges.Draw(t, "from")*hour
		to := noon + edges.Draw(t, "to")*hour
		if rapid.Bool().Draw(t, "of all time") {
			from, to = 0, noon+day
		}
		part := d.Within(from, to)
		want := part.Sum(t)
		h := d.Facts()
		if diff := cmp.Diff(want, h.Within(from, to).Did, sameFacts); diff != "" {
			t.Fatalf("by hours (-want +got):\n%s", diff)
		}
		w := market.Window{From: from}
		days := map[int64]*market.Facts{} // of some hours each
		width := rapid.Int64Range(1, 5).Draw(t, "hours a part")
		for at, f := range h {
			if at >= from && at < to {
				n := (at - max(from, noon)) / (width * hour)
				if days[n] == nil {
					days[n] = new(market.Facts)
				}
				days[n].Merge(f)
			}
		}
		for _, part := range days {
			w.Add(part)
		}
		if diff := cmp.Diff(want, w.Did, sameFacts); diff != "" {
			t.Fatalf("by parts of %d hours (-want +got):\n%s", width, diff)
		}
	})
}

// What comes late changes what was counted of later hours.
func TestEventsAddUpToTheSameInWhateverOrderAndGroupsTheyCome(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := markettest.DidAtMost(8, hours).Draw(t, "deeds")
		d.Routed = nil // it is what others did
		events := d.Each()
		want := d.Facts()
		shuffled := rapid.Permutation(events).Draw(t, "order")
		s := markettest.NewSeen()
		parts := make([]market.FactsByHour, rapid.IntRange(1, 4).Draw(t, "parts"))
		for i := range parts {
			parts[i] = market.FactsByHour{}
		}
		for _, event := range shuffled {
			event(parts[rapid.IntRange(0, len(parts)-1).Draw(t, "part")], s)
		}
		got := market.FactsByHour{}
		for _, part := range rapid.Permutation(parts).Draw(t, "order of the parts") {
			before := copied(part)
			got.Merge(part)
			if diff := cmp.Diff(before, part, sameFacts); diff != "" {
				t.Fatalf("merging has changed what was merged:\n%s", diff)
			}
		}
		clean(got)
		if diff := cmp.Diff(want, got, sameFacts); diff != "" {
			t.Fatalf("(-in order +shuffled):\n%s", diff)
		}
		kept := copied(got)
		var nothing market.Facts
		for _, f := range got {
			f.Merge(&nothing)
			f.Merge(&nothing)
			had := *f
			nothing.Merge(f)
			if diff := cmp.Diff(had, nothing, sameFacts); diff != "" {
				t.Fatalf("merged into nothing (-want +got):\n%s", diff)
			}
			nothing = market.Facts{}
		}
		if diff := cmp.Diff(kept, got, sameFacts); diff != "" {
			t.Fatalf("with nothing (-want +got):\n%s", diff)
		}
	})
}

// copied shares nothing with h.
func copied(h market.FactsByHour) market.FactsByHour {
	c := market.FactsByHour{}
	for hour, f := range h {
		one := *f
		one.Coins, one.Builders = slices.Clone(f.Coins), slices.Clone(f.Builders)
		distincts := []*market.Distinct{&one.Perp.Orders, &one.Spot.Orders, &one.Routed.Orders, &one.Routed.Traders, &one.LiquidatedLong.Orders, &one.LiquidatedShort.Orders}
		for i := range one.Builders {
			distincts = append(distincts, &one.Builders[i].Traders, &one.Builders[i].Orders)
		}
		for _, d := range distincts {
			d.Continued = slices.Clone(d.Continued)
		}
		c[hour] = &one
	}
	return c
}

// clean drops hours of which only corrections came to nothing.
func clean(h market.FactsByHour) {
	maps.DeleteFunc(h, func(_ int64, f *market.Facts) bool { return cmp.Equal(*f, market.Facts{}, sameFacts) })
}

// Who takes events in the order of time needs to know the newest hour of an order alone.
func TestInTheOrderOfTimeTheNewestHourOfAnOrderIsEnough(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := markettest.DidAtMost(20, hours).Draw(t, "deeds")
		d = markettest.Deeds{Fills: d.Fills}
		slices.SortStableFunc(d.Fills, func(a, b market.Fill) int { return int(a.Time - b.Time) })
		got, s := market.FactsByHour{}, markettest.NewSeen()
		for i := range d.Fills {
			order := s.Order(d.Fills[i].Oid)
			got.Fill(&d.Fills[i], order, s.Builder(d.Fills[i].Builder))
			for _, seen := range []*market.HoursSeen{&order.Filled, &order.Liquidated, &order.Routed} {
				*seen = (*seen)[max(0, len(*seen)-1):]
			}
		}
		if diff := cmp.Diff(d.Facts(), got, sameFacts); diff != "" {
			t.Fatalf("(-all hours known +newest known):\n%s", diff)
		}
	})
}

// The sum of a day tells a window that begins with it what its hours tell.
func TestAnOrderOfManyHoursCountsInTheFirstOfAWindow(t *testing.T) {
	t.Parallel()
	h, order := market.FactsByHour{}, new(market.OrderSeen)
	for _, at := range []int64{1, 5, 3, 5, 8} { // the third comes late
		h.Fill(&market.Fill{Coin: "BTC", Side: market.Buy, Time: noon + at*hour + 7, Oid: 9, Tid: at, Px: "2", Sz: "3", Fee: "0", ClosedPnl: "0", StartPosition: "0"}, order, nil)
	}
	if want := (market.HoursSeen{noon + hour, noon + 3*hour, noon + 5*hour, noon + 8*hour}); !slices.Equal(order.Filled, want) {
		t.Errorf("the order is known in %v, want %v", order.Filled, want)
	}
	for from, want := range map[int64]int64{0: 1, 1: 1, 2: 1, 4: 1, 8: 1, 9: 0} {
		w := h.Within(noon+from*hour, noon+day)
		if got := w.Did.Perp.Orders.From(w.From); got != want {
			t.Errorf("from hour %d on there are %d orders, want %d", from, got, want)
		}
	}
	if got := h[noon+5*hour].Perp.Orders; got.First != 0 || !slices.Equal(got.Continued, []market.Continued{{Hour: noon + 3*hour, N: 1}}) {
		t.Errorf("the fifth hour has %+v, want the order from the third on", got)
	}
}
