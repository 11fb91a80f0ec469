package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/coins"
	"quotary/shared/data/cointickers"
	"quotary/shared/data/rates"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
)

type world struct {
	*apitest.World
	views *store.Views
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := new(world)
	w.World = apitest.Open(t, catalog.Coins, func(open *apitest.World) {
		w.views = open.Views(t)
		newReader(w.views, open.Now).register(open.Family)
	})
	return w
}

// fill publishes three coins and the prices of two: of our own making.
func (w *world) fill(t *testing.T) {
	t.Helper()
	list := coins.View{Coins: []coins.Coin{
		{Key: "house-token", Entry: &coins.Entry{CoinKey: "house-token", Show: "HOUSE", CNName: "家园币", ENName: "House"}},
		{Key: "bitcoin", Listing: &coins.Listing{Symbol: "BTC", Name: "Bitcoin", Rank: 1}, Entry: &coins.Entry{CoinKey: "bitcoin", CNName: "比特币"}},
		{Key: "ethereum", Listing: &coins.Listing{Symbol: "ETH", Name: "Ethereum", Rank: 2}},
		{Key: "gone", Listing: &coins.Listing{Symbol: "GONE", Rank: 3}, Entry: &coins.Entry{CoinKey: "gone", Hidden: true}},
	}}
	storetest.Publish(t, w.views, coins.Published, list)
	now := w.Now().UnixMilli()
	known := ratesOf(t, "2026-11-13", "1.08", "7.776", "2026-11-20", "1.1", "7.7")
	prices := cointickers.View{Time: now, Tickers: []cointickers.Ticker{
		cointickers.New(&market.CoinMarket{Key: "bitcoin", Time: now - 60_000, Price: "70187.5", Degree24h: "3.12502", Degree7d: "-0.61", MarketCap: "1381651251183", Turnover24h: "20154184933"}, known),
		cointickers.New(&market.CoinMarket{Key: "ethereum", Time: now - 90_000, Price: "0.00001234", Turnover24h: "1000"}, rates.View{}),
		cointickers.New(&market.CoinMarket{Key: "old", Time: now - 25*3_600_000, Price: "1"}, known),
	}}
	storetest.Publish(t, w.views, cointickers.Published, prices)
}

func ratesOf(t *testing.T, days ...string) (v rates.View) {
	t.Helper()
	for i := 0; i < len(days); i += 3 {
		usd, errUSD := market.ParseDecimal(days[i+1])
		cny, errCNY := market.ParseDecimal(days[i+2])
		if errUSD != nil || errCNY != nil {
			t.Fatal(days)
		}
		v.Add(market.DayRates{Date: days[i], USD: usd, CNY: cny})
	}
	return v
}

func TestCoins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	w.Get(t, w.SubKey, "/v2/coin").Golden(t, "coins")
	w.Get(t, w.SubKey, "/v2/coin?page=2&pageSize=2").Golden(t, "coins-page-2")
	for target, want := range map[string]string{
		"?page=9":                       `"data":[],"page":9,"page_size":100,"total":3}`,
		"?page=9007199254740993":        `"data":[],"page":9007199254740993,"page_size":100,"total":3}`,
		"?page=4&page_size=1":           `"data":[],"page":4,"page_size":1,"total":3}`,
		"?page_size=1&unknown=whatever": `"page":1,"page_size":1,"total":3}`,
	} {
		answer := w.Get(t, w.SubKey, "/v2/coin"+target)
		if body := string(answer.Body); answer.Status != 200 || !strings.HasPrefix(body, `{"success":true,"errorCode":200,"error":"",`) || !strings.HasSuffix(body, want) {
			t.Errorf("%s: %d %s", target, answer.Status, body)
		}
	}
	w.Get(t, w.SubKey, "/v2/coin?page_size=101").Refused(t, http.StatusBadRequest, "page_size", "100")
	w.Get(t, w.SubKey, "/v2/coin?page=0").Refused(t, http.StatusBadRequest, "page", "1")
}

func TestPricesOfCoins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t)
	w.Get(t, w.SubKey, "/v2/coin/ticker?coin_list=ethereum,bitcoin").Golden(t, "tickers")
	for query, want := range map[string]string{
		"coin_list=bitcoin":                                 "bitcoin",
		"coin_list=bitcoin,ethereum":                        "bitcoin ethereum",
		"coin_list=ethereum&coin_list=bitcoin":              "ethereum bitcoin",
		"coin_list[]=ethereum&coin_list[]=bitcoin":          "ethereum bitcoin",
		"coin_list=bitcoin,nobody,bitcoin,,ethereum":        "bitcoin ethereum",
		"coin_list=Bitcoin,BTC,btc":                         "", // keys are exact
		"coin_list=old":                                     "", // its price is older than a day
		"coin_list=gone,house-token":                        "", // named, without a price
		"coin_list=" + strings.Repeat("bitcoin,", 100):      "bitcoin",
		"coin_list=" + strings.Repeat("x,", 99) + "bitcoin": "bitcoin",
	} {
		got := []string{}
		for _, ticker := range apitest.Data[[]catalog.CoinTicker](t, w.Get(t, w.SubKey, "/v2/coin/ticker?"+query)) {
			got = append(got, ticker.CoinKey)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%.60s: %v, want %s", query, got, want)
		}
	}
	w.Get(t, w.SubKey, "/v2/coin/ticker").Refused(t, http.StatusBadRequest, "missing coin_list")
	if list := apitest.Data[[]catalog.CoinTicker](t, w.Get(t, w.SubKey, "/v2/coin/ticker?coin_list="+strings.Repeat("bitcoin,", 101))); len(list) != 1 {
		t.Errorf("a coin that is asked for many times has %d tickers", len(list))
	}
	many := ""
	for n := range 101 {
		many += fmt.Sprint("x", n, ",")
	}
	w.Get(t, w.SubKey, "/v2/coin/ticker?coin_list="+many).Refused(t, http.StatusBadRequest, "coin_list", "100")
}

// Whatever the size of a page, all pages together are all coins, each once.
func TestPagesTogetherAreAllCoins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 237
	var list coins.View
	for i := range n {
		list.Coins = append(list.Coins, coins.Coin{Key: fmt.Sprint("coin", i), Listing: &coins.Listing{Symbol: "C", Rank: int64(i*31%n + 1)}})
	}
	storetest.Publish(t, w.views, coins.Published, list)
	w.Move(time.Minute)
	rapid.Check(t, func(r *rapid.T) {
		size := rapid.IntRange(1, 100).Filter(func(n int) bool { return n > 20 }).Draw(r, "page_size")
		var got []string
		for page := 1; page == 1 || len(got) > (page-2)*size; page++ {
			answer := w.Get(t, w.SubKey, fmt.Sprintf("/v2/coin?page=%d&page_size=%d", page, size))
			var body struct {
				Data              []catalog.CoinName
				Page, Total, Size int
				PageSize          int `json:"page_size"`
			}
			if err := json.Unmarshal(answer.Body, &body); err != nil || body.Page != page || body.PageSize != size || body.Total != n {
				r.Fatalf("%v: %s", err, answer.Body)
			}
			for _, c := range body.Data {
				got = append(got, c.CoinKey)
			}
		}
		slices.Sort(got)
		if len(got) != n || len(slices.Compact(got)) != n {
			r.Fatalf("%d coins", len(got))
		}
	})
}
