package whales

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/market"
)

func drawn(t *rapid.T) (n Newest) {
	for range rapid.IntRange(0, 60).Draw(t, "events") {
		n.Keep(Event{
			Time: rapid.Int64Range(1, 20).Draw(t, "time"), User: fmt.Sprint("u", rapid.IntRange(0, 3).Draw(t, "user")), Coin: fmt.Sprint("c", rapid.IntRange(0, 4).Draw(t, "coin")),
			Action: market.PositionOpened,
		})
	}
	return n
}

func TestTheLatestOfAllCoinsAreTheNewestOfAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := drawn(t)
		most := rapid.IntRange(0, 70).Draw(t, "most")
		want := n.All()
		slices.Reverse(want)
		want = want[:min(most, len(want))]
		if diff := cmp.Diff(want, append([]Event{}, n.Latest("", most)...)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// Who looks through the events of a coin needs no lock against who keeps others.
func TestWhatWasReturnedStaysAsItIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := drawn(t)
		before := map[string][]Event{}
		returned := map[string][]Event{}
		for _, coin := range n.Coins() {
			returned[coin] = n.Of(coin)
			before[coin] = slices.Clone(returned[coin])
		}
		for i := range rapid.IntRange(1, 2*MostEvents).Draw(t, "later") {
			n.Keep(Event{Time: rapid.Int64Range(1, 300).Draw(t, "time"), User: fmt.Sprint("v", i), Coin: fmt.Sprint("c", rapid.IntRange(0, 4).Draw(t, "coin"))})
		}
		if diff := cmp.Diff(before, returned); diff != "" {
			t.Fatalf("(-before +after):\n%s", diff)
		}
	})
}

// BenchmarkLatest is what the latest events of all coins cost, of as many as are kept of 500 coins.
func BenchmarkLatest(b *testing.B) {
	var n Newest
	for c := range 500 {
		for i := range int64(MostEvents) {
			n.Keep(Event{Time: 1_790_000_000_000 + i*60_000 + int64(c), User: "u", Coin: fmt.Sprint("C", c)})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		n.Latest("", 10)
	}
}
