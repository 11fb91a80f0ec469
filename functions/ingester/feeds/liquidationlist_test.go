package feeds

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/market"
)

// liquidatedOf is an event of so many dollars.
func liquidatedOf(oid, ms int64, coin string, dollars int) market.LiquidationEvent {
	fill := liquidation(alice, coin, oid, oid, ms, strconv.Itoa(dollars), "9.0")
	fill.Px = "1.0"
	e, ok := market.LiquidationOf(&fill)
	if !ok {
		panic("it is no liquidation")
	}
	return e
}

func TestWhatAFilterShowsOfAListIsWhatALookAtEachFinds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var l liquidationList
		coin := rapid.SampledFrom([]string{"BTC", "ETH", "SOL"})
		for range rapid.IntRange(1, 8).Draw(t, "rounds") {
			for range rapid.IntRange(0, 3*stretch).Draw(t, "events") {
				ms := rapid.Int64Range(0, 50).Draw(t, "time")
				e := liquidatedOf(int64(len(l.events)), 1000*ms, coin.Draw(t, "coin"), rapid.IntRange(1, 1000).Draw(t, "dollars"))
				l.insert(&e)
			}
			if n := len(l.events); n > 0 {
				part := l.events[rapid.IntRange(0, n-1).Draw(t, "which")]
				more := liquidatedOf(part.Oid, part.Time, part.Coin, 5000)
				l.merge(&more, part.Time)
				l.drop(rapid.IntRange(0, n/4).Draw(t, "dropped"))
			}
			filter := &liquidationFilter{least: market.DecimalFromInt(rapid.Int64Range(0, 6000).Draw(t, "least"))}
			if rapid.Bool().Draw(t, "of a coin") {
				filter.coin = coin.Draw(t, "its coin")
			}
			var got, want []int64
			for e := range l.backward(filter) {
				if filter.shows(e) {
					got = append(got, e.Oid)
				}
			}
			for i := range slices.Backward(l.events) {
				if e := &l.events[i]; filter.shows(e) {
					want = append(want, e.Oid)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s=%s shows %v, want %v", filter.coin, filter.least, got, want)
			}
		}
	})
}

// A snapshot is made under the lock that everybody's events wait for.
func TestASnapshotOfNothingLooksAtFewEvents(t *testing.T) {
	t.Parallel()
	var l liquidationList
	for i := range int64(liquidationsKept) {
		e := liquidatedOf(i, i, "BTC", 100)
		l.insert(&e)
	}
	for name, filter := range map[string]*liquidationFilter{"a value": {least: market.DecimalFromInt(1_000_000)}, "a coin": {coin: "ETH"}} {
		looks := 0
		for range l.backward(filter) {
			looks++
		}
		if looks >= stretch {
			t.Errorf("who wants %s that there is not has %d of %d events looked at", name, looks, len(l.events))
		}
	}
}

// One client with many filters holds nobody up with what none of them shows.
func TestFiltersThatShowNothingAreNotLookedAt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	ls := newLiquidations(base{Config: &f.Config, hub: f.hub, arriving: f.arriving}).(*liquidations)
	for i := range 1000 {
		ls.filter("=" + strconv.Itoa(1_000_000-i))
		ls.filter("BTC=" + strconv.Itoa(1_000_000+i))
		ls.filter("ETH=" + strconv.Itoa(i))
	}
	for _, about := range []string{"", "=100", "BTC", "BTC=99", "BTC=101"} {
		ls.filter(about)
	}
	frames := newLiquidationFrames([]market.LiquidationEvent{liquidatedOf(1, 1, "BTC", 100), liquidatedOf(2, 2, "BTC", 50)})
	var looked []string
	for filter := range ls.showing(frames) {
		looked = append(looked, filter.about)
	}
	slices.Sort(looked)
	if want := []string{"", "=100", "BTC", "BTC=99"}; !slices.Equal(looked, want) {
		t.Errorf("%d filters are looked at, %.5q: want %q", len(looked), looked, want)
	}
}

func TestFiltersLieByLeastValueInBlocks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var l liquidationFilters
		var all []*liquidationFilter
		step := rapid.SampledFrom([]int64{-1, 1, 7919}).Draw(t, "step") // falling, rising, in no order
		for i := range rapid.Int64Range(0, 5*filterBlock).Draw(t, "filters") {
			f := &liquidationFilter{least: market.DecimalFromInt((10*filterBlock + i*step) % (20 * filterBlock))}
			l.add(f)
			all = append(all, f)
		}
		keep := rapid.Int64Range(1, 4).Draw(t, "one of so many goes")
		gone := map[*liquidationFilter]bool{}
		for i, f := range all {
			gone[f] = int64(i)%keep == 1
		}
		l.remove(func(f *liquidationFilter) bool { return gone[f] })
		value := market.DecimalFromInt(rapid.Int64Range(0, 20*filterBlock).Draw(t, "value"))
		var want, got []string
		for _, f := range all {
			if !gone[f] && f.least.Cmp(value) <= 0 {
				want = append(want, f.least.String())
			}
		}
		for f := range l.upTo(value) {
			got = append(got, f.least.String())
		}
		slices.Sort(want)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Fatalf("%d filters show %s, want %d", len(got), value, len(want))
		}
		for _, b := range l.blocks {
			if len(b) == 0 || len(b) > filterBlock {
				t.Fatalf("a block has %d filters", len(b))
			}
		}
	})
}
