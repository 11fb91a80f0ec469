package main

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/coins"
	"quotary/shared/data/datatest"
	"quotary/shared/data/pairpast"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairseries"
	"quotary/shared/data/takerruns"
	"quotary/shared/data/tickers"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

const (
	indicatorPath = "/v2/indicatorKline/dataRecords"
	swapKey       = "btcswapusdt:binance"
	spotKey       = "btcusdt:binance"
	okxKey        = "btcusdt:okex"
	okxSwapKey    = "btcswapusdt:okcoinfutures"
)

// indicatorWorld has three quarters of an hour of a perpetual, of spot beside it, and of a spot
// pair whose exchange does not count takers: 09:15 to 10:00 UTC, the end.
func indicatorWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	listed := pairs.View{}
	for _, p := range []market.Pair{
		{Key: swapKey, Platform: "binance", Base: "BTC", Quote: "USDT", Swap: true},
		{Key: spotKey, Platform: "binance", Base: "BTC", Quote: "USDT"},
		{Key: okxKey, Platform: "okex", Base: "BTC", Quote: "USDT"},
		{Key: okxSwapKey, Platform: "okcoinfutures", Base: "BTC", Quote: "USDT", Swap: true},
		{Key: "btcswapusdt:bybit", Platform: "bybit", Base: "BTC", Quote: "USDT", Swap: true},
		{Key: "btcswapusd:binance", Platform: "binance", Base: "BTC", Quote: "USD", Swap: true, Inverse: true},
	} {
		listed.Pairs = append(listed.Pairs, pairs.Pair{Pair: p, Followed: true})
	}
	storetest.Publish(t, w.views, pairs.Published, listed)
	storetest.Publish(t, w.views, coins.Published, coins.View{Coins: []coins.Coin{{Key: "bitcoin", Listing: &coins.Listing{Symbol: "btc"}}}})
	storetest.Publish(t, w.views, tickers.Published, tickers.View{Tickers: []tickers.Ticker{{Coin: "BTC", Price: "60000"}}})
	return w
}

// quarter opens the n-th quarter of an hour, ms; minutes are counted from it.
func quarter(n, minutes int) int64 {
	return apitest.Start.Add(time.Duration(15*(n-3)+minutes) * time.Minute).UnixMilli()
}

// trade is one of a minute of a quarter.
type trade struct {
	quarter, minute int
	side            market.Side
	px, sz          string
	unseen          bool // the exchange told its minute, and no trade of it was followed
}

// putTrades stores the K-lines of trades in every tier.
func (w *world) putTrades(t *testing.T, pair string, trades []trade) {
	t.Helper()
	var minutes []market.Candle
	for n, one := range trades {
		c := market.Candle{OpenTime: quarter(one.quarter, one.minute)}
		c.Add(&market.Trade{Side: one.side, Time: c.OpenTime, Tid: int64(n), Px: dec(t, one.px), Sz: dec(t, one.sz)})
		if one.unseen {
			c.Trades, c.TradesBuyer, c.SizeBuyer, c.AmountBuyer = 0, 0, market.Decimal{}, market.Decimal{}
		}
		minutes = append(minutes, c)
	}
	minutes = market.Compose(minutes, market.Minute1.StartMs)
	for _, tier := range market.PairTiers {
		datatest.PutPairKlines(t, w.series, pair, tier, market.Compose(slices.Clone(minutes), tier.StartMs)...)
	}
	w.stored(t, pair, pairpast.AllStored)
}

// putBars stores points of a series in its minutes.
func (w *world) putBars(t *testing.T, s pairseries.Series[market.Bar], pair string, points map[int64]string) {
	t.Helper()
	bars := map[int64]market.Bar{}
	for ms, value := range points {
		bar := bars[market.Minute1.StartMs(ms)]
		bar.Time = market.Minute1.StartMs(ms)
		bar.Add(ms, dec(t, value))
		bars[bar.Time] = bar
	}
	must.Do(t, s.Put(t.Context(), w.series, pair, pairseries.Tiers[0], slices.Collect(maps.Values(bars))...))
	storetest.PutSeries(t, w.series, pairpast.Row(pair, pairpast.Contracts, pairpast.AllStored))
}

// The figures of each row are worked out by hand.
func TestTheRowsOfAnIndicator(t *testing.T) {
	t.Parallel()
	w := indicatorWorld(t)
	w.putTrades(t, swapKey, []trade{
		{quarter: 0, minute: 0, side: market.Buy, px: "100", sz: "3"},
		{quarter: 0, minute: 14, side: market.Sell, px: "102", sz: "1"},
		{quarter: 2, minute: 1, side: market.Sell, px: "110.5", sz: "0.25"},
	})
	w.putTrades(t, spotKey, []trade{
		{quarter: 0, minute: 3, side: market.Sell, px: "96", sz: "2"},
		{quarter: 1, minute: 3, side: market.Buy, px: "97", sz: "2"},
		{quarter: 2, minute: 3, side: market.Buy, px: "111", sz: "2.5"},
	})
	w.putBars(t, pairseries.Interest, swapKey, map[int64]string{quarter(0, 1): "1000", quarter(0, 2): "900.5", quarter(0, 14): "950", quarter(1, 0): "960", quarter(2, 14): "970"})
	w.putBars(t, pairseries.Ratios, swapKey, map[int64]string{quarter(0, 0): "0.6", quarter(0, 5): "0.75", quarter(2, 0): "1"})
	w.putBars(t, pairseries.Funding, swapKey, map[int64]string{quarter(0, 3): "0.0002", quarter(1, 0) - 1: "0.0001", quarter(2, 3): "-0.0003"})
	w.putBars(t, pairseries.TopAccounts, swapKey, map[int64]string{quarter(1, 0): "0.6125", quarter(1, 10): "0.625"})
	w.putBars(t, pairseries.TopPositions, swapKey, map[int64]string{quarter(1, 5): "0.25"})
	w.putBars(t, pairseries.Loans, okxSwapKey, map[int64]string{quarter(0, 5): "12.5", quarter(0, 10): "7.25"})
	sums := pairseries.Liquidations
	must.Do(t, sums.Put(t.Context(), w.series, swapKey, pairseries.Tiers[0],
		market.Liquidated{Time: quarter(0, 1), Long: dec(t, "10"), Count: 1, Largest: dec(t, "10")},
		market.Liquidated{Time: quarter(0, 9), Long: dec(t, "5.5"), Short: dec(t, "7"), Count: 2, Largest: dec(t, "7")}))
	run := func(n, minutes int, side market.Side) takerruns.Run {
		return takerruns.NewRun(&market.TakerRun{
			ID: quarter(n, minutes), Side: side, Start: quarter(n, minutes), StartPx: dec(t, "100"), FarPx: dec(t, "101.5"), Largest: dec(t, "2"),
			Size: dec(t, "1500"), Value: dec(t, "150500"), Count: 9,
		})
	}
	open := run(2, 3, market.Sell)
	storetest.Publish(t, w.views, takerruns.Published, takerruns.View{Pairs: []takerruns.Pair{
		{Key: swapKey, Runs: []takerruns.Run{run(0, 1, market.Buy), run(0, 2, market.Buy), run(1, 2, market.Sell), run(1, 7, market.Buy), run(1, 9, market.Sell)}, Open: &open},
	}})
	at := make([]string, 3)
	for n := range at {
		at[n] = seconds(quarter(n, 0))
	}
	for _, c := range []struct {
		indicator, pair string
		want            [][]string
	}{
		{"fundflow", swapKey, [][]string{{at[0], "198"}, {at[2], "-27.625"}}}, // 300 - 102, -110.5 x 0.25
		{"fundflow", spotKey, [][]string{{at[0], "-192"}, {at[1], "194"}, {at[2], "277.5"}}},
		{"bsv", spotKey, [][]string{{at[0], "0", "2"}, {at[1], "2", "0"}, {at[2], "2.5", "0"}}},
		{"aibst", swapKey, [][]string{{at[1], "1", "2"}, {at[2], "0", "1"}}}, // that of the oldest is left out
		{"aibst", spotKey, [][]string{}},
		{"aiaggtrade", swapKey, [][]string{
			{seconds(quarter(1, 7)), swapKey, "btc", "buy", "100", "101.5", "1500", "150500", "9"},
			{seconds(quarter(1, 9)), swapKey, "btc", "sell", "100", "101.5", "1500", "150500", "9"},
			{seconds(quarter(2, 3)), swapKey, "btc", "sell", "100", "101.5", "1500", "150500", "9"},
		}},
		{"ftbs", swapKey, [][]string{{at[0], "3", "1"}, {at[2], "0", "0.25"}}},
		{"ftbs", spotKey, [][]string{}},
		{"position", swapKey, [][]string{{at[0], "1000", "1000", "900.5", "950"}, {at[1], "960", "960", "960", "960"}, {at[2], "970", "970", "970", "970"}}},
		{"tvolume", swapKey, [][]string{{at[0], "950", "402"}, {at[2], "970", "27.625"}}},
		{"lsur", swapKey, [][]string{{at[0], "0.25", "0.75", "3"}, {at[2], "0", "1", ""}}},
		{"fr", swapKey, [][]string{{at[1], at[0], "0.0001"}, {seconds(quarter(2, 3)), at[2], "-0.0003"}}},
		{"aili", swapKey, [][]string{{at[0], "7", "15.5"}}},
		{"basis", swapKey, [][]string{{at[0], "6", "0.0625"}, {at[2], "-0.5", "-0.0045045"}}}, // 102 - 96 of 96, -0.5 of 111
		{"basis", spotKey, [][]string{}},
		{"basis", "btcswapusd:binance", [][]string{}},
		{"ttsi", swapKey, [][]string{{at[1], "0.625", "0.375"}}},
		{"ttmu", swapKey, [][]string{{at[1], "0.25", "0.75"}}},
		{"ttmu", "btcswapusdt:bybit", [][]string{}},
		{"mlr", swapKey, [][]string{}},
		{"mlr", okxKey, [][]string{{at[0], "7.25"}}},
		{"mlr", okxSwapKey, [][]string{{at[0], "7.25"}}},
		{"position", "nothingswapusdt:binance", [][]string{}},
	} {
		answer := w.Get(t, w.SubKey, indicatorPath+"?period=900&size=3&symbol="+c.pair+"&indicator_key="+c.indicator+"&since="+at[2])
		got := apitest.Data[catalog.IndicatorKlineList](t, answer).KlineData
		if !reflect.DeepEqual(got.List, c.want) {
			t.Errorf("%s of %s: %v, want %v", c.indicator, c.pair, got.List, c.want)
		}
		if want := catalog.IndicatorOf(c.indicator).Fields; !slices.Equal(got.Mapping, want) {
			t.Errorf("%s: the mapping is %v, want %v", c.indicator, got.Mapping, want)
		}
	}
	// What began behind the newest bucket is not of the answer.
	before := w.Get(t, w.SubKey, indicatorPath+"?period=900&size=500&symbol="+swapKey+"&indicator_key=aiaggtrade&since="+at[1])
	if got := apitest.Data[catalog.IndicatorKlineList](t, before).KlineData.List; len(got) != 5 || got[4][0] != seconds(quarter(1, 9)) {
		t.Errorf("runs up to the second quarter: %v", got)
	}
	w.Get(t, w.SubKey, indicatorPath+"?period=900&size=2&symbol="+swapKey+"&indicator_key=basis&since="+at[2]).Golden(t, "indicator-basis")
}

// A bucket one of whose minutes was not followed says nothing of takers: half of it would.
func TestTakersOfAnExchangeThatDoesNotCountThemAreThoseOfWholeBuckets(t *testing.T) {
	t.Parallel()
	w := indicatorWorld(t)
	w.putTrades(t, okxKey, []trade{
		{quarter: 0, minute: 1, side: market.Buy, px: "100", sz: "3", unseen: true},
		{quarter: 0, minute: 2, side: market.Buy, px: "100", sz: "3"},
		{quarter: 1, minute: 1, side: market.Buy, px: "100", sz: "4"},
		{quarter: 1, minute: 2, side: market.Sell, px: "101", sz: "1"},
	})
	got := apitest.Data[catalog.IndicatorKlineList](t, w.Get(t, w.SubKey, indicatorPath+"?period=900&symbol="+okxKey+"&indicator_key=bsv")).KlineData.List
	if want := [][]string{{seconds(quarter(1, 0)), "4", "1"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// Hours go back three days of minutes, of which the first may be cut.
	got = apitest.Data[catalog.IndicatorKlineList](t, w.Get(t, w.SubKey, indicatorPath+"?period=3600&size=500&symbol="+okxKey+"&indicator_key=bsv")).KlineData.List
	if len(got) != 0 {
		t.Errorf("an hour with a minute that was not followed: %v", got)
	}
}

func TestParametersOfIndicators(t *testing.T) {
	t.Parallel()
	w := indicatorWorld(t)
	keys := make([]string, len(catalog.Indicators))
	for i := range keys {
		keys[i] = catalog.Indicators[i].Key
	}
	for query, parts := range map[string][]string{
		"symbol=" + swapKey:                                    {"missing indicator_key"},
		"indicator_key=fr":                                     {"missing symbol"},
		"symbol=" + swapKey + "&indicator_key=rsi":             {"indicator_key", strings.Join(keys, ", ")},
		"symbol=" + swapKey + "&indicator_key=fr&period=61":    {"period", "2592000"},
		"symbol=" + swapKey + "&indicator_key=fr&size=501":     {"size", "500"},
		"symbol=" + swapKey + "&indicator_key=fr&open_time=16": {"open_time", "0, 8"},
	} {
		w.Get(t, w.SubKey, indicatorPath+"?"+query).Refused(t, http.StatusBadRequest, parts...)
	}
}
