package main

import (
	"fmt"
	"math/big"
	"net/http"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/coins"
	"quotary/shared/data/drop"
	"quotary/shared/data/indices"
	"quotary/shared/data/pairtickers"
	"quotary/shared/data/treasuries"
	"quotary/shared/store/storetest"
)

// day is the day so many days ago.
func (w *world) day(ago int) string { return w.Now().UTC().AddDate(0, 0, -ago).Format(time.DateOnly) }

// fillTrusts publishes what trusts of our own making hold, and days of their shares and of an index.
func (w *world) fillTrusts(t *testing.T) {
	t.Helper()
	var v treasuries.View
	for i, e := range []treasuries.Entry{
		{Name: "First Trust", Key: "i:one:otc", Coin: "BTC", EntityType: "trusts", Type: "holding", Date: w.day(9), Amount: "1000"},
		{Name: "First Trust", Key: "i:one:otc", Coin: "BTC", EntityType: "trusts", Type: "holding", Date: w.day(1), Amount: "1030.5"},
		{Name: "Second Trust", Coin: "BTC", EntityType: "trusts", Type: "buy", Date: w.day(30), Amount: "220"},
		{Name: "Second Trust", Coin: "ETH", EntityType: "trusts", Type: "holding", Date: w.day(1), Amount: "7"},
		{Name: "Acme", Key: "i:acme:nasdaq", Coin: "BTC", EntityType: "public-companies", Type: "buy", Date: w.day(1), Amount: "5000"},
	} {
		v.Entries = append(v.Entries, treasuries.Dropped{Entry: e, Place: drop.Place{Time: w.Now().UnixMilli(), File: "a", Line: int64(i + 1)}})
	}
	storetest.Publish(t, w.views, treasuries.Published, v)
	two := func(key, unit, before, after string, ago int) indices.Index {
		day := func(close string, ago int) indices.Day {
			return indices.Day{Date: w.day(ago), Open: close, High: "99.5", Low: "1.25", Close: close, Unit: unit}
		}
		return indices.Index{Key: key, Days: indices.Days{day(before, ago+1), day(after, ago)}}
	}
	storetest.Publish(t, w.views, indices.Published, indices.View{Indices: []indices.Index{
		two("i:one:otc", "USD", "50", "52.5", 1), two("i:acme:nasdaq", "USD", "5", "6", 1), two("i:vix:cboe", "", "18.5", "17.25", 1), two("i:old:cboe", "", "1", "2", 20),
	}})
	storetest.Publish(t, w.views, coins.Published, coins.View{Coins: []coins.Coin{
		{Key: "bitcoin", Listing: &coins.Listing{Symbol: "BTC", Name: "Bitcoin", Rank: 1}, Entry: &coins.Entry{CoinKey: "bitcoin", CNName: "比特币"}},
	}})
	storetest.Publish(t, w.views, pairtickers.Published, pairtickers.View{Tickers: []pairtickers.Ticker{
		{Pair: "btcusdt:binance", Last: dec(t, "90000.5"), Open: dec(t, "89000")}, {Pair: "btcusdt:okex", Last: dec(t, "90001"), Open: dec(t, "89000")},
		{Pair: "ethusdt:bybit", Last: dec(t, "3000"), Open: dec(t, "3100.25")}, {Pair: "solusdt:binance"},
	}})
}

func TestTheNavigationBar(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fillTrusts(t)
	w.Get(t, w.SubKey, "/v2/mix/nav").Golden(t, "nav")
	list := apitest.Data[[]catalog.NavigationItem](t, w.Get(t, w.SubKey, "/v2/mix/nav?lan=en"))
	if len(list) != 3 || list[0].CoinName != "Bitcoin" || list[0].MarketName != "Binance" || list[1].Key != "ethusdt:bybit" || list[2].Last != "17.25" {
		t.Errorf("%+v", list)
	}
	w.Get(t, w.SubKey, "/v2/mix/nav?lan=fr").Refused(t, http.StatusBadRequest, "lan", "cn")
}

func TestSharesOfTrusts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fillTrusts(t)
	w.Get(t, w.SubKey, "/v2/mix/grayscale-trust?unknown=1").Golden(t, "grayscale-trust")
}

func TestWhatTrustsHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fillTrusts(t)
	w.Get(t, w.SubKey, "/v2/mix/gray-scale?coins=btc,eth").Golden(t, "gray-scale")
	holdings := func(query string) map[string]catalog.TrustHolding {
		return apitest.Data[catalog.TrustHoldingList](t, w.Get(t, w.SubKey, "/v2/mix/gray-scale"+query)).Detail
	}
	percent, _ := new(big.Rat).SetString("305/12200") // 30.5 of 1,220
	btc := catalog.TrustHolding{Total: "1250.5", DayChange: "30.5", Percent: percent.FloatString(3)}
	for query, want := range map[string]map[string]catalog.TrustHolding{
		"?coins=bitcoin":    {"bitcoin": btc},
		"?coins=BTC,zec":    {"BTC": btc},
		"?coins=zec":        {},
		"":                  {"btc": btc, "eth": {Total: "7", DayChange: "7"}},
		"?coins=btc&coins=": {"btc": btc},
	} {
		if got := holdings(query); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	w.Get(t, w.SubKey, "/v2/mix/gray-scale?coins=a%20b").Refused(t, http.StatusBadRequest, "coins")
}
