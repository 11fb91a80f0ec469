package klines_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/datatest"
	"quotary/shared/data/klines"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

func TestTheLatestTradesAreThoseOfTheNewestSeconds(t *testing.T) {
	t.Parallel()
	series := storetest.Open(t).Series
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		coin := fmt.Sprint("COIN", n)
		var trades []market.Trade
		at := base.UnixMilli()
		for i := range rapid.IntRange(0, 150).Draw(t, "trades") {
			at += rapid.SampledFrom([]int64{0, 1, 400, 5000}).Draw(t, "pause")
			trades = append(trades, market.Trade{Coin: coin, Side: market.Buy, Time: at, Seq: int64(i), Tid: int64(i * 7919 % 1000), Px: market.DecimalFromInt(1), Sz: market.DecimalFromInt(int64(i + 1))})
		}
		datatest.PutKlines(t, series, coin, trades...)
		most := rapid.IntRange(1, 120).Draw(t, "most")
		got := must.Get(klines.LatestTrades(t.Context(), series, coin, most))(t)
		want := trades[max(0, len(trades)-most):]
		if len(got) != len(want) {
			t.Fatalf("%d trades, want %d", len(got), len(want))
		}
		for i := range want {
			if got[i].Order != want[i].Order() || !got[i].Sz.Equal(want[i].Sz) {
				t.Fatalf("trade %d is %+v, want %+v", i, got[i], want[i])
			}
		}
	})
}
