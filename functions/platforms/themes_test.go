package main

import (
	"net/http"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/coins"
	"quotary/shared/data/cointickers"
	"quotary/shared/data/rates"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
)

func TestCoinsOfThemes(t *testing.T) {
	t.Parallel()
	var views *store.Views
	w := apitest.Open(t, catalog.Platforms, func(open *apitest.World) {
		views = open.Views(t)
		newReader(open.Series(), views, open.Now).register(open.Family)
	})
	now := w.Now().UnixMilli()
	storetest.Publish(t, views, coins.Published, coins.View{
		Coins: []coins.Coin{
			{Key: "small", Listing: &coins.Listing{Symbol: "SML", Name: "Small", Rank: 9}},
			{Key: "large", Listing: &coins.Listing{Symbol: "LRG", Name: "Large", Rank: 2, Logo: "https://example.com/l.png"}},
			{Key: "dropped", Entry: &coins.Entry{CoinKey: "dropped", Show: "DRP", CNName: "投放", Themes: "web,defi"}},
			{Key: "gone", Listing: &coins.Listing{Symbol: "GONE", Rank: 1}, Entry: &coins.Entry{CoinKey: "gone", Hidden: true}},
		},
		Themes: []coins.Theme{{Key: "defi", Time: 1, Coins: []string{"gone", "small", "large", "unlisted"}}},
	})
	storetest.Publish(t, views, cointickers.Published, cointickers.View{Time: now, Tickers: []cointickers.Ticker{
		cointickers.New(&market.CoinMarket{Key: "large", Time: now, Price: "4", Degree24h: "-0.5", Turnover24h: "1000"}, rates.View{}),
	}})
	w.Get(t, w.SubKey, "/v2/market/hotTabCoins?key=defi&currency=usd").Golden(t, "theme-coins")
	for query, want := range map[string]int{"key=web": 1, "key=newcoin": 0, "key=nobody": 0, "key=defi": 3, "key=defi&currency=cny": 3} {
		if got := apitest.Data[catalog.ThemeCoinList](t, w.Get(t, w.SubKey, "/v2/market/hotTabCoins?"+query)); got.List == nil || len(got.List) != want {
			t.Errorf("%s: %+v", query, got)
		}
	}
	w.Get(t, w.SubKey, "/v2/market/hotTabCoins").Refused(t, http.StatusBadRequest, "key")
	w.Get(t, w.SubKey, "/v2/market/hotTabCoins?key=defi&currency=eur").Refused(t, http.StatusBadRequest, "currency", "usd")
}
