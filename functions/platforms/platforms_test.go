package main

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/datatest"
	"quotary/shared/data/delivered"
	"quotary/shared/data/pairs"
	"quotary/shared/data/platformflows"
	"quotary/shared/data/rates"
	"quotary/shared/data/tickers"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

func TestPlatformsAndTheirInflow(t *testing.T) {
	t.Parallel()
	var views *store.Views
	var series *store.Series
	w := apitest.Open(t, catalog.Platforms, func(open *apitest.World) {
		views, series = open.Views(t), open.Series()
		newReader(series, views, open.Now).register(open.Family)
	})
	if list := apitest.Data[[]catalog.PlatformName](t, w.Get(t, w.SubKey, "/v2/market")); len(list) != 0 {
		t.Errorf("where nothing is followed there are %v", list)
	}
	minute := func(ago int, net string) platformflows.Minute {
		d := must.Get(market.ParseDecimal(net))(t)
		return platformflows.Minute{Time: apitest.Start.Add(-time.Duration(ago) * time.Minute).UnixMilli(), Net: d}
	}
	flows := platformflows.View{Platforms: []platformflows.Platform{
		{Key: "binance", Minutes: []platformflows.Minute{minute(1440, "1000"), minute(1439, "-100.25"), minute(0, "30")}},
		{Key: "okex", Minutes: []platformflows.Minute{minute(1500, "7")}},
	}}
	now := apitest.Start.UnixMilli()
	listed := pairs.View{Pairs: []pairs.Pair{{Pair: market.Pair{Key: "a", Platform: "binance"}}, {Pair: market.Pair{Key: "b", Platform: "okex"}}}}
	storetest.Publish(t, views, platformflows.Published, flows)
	storetest.Publish(t, views, pairs.Published, listed)
	storetest.Publish(t, views, tickers.Published, tickers.View{Tickers: []tickers.Ticker{{Coin: "BTC", Time: now}, {Coin: "ETH", Time: now - 25*3_600_000}, {Coin: "SOL", Time: now}, {Coin: "xyz:GOLD", Time: now}}})
	storetest.Publish(t, views, rates.Published, rates.View{Days: []rates.Day{{Date: "2026-01-01", USD: "1", CNY: "7"}}})
	w.Move(time.Minute - time.Second) // views are read again; the minute is the same
	w.Get(t, w.SubKey, "/v2/market").Golden(t, "platforms")
	w.Get(t, w.SubKey, "/v2/market/ticker?market_list=okex,nobody,binance,binance,btcusdt:binance").Golden(t, "inflow")
	inflow := func() catalog.PlatformTicker {
		t.Helper()
		return apitest.Data[[]catalog.PlatformTicker](t, w.Get(t, w.SubKey, "/v2/market/ticker?market_list=hyperliquid"))[0]
	}
	if got := inflow(); got.FundNetInUSD != "" {
		t.Errorf("of the perpetual exchange there is %+v without klines", got)
	}
	for coin, trades := range map[string][]market.Trade{
		"BTC": {trade(t, market.Sell, 25*time.Hour, "1000"), trade(t, market.Buy, 24*time.Hour, "0.5"), trade(t, market.Sell, time.Hour, "0.75")},
		"ETH": {trade(t, market.Buy, 25*time.Hour, "7")}, "SOL": {trade(t, market.Buy, 0, "30.125")}, "xyz:GOLD": {trade(t, market.Buy, 0, "500")},
	} {
		datatest.PutKlines(t, series, coin, trades...)
	}
	if w.Move(time.Minute); inflow() != (catalog.PlatformTicker{MarketKey: "hyperliquid", FundNetInUSD: "2987.5", FundNetInCNY: "20912.5"}) {
		t.Errorf("of the perpetual exchange there is %+v", inflow())
	}
	upper := apitest.Data[[]catalog.PlatformTicker](t, w.Get(t, w.SubKey, "/v2/market/ticker?market_list=BINANCE,binance"))
	if len(upper) != 1 || upper[0].MarketKey != "BINANCE" || upper[0].FundNetInUSD == "" {
		t.Errorf("by a key in capitals there is %+v", upper)
	}
	w.Get(t, w.SubKey, "/v2/market/ticker").Refused(t, http.StatusBadRequest, "market_list")
}

// K-lines of an exchange that tells takers apart reach back; of others there is what was traded since.
func TestInflowSaysSinceWhenItIsKnown(t *testing.T) {
	t.Parallel()
	var views *store.Views
	w := apitest.Open(t, catalog.Platforms, func(open *apitest.World) {
		views = open.Views(t)
		newReader(open.Series(), views, open.Now).register(open.Family)
	})
	ago := func(d time.Duration) int64 { return apitest.Start.Add(-d).UnixMilli() }
	listed, spoken := pairs.View{}, delivered.View{"pairs": {Since: 1}}
	for platform, since := range map[string]time.Duration{"binance": 2 * time.Hour, "okex": time.Hour, "bybit": 25 * time.Hour, "okcoinfutures": time.Hour} {
		listed.Pairs = append(listed.Pairs, pairs.Pair{Pair: market.Pair{Key: "a:" + platform, Platform: platform}})
		spoken["pairtrades/"+platform] = delivered.State{Since: ago(since)}
	}
	storetest.Publish(t, views, pairs.Published, listed)
	storetest.Publish(t, views, delivered.Published(catalog.ExchangeDomain.Name), spoken)
	storetest.Publish(t, views, platformflows.Published, platformflows.View{Pairs: []platformflows.Counted{
		{Key: "a:binance", Tells: true, From: ago(30 * time.Hour)}, {Key: "a:okcoinfutures", Tells: true, From: ago(3 * time.Hour)},
		{Key: "b:okcoinfutures", Tells: true, From: ago(2 * time.Hour)}, {Key: "a:okex", From: ago(30 * time.Hour)},
	}})
	for list, want := range map[string]time.Duration{"binance": 0, "okex": time.Hour, "bybit": 0, "okcoinfutures": 2 * time.Hour, "binance,OKEX,bybit": time.Hour, "nobody": 0} {
		header := ""
		if want > 0 {
			header = apitest.Start.Add(-want).Format(time.RFC3339)
		}
		if a := w.Get(t, w.SubKey, "/v2/market/ticker?market_list="+list); a.Status != http.StatusOK || a.Header["X-Data-Since"] != header {
			t.Errorf("%s: %d since %q, want %q: %s", list, a.Status, a.Header["X-Data-Since"], header, a.Body)
		}
	}
}

// trade is one at a price of 100, so long before the start.
func trade(t *testing.T, side market.Side, ago time.Duration, size string) market.Trade {
	t.Helper()
	px, err1 := market.ParseDecimal("100")
	sz, err2 := market.ParseDecimal(size)
	must.Do(t, errors.Join(err1, err2))
	return market.Trade{Side: side, Time: apitest.Start.Add(-ago).UnixMilli(), Tid: int64(ago), Px: px, Sz: sz}
}
