package content

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/contexts"
	"quotary/shared/data/datatest"
	"quotary/shared/data/pairklines"
	"quotary/shared/data/pairs"
	"quotary/shared/data/readings"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// Coins with candles enough are read: each by one of its pairs, those of exchanges before the
// perpetual exchange's. One that cannot be read keeps up no other.
func TestCoinsWithCandlesAreRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := time.Now()
	last := now.Add(-readingsLag).Truncate(4 * time.Hour)
	candles := func(key string, n int, until time.Time) {
		list := make([]market.Candle, n)
		for i := range list {
			px := market.DecimalFromInt(int64(1000 - i))
			list[i] = market.Candle{OpenTime: until.Add(-time.Duration(i+1) * 4 * time.Hour).UnixMilli(), Open: px, High: px, Low: px, Close: px, Size: market.DecimalFromInt(1), Amount: px, Trades: 1}
		}
		datatest.PutPairKlines(t, w.stores.Series, key, market.Hour4, list...)
	}
	var view pairs.View
	for _, p := range []market.Pair{
		{Platform: "bybit", Base: "BTC", Quote: "USDT"}, {Platform: "okex", Base: "BTC", Quote: "USDT"}, {Platform: "okcoinfutures", Base: "BTC", Quote: "USDT", Swap: true},
		{Platform: "bybit", Base: "1000PEPE", Quote: "USDT", Swap: true}, {Platform: "binance", Base: "FEW", Quote: "USDT"}, {Platform: "binance", Base: "OLD", Quote: "USDT"}, {Platform: "binance", Base: "BAD", Quote: "USDT"},
	} {
		p.Key = market.PairKey(p.Base, p.Quote, p.Platform, p.Swap)
		view.Pairs = append(view.Pairs, pairs.Pair{Pair: p, Followed: true})
		switch p.Base {
		case "FEW":
			candles(p.Key, market.ReadingLeast-1, last)
		case "OLD":
			candles(p.Key, market.ReadingLeast, last.Add(-4*time.Hour))
		case "BAD": // its rows cannot be read
			row := pairklines.Row(p.Key, market.Hour4, &market.Candle{OpenTime: last.Add(-4 * time.Hour).UnixMilli()})
			row.Body = []byte("{")
			storetest.PutSeries(t, w.stores.Series, row)
		default:
			candles(p.Key, market.ReadingLeast, last)
		}
	}
	storetest.Publish(t, w.stores.Views, pairs.Published, view)
	figures := json.RawMessage(`[{"universe":[{"name":"BTC"},{"name":"ONLY"}]},[{"markPx":"110","prevDayPx":"100"},{"markPx":"1000","prevDayPx":"1000"}]]`)
	storetest.Publish(t, w.stores.Views, contexts.Published, contexts.View{Time: now.UnixMilli(), Perps: map[string]json.RawMessage{"": figures}})
	for i := range market.ReadingLeast {
		trade := market.Trade{
			Coin: "ONLY", Px: market.DecimalFromInt(int64(500 + i)), Sz: market.DecimalFromInt(1), Time: last.Add(-time.Duration(i+1) * 4 * time.Hour).UnixMilli(), Seq: int64(i), Tid: int64(i) + 1, Side: market.Buy,
		}
		datatest.PutKlines(t, w.stores.Series, "ONLY", trade)
	}
	stop := w.start(t, w.pipeline(w.stores))
	read := func() (list []string) {
		v, err := readings.Published.Open(w.stores.Views, time.Now).Get(t.Context())
		if err != nil {
			return nil
		}
		for _, r := range v.Readings {
			up, down := r.Signs()
			list = append(list, fmt.Sprint(r.Coin, " ", r.Pair.Key, " ", r.Close, " ", up > down))
			if r.Closed != last.UnixMilli() {
				t.Errorf("%s was read of %d, want %d", r.Coin, r.Closed, last.UnixMilli())
			}
		}
		return list
	}
	testenv.Until(t, "coins are read", func() bool { return len(read()) > 0 })
	stop()
	want := []string{"btc btcusdt:okex 1000 true", "only onlyswapusdc:hyperliquid 500 false", "pepe 1000pepeswapusdt:bybit 1000 true"}
	if diff := cmp.Diff(want, read()); diff != "" {
		t.Error(diff)
	}
}

// TestReadingsEndTheSameWhateverHappens lets readings come late, twice and in any order, over
// restarts from the view that was published last.
func TestReadingsEndTheSameWhateverHappens(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) readings.Reading {
			closed := rapid.Int64Range(0, 9).Draw(t, "closed")
			r := readings.Reading{Coin: rapid.StringMatching("[ab]").Draw(t, "coin"), Closed: seenAt + closed*4*3_600_000}
			r.Close = market.DecimalFromInt(1 + closed) // what is read of a candle is the same each time
			return r
		}), 1, 9).Draw(t, "readings")
		apply := func(p Projection, list ...readings.Reading) {
			must.Do(t, p.Apply(&Batch{Readings: list}, engine.NewReads(), time.Now()))
		}
		clean := newReadings()
		apply(clean, all...)
		want := clean.Changes(time.Now(), true).Views[0].Body

		var last []byte
		p := newReadings()
		for _, one := range rapid.Permutation(slices.Concat(all, all)).Draw(t, "order") {
			apply(p, one)
			if views := p.Changes(time.Now(), false).Views; len(views) > 0 {
				last = views[0].Body
			}
			if rapid.Bool().Draw(t, "restart") {
				p = newReadings()
				must.Do(t, p.Restore(map[string][]byte{p.Name(): last}))
			}
		}
		if diff := cmp.Diff(string(want), string(last)); diff != "" {
			t.Fatal(diff)
		}
	})
}
