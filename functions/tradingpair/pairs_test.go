package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/datatest"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairtickers"
	"quotary/shared/data/rates"
	"quotary/shared/data/tickers"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

func dec(t *testing.T, text string) market.Decimal {
	t.Helper()
	return must.Get(market.ParseDecimal(text))(t)
}

// newWorld has four pairs of two platforms, the prices of three of them, and two perpetuals
// of the perpetual exchange.
func newWorld(t *testing.T) *apitest.World {
	t.Helper()
	var views *store.Views
	var series *store.Series
	w := apitest.Open(t, catalog.TradingPair, func(open *apitest.World) {
		views, series = open.Views(t), open.Series()
		newReader(series, views, open.Now).register(open.Family)
	})
	now := apitest.Start.UnixMilli()
	listed := pairs.View{Time: now}
	prices := pairtickers.View{Time: now}
	for _, p := range []struct {
		base, quote, platform string
		swap, inverse         bool
		last                  string
	}{
		{"BTC", "USDT", "binance", false, false, "70000.5"}, {"ETH", "BTC", "binance", false, false, "0.05"},
		{"BTC", "USD", "binance", true, true, "70010"}, {"BTC", "USDT", "okcoinfutures", true, false, ""},
	} {
		pair := market.Pair{Key: market.PairKey(p.base, p.quote, p.platform, p.swap), Platform: p.platform, Base: p.base, Quote: p.quote, Swap: p.swap, Inverse: p.inverse}
		listed.Pairs = append(listed.Pairs, pairs.Pair{Pair: pair})
		if p.last != "" {
			px := dec(t, p.last)
			prices.Tickers = append(prices.Tickers, pairtickers.Ticker{Pair: pair.Key, Time: now, Last: px, High: px.Mul(dec(t, "1.01")), Low: px.Mul(dec(t, "0.99"))})
		}
	}
	perps := tickers.View{Time: now, Tickers: []tickers.Ticker{{Coin: "BTC", Price: "69999.0", Time: now}, {Coin: "kPEPE", Price: "0.012", Time: now}, {Coin: "@107", Price: "1.0", Time: now}}}
	storetest.Publish(t, views, pairs.Published, listed)
	storetest.Publish(t, views, pairtickers.Published, prices)
	storetest.Publish(t, views, tickers.Published, perps)
	storetest.Publish(t, views, rates.Published, rates.View{Days: []rates.Day{{Date: "2026-01-01", USD: "1.1", CNY: "7.7"}}})
	var trades []market.Trade
	for i, px := range []string{"90000", "71000.5", "65000", "69999"} { // the first is too old
		at := apitest.Start.Add(-[]time.Duration{25 * time.Hour, 24 * time.Hour, time.Hour, time.Minute}[i])
		trades = append(trades, market.Trade{Coin: "BTC", Side: market.Buy, Time: at.UnixMilli(), Tid: int64(i), Px: dec(t, px), Sz: dec(t, "1")})
	}
	datatest.PutKlines(t, series, "BTC", trades...)
	return w
}

func TestPricesOfPairs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Get(t, w.SubKey, "/v2/trading-pair/ticker?key_list=btcusdt:binance,ethbtc:binance").Golden(t, "ticker")
	list := apitest.Data[[]catalog.PairTicker](t, w.Get(t, w.SubKey,
		"/v2/trading-pair/ticker?key_list=nobody,btcswapusdc:hyperliquid,BTCUSDT:binance,btcusdt:binance,btcusdt:binance,btcswapusdt:okcoinfutures,btcswapusd:binance"))
	var got []string
	for _, one := range list {
		got = append(got, one.Key+"="+one.LastUSD+"/"+one.High24hRaw)
	}
	if list[0].Low24hUSD != "65000" || list[0].High24hUSD != "71000.5" {
		t.Errorf("of the perpetual exchange there is %+v", list[0])
	}
	want := "btcswapusdc:hyperliquid=69999/71000.5 BTCUSDT:binance=70000.5/70700.505 btcusdt:binance=70000.5/70700.505 btcswapusd:binance=70010/70710.1"
	if text := strings.Join(got, " "); text != want {
		t.Errorf("got %s\nwant %s", text, want)
	}
	one := apitest.Data[[]catalog.PairTicker](t, w.Get(t, w.SubKey, "/v2/trading-pair/ticker?key_list=KPEPEswapusdc:hyperliquid,kpepeswapusdc:hyperliquid,@107swapusdc:hyperliquid"))
	if len(one) != 2 || one[0].LastRaw != "0.012" || one[0].High24hRaw != "" {
		t.Errorf("of one without klines there is %+v", one)
	}
	for _, name := range []string{"symbol", "dbkey", "dbKey", "key"} {
		if one := apitest.Data[[]catalog.PairTicker](t, w.Get(t, w.SubKey, "/v2/trading-pair/ticker?"+name+"=ethbtc:binance")); len(one) != 1 || one[0].LastRaw != "0.05" {
			t.Errorf("by %s there is %+v", name, one)
		}
	}
	if same := apitest.Data[[]catalog.PairTicker](t, w.Get(t, w.SubKey, "/v2/trading-pair/ticker?key_list="+strings.Repeat("ethbtc:binance,", 101))); len(same) != 1 {
		t.Errorf("a pair that is asked for many times has %d tickers", len(same))
	}
	many := ""
	for n := range 101 {
		many += fmt.Sprint("a", n, ",")
	}
	w.Get(t, w.SubKey, "/v2/trading-pair/ticker?key_list="+many).Refused(t, http.StatusBadRequest, "key_list", "100")
	w.Get(t, w.SubKey, "/v2/trading-pair/ticker").Refused(t, http.StatusBadRequest, "key_list")
}

func TestPairsOfAPlatform(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Get(t, w.SubKey, "/v2/trading-pair/getTradingPair?market=binance").Golden(t, "pairs")
	w.Get(t, w.SubKey, "/v2/trading-pair?market=binance&currency=usdt").Golden(t, "selected")
	for query, want := range map[string]string{
		"market=binance&show=btc": "btcswapusd:binance btcusdt:binance", "market=binance&show=ETH/BTC": "ethbtc:binance", "market=binance&currency=EUR": "",
		"market=nobody": "", "market=hyperliquid&show=PEPE": "kpepeswapusdc:hyperliquid", "market=hyperliquid&show=kpepe": "kpepeswapusdc:hyperliquid", "market=hyperliquid": "btcswapusdc:hyperliquid kpepeswapusdc:hyperliquid", "market=OKCoinFutures": "btcswapusdt:okcoinfutures",
	} {
		var keys []string
		for _, one := range apitest.Data[[]catalog.SelectedPair](t, w.Get(t, w.SubKey, "/v2/trading-pair?"+query)) {
			keys = append(keys, one.Key)
		}
		if got := strings.Join(keys, " "); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	w.Get(t, w.SubKey, "/v2/trading-pair?currency=USDT").Refused(t, http.StatusBadRequest, "market")
	w.Get(t, w.SubKey, "/v2/trading-pair/getTradingPair").Refused(t, http.StatusBadRequest, "market")
}
