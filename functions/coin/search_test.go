package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/coins"
	"quotary/shared/data/cointickers"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairtickers"
	"quotary/shared/data/rates"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// trade publishes pairs of three coins of our own making, of which that of one is followed.
func (w *world) trade(t *testing.T) {
	t.Helper()
	dec := func(text string) market.Decimal { return must.Get(market.ParseDecimal(text))(t) }
	pair := func(base, platform string, swap, followed bool) pairs.Pair {
		return pairs.Pair{Pair: market.Pair{Key: market.PairKey(base, "usdt", platform, swap), Platform: platform, Base: base, Quote: "USDT", Swap: swap}, Followed: followed}
	}
	now := w.Now().UnixMilli()
	storetest.Publish(t, w.views, coins.Published, coins.View{Coins: []coins.Coin{
		{Key: "bitcoin", Listing: &coins.Listing{Symbol: "BTC", Name: "Bitcoin", Rank: 1, Logo: "https://example.com/btc.png", Supply: "19000000", Issued: "21000000"}, Entry: &coins.Entry{
			CoinKey: "bitcoin", CNName: "比特币", Describe: "A coin.", WhitePaper: "https://example.com/paper.pdf", OfficialURL: "https://example.com", Telegram: "https://example.com/group",
			Algorithm: "SHA-256", Consensus: "PoW", PublishDate: "2009-01-03", PublishPrice: "0.001", ICO: "1.5",
		}},
		{Key: "bitcoin-cash", Listing: &coins.Listing{Symbol: "BCH", Name: "Bitcoin Cash", Rank: 9}},
		{Key: "wrapped-bitcoin", Listing: &coins.Listing{Symbol: "WBTC", Name: "Wrapped Bitcoin", Rank: 4}},
		{Key: "gone", Entry: &coins.Entry{CoinKey: "gone", Show: "GBTC", Hidden: true}},
	}})
	storetest.Publish(t, w.views, pairs.Published, pairs.View{Pairs: []pairs.Pair{
		pair("BTC", "binance", false, true), pair("BTC", "binance", true, true), pair("BTC", "okex", false, false), pair("BCH", "okex", false, false),
	}})
	storetest.Publish(t, w.views, pairtickers.Published, pairtickers.View{Tickers: []pairtickers.Ticker{{Pair: "btcusdt:binance", Time: now - 1000, Last: dec("70500"), Open: dec("70000")}}})
	storetest.Publish(t, w.views, cointickers.Published, cointickers.View{Time: now, Tickers: []cointickers.Ticker{
		cointickers.New(&market.CoinMarket{Key: "bitcoin", Time: now - 60_000, Price: "70000", Degree24h: "3", Turnover24h: "20"}, rates.View{}),
	}})
	storetest.Publish(t, w.views, rates.Published, ratesOf(t, "2026-11-13", "1", "7"))
}

func TestCoinsAreFoundByWhatTheyAreCalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.trade(t)
	w.Get(t, w.SubKey, "/upgrade/v2/coin/search?search=BTC").Golden(t, "search")
	w.Get(t, w.SubKey, "/v2/coin/search?search=bitcoin&market=okex&trade_type=spot&page=1&page_size=1").Golden(t, "search-old")
	for query, want := range map[string]string{
		"search=btc":                                "2 bitcoin wrapped-bitcoin",
		"search=Bitcoin":                            "3 bitcoin bitcoin-cash wrapped-bitcoin",
		"search=比特":                                 "1 bitcoin",
		"search=gbtc":                               "0",
		"search=nobody":                             "0",
		"search=bitcoin&page=2&page_size=2":         "3 wrapped-bitcoin",
		"search=bitcoin&page=2&pageSize=2":          "3 wrapped-bitcoin",
		"search=bitcoin&page=9007199254740993":      "3",
		"search=bitcoin&market=BINANCE":             "1 bitcoin",
		"search=bitcoin&trade_type=swap":            "1 bitcoin",
		"search=bitcoin&trade_type=spot":            "2 bitcoin bitcoin-cash",
		"search=bitcoin&market=okex":                "2 bitcoin bitcoin-cash",
		"search=bitcoin&market=okex&tradeType=swap": "0",
	} {
		page := apitest.Data[catalog.CoinSearchPage](t, w.Get(t, w.SubKey, "/v2/coin/search?"+query))
		got := []string{fmt.Sprint(page.Count)}
		for _, c := range page.List {
			got = append(got, c.CoinKey)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
	w.Get(t, w.SubKey, "/v2/coin/search").Refused(t, http.StatusBadRequest, "search")
	w.Get(t, w.SubKey, "/v2/coin/search?search=a&page_size=101").Refused(t, http.StatusBadRequest, "page_size", "100")
	w.Get(t, w.SubKey, "/v2/coin/search?search=a&trade_type=margin").Refused(t, http.StatusBadRequest, "trade_type", "spot")
}

func TestWhatIsKnownOfCoins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.trade(t)
	w.Get(t, w.SubKey, "/v2/coin/config?coin_list=bitcoin-cash,nobody,bitcoin,bitcoin").Golden(t, "configs")
	w.Get(t, w.SubKey, "/v2/coin/config").Refused(t, http.StatusBadRequest, "missing coin_list")
}
