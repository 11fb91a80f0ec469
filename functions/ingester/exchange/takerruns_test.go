package exchange

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/takerruns"
	"quotary/shared/market"
)

// However often trades come again, in batches of whatever size and over restarts, runs are those of
// the trades one after another.
func TestRunsOfTakersAreThoseOfTheTrades(t *testing.T) {
	t.Parallel()
	pair := market.Pair{Key: "btcusdt:x", Platform: "x", Base: "BTC", Quote: "USDT"}
	listing := Listing{Platform: "x", Pairs: []market.Pair{pair}, Followed: map[string]bool{pair.Key: true}}
	rapid.Check(t, func(t *rapid.T) {
		at, id := noon.UnixMilli(), int64(0)
		var trades []market.PairTrade
		for range rapid.IntRange(1, 80).Draw(t, "trades") {
			before := id
			id++
			if rapid.IntRange(0, 9).Draw(t, "missing") == 0 {
				before, id = id, id+1
			}
			at += rapid.SampledFrom([]int64{0, 1, 500, 501}).Draw(t, "later")
			trades = append(trades, market.PairTrade{
				Pair: pair.Key, ID: id, Prev: before, Time: at, Side: rapid.SampledFrom([]market.Side{market.Buy, market.Buy, market.Sell}).Draw(t, "side"),
				Px: dec(rapid.Int64Range(40_000, 40_005).Draw(t, "price")), Sz: dec(rapid.Int64Range(1, 3).Draw(t, "size")),
			})
		}
		want := bruteRuns(trades)
		p := newTakerRuns(new(leftOut))
		var body []byte
		flush := func(now time.Time) {
			for _, v := range p.Changes(now, true).Views {
				body = v.Body
			}
		}
		for from := 0; from < len(trades); {
			to := min(len(trades), from+rapid.IntRange(1, 10).Draw(t, "together"))
			again := max(0, from-rapid.IntRange(0, 10).Draw(t, "again"))
			b := &Batch{Listings: []Listing{listing}, PairEvents: market.PairEvents{Trades: trades[again:to]}}
			if err := p.Apply(b, nil, noon); err != nil {
				t.Fatal(err)
			}
			if flush(noon); rapid.Bool().Draw(t, "restart") {
				p = newTakerRuns(new(leftOut))
				if err := p.Restore(map[string][]byte{takerruns.Name: body}); err != nil {
					t.Fatal(err)
				}
			}
			from = to
		}
		v, err := engine.Restored(map[string][]byte{takerruns.Name: body}, takerruns.Published)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range v.Runs(pair.Key, market.RunFrom("btc")) {
			got = append(got, fmt.Sprint(r.ID, r.Last, r.Side, r.StartPx, r.FarPx, r.Largest, r.Size, r.Value, r.Count))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// bruteRuns cuts the trades where a run ends, and sums up each part.
func bruteRuns(trades []market.PairTrade) (shown []string) {
	for from := 0; from < len(trades); {
		to := from + 1
		for to < len(trades) && trades[to].Side == trades[from].Side && trades[to].Prev == trades[to-1].ID &&
			trades[to].Time-trades[to-1].Time <= 500 && trades[to].Time-trades[from].Time <= 60_000 {
			to++
		}
		far, largest, size, value := trades[from].Px, trades[from].Sz, dec(0), dec(0)
		for _, t := range trades[from:to] {
			if (t.Px.Cmp(far) > 0) == (t.Side == market.Buy) && !t.Px.Equal(far) {
				far = t.Px
			}
			if t.Sz.Cmp(largest) > 0 {
				largest = t.Sz
			}
			size, value = size.Add(t.Sz), value.Add(t.Px.Mul(t.Sz))
		}
		if value.Cmp(dec(100_000)) >= 0 {
			shown = append(shown, fmt.Sprint(trades[from].ID, trades[to-1].ID, trades[from].Side, trades[from].Px, far, largest, size, value, to-from))
		}
		from = to
	}
	return shown
}
