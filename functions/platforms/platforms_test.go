package main

import (
	"net/http"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/pairs"
	"quotary/shared/data/platformflows"
	"quotary/shared/data/rates"
	"quotary/shared/data/tickers"
	"quotary/shared/market"
	"quotary/shared/store"
)

func TestPlatformsAndTheirInflow(t *testing.T) {
	t.Parallel()
	var views *store.Views
	w := apitest.Open(t, catalog.Platforms, func(open *apitest.World) {
		views = open.Views(t)
		newReader(views, open.Now).register(open.Family)
	})
	if list := apitest.Data[[]catalog.PlatformName](t, w.Get(t, w.SubKey, "/v2/market")); len(list) != 0 {
		t.Errorf("where nothing is followed there are %v", list)
	}
	minute := func(ago int, net string) platformflows.Minute {
		d, err := market.ParseDecimal(net)
		if err != nil {
			t.Fatal(err)
		}
		return platformflows.Minute{Time: apitest.Start.Add(-time.Duration(ago) * time.Minute).UnixMilli(), Net: d}
	}
	flows := platformflows.View{Platforms: []platformflows.Platform{
		{Key: "binance", Minutes: []platformflows.Minute{minute(1440, "1000"), minute(1439, "-100.25"), minute(0, "30")}},
		{Key: "okex", Minutes: []platformflows.Minute{minute(1500, "7")}},
	}}
	listed := pairs.View{Pairs: []pairs.Pair{{Pair: market.Pair{Key: "a", Platform: "binance"}}, {Pair: market.Pair{Key: "b", Platform: "okex"}}}}
	for name, err := range map[string]error{
		"flows": platformflows.Publish(t.Context(), views, flows), "pairs": pairs.Publish(t.Context(), views, listed),
		"tickers": tickers.Publish(t.Context(), views, tickers.View{Tickers: []tickers.Ticker{{Coin: "BTC"}}}),
		"rates":   rates.Publish(t.Context(), views, rates.View{Days: []rates.Day{{Date: "2026-01-01", USD: "1", CNY: "7"}}}),
	} {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	w.Move(time.Minute - time.Second) // views are read again; the minute is the same
	w.Get(t, w.SubKey, "/v2/market").Golden(t, "platforms")
	w.Get(t, w.SubKey, "/v2/market/ticker?market_list=okex,nobody,binance,binance,btcusdt:binance").Golden(t, "inflow")
	w.Get(t, w.SubKey, "/v2/market/ticker").Refused(t, http.StatusBadRequest, "market_list")
}
