package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/coins"
	"quotary/shared/data/cointickers"
	"quotary/shared/data/pairtickers"
	"quotary/shared/data/rates"
	"quotary/shared/data/readings"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

const readingsPath = "/v2/content/ai-coins"

// newReadings is a world with the readings of three coins, one of them of yesterday, and with the
// names of these and others.
func newReadings(t *testing.T) *apitest.World {
	t.Helper()
	w, _, views := openContent(t)
	dec := func(text string) market.Decimal { return must.Get(market.ParseDecimal(text))(t) }
	now := w.Now()
	closed := now.Truncate(4 * time.Hour).UnixMilli()
	pair := func(base, platform, quote string, swap bool) market.Pair {
		return market.Pair{Key: market.PairKey(base, quote, platform, swap), Platform: platform, Base: base, Quote: quote, Swap: swap}
	}
	rising := market.Reading{Close: dec("61500"), Short: dec("61200.5"), Long: dec("60100"), MACD: -1, RSI: dec("71.25"), Range: dec("615"), Volume: dec("1.4"), Balance: 1}
	falling := market.Reading{Close: dec("0.012"), Short: dec("0.0125"), Long: dec("0.0119"), MACD: -1, RSI: dec("29.5"), Range: dec("0.0003"), Outside: -1, Volume: dec("0.7"), Balance: -1}
	storetest.Publish(t, views, readings.Published, readings.View{Readings: []readings.Reading{
		{Coin: "btc", Pair: pair("BTC", "binance", "USDT", false), Closed: closed, Reading: rising},
		{Coin: "pepe", Pair: pair("kPEPE", "hyperliquid", "USDC", true), Closed: closed, Reading: falling},
		{Coin: "gone", Pair: pair("GONE", "binance", "USDT", false), Closed: closed - 25*3_600_000, Reading: rising},
		{Coin: "bare", Pair: pair("BARE", "bybit", "USDT", true), Closed: closed, Reading: rising},
	}})
	var list coins.View
	for rank, one := range []string{"bitcoin BTC", "pepe PEPE", "gone GONE", "bare BARE", "few FEW", "other-bitcoin BTC", "hidden BTC"} {
		key, symbol, _ := strings.Cut(one, " ")
		c := coins.Coin{Key: key, Listing: &coins.Listing{Symbol: symbol, Rank: int64(rank) + 1}}
		if key == "bitcoin" {
			c.Listing.Logo = "https://coins.example/bitcoin.png"
		}
		if key == "hidden" {
			c.Entry = &coins.Entry{CoinKey: key, Hidden: true}
		}
		list.Coins = append(list.Coins, c)
	}
	storetest.Publish(t, views, coins.Published, list)
	storetest.Publish(t, views, pairtickers.Published, pairtickers.View{Tickers: []pairtickers.Ticker{{Pair: "btcusdt:binance", Last: dec("61800"), Open: dec("60000")}}})
	storetest.Publish(t, views, cointickers.Published, cointickers.View{Tickers: []cointickers.Ticker{
		cointickers.New(&market.CoinMarket{Key: "pepe", Time: now.UnixMilli(), Price: "0.0000121", Degree24h: "-3.5"}, rates.View{}),
		cointickers.New(&market.CoinMarket{Key: "bitcoin", Time: now.UnixMilli(), Price: "1", Degree24h: "1"}, rates.View{}),
		cointickers.New(&market.CoinMarket{Key: "bare", Time: now.Add(-25 * time.Hour).UnixMilli(), Price: "1", Degree24h: "1"}, rates.View{}),
	}})
	return w
}

func TestReadingsOfCoins(t *testing.T) {
	t.Parallel()
	w := newReadings(t)
	for name, body := range map[string]map[string]any{
		"ai-coins":    {"coinKeys": []string{"bitcoin", "pepe"}, "language": "EN"},
		"ai-coins-cn": {"coinKeys": []string{"pepe", "bitcoin"}},
		"ai-coins-tc": {"coinKeys": []string{"bitcoin", "pepe"}, "language": "TC"},
	} {
		t.Run(name, func(t *testing.T) {
			answer := w.Call(t, w.SubKey, http.MethodPost, readingsPath, body)
			answer.Golden(t, name)
			if language, ok := body["language"].(string); ok {
				small := w.Call(t, w.SubKey, http.MethodPost, readingsPath, map[string]any{"coinKeys": body["coinKeys"], "language": strings.ToLower(language)})
				if !bytes.Equal(small.Body, answer.Body) {
					t.Errorf("in small letters the language is answered %s, want %s", small.Body, answer.Body)
				}
			}
		})
	}
}

func TestCoinsWithoutAReadingAreLeftOut(t *testing.T) {
	t.Parallel()
	w := newReadings(t)
	for _, c := range []struct {
		keys any
		want string
	}{
		{[]string{"bitcoin"}, "bitcoin 61800 3"},
		{"bare,bitcoin", "bare  , bitcoin 61800 3"}, // of which no price is known
		{[]any{"pepe", nil, "pepe", "bitcoin"}, "pepe 0.0000121 -3.5, bitcoin 61800 3"},
		{[]string{"gone", "few", "nobody", "Bitcoin", "BTC", "other-bitcoin", "hidden"}, ""},
	} {
		list := apitest.Data[catalog.CoinReadingList](t, w.Call(t, w.SubKey, http.MethodPost, readingsPath, map[string]any{"coinKeys": c.keys})).List
		got := make([]string, len(list))
		for i, one := range list {
			got[i] = fmt.Sprint(one.CoinKey, " ", one.Price, " ", one.Degree)
		}
		if strings.Join(got, ", ") != c.want || list == nil {
			t.Errorf("%v: %q, want %q", c.keys, got, c.want)
		}
	}
}

func TestBadRequestsOfReadings(t *testing.T) {
	t.Parallel()
	w := newReadings(t)
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprint("coin", i)
	}
	for want, body := range map[string]map[string]any{
		"missing coinKeys": {}, "language": {"coinKeys": []string{"bitcoin"}, "language": "fr"}, "100": {"coinKeys": many}, "a key of 1 to 64": {"coinKeys": []string{"b c"}},
	} {
		w.Call(t, w.SubKey, http.MethodPost, readingsPath, body).Refused(t, http.StatusBadRequest, want)
	}
}
