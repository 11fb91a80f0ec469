package tickers

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market/markettest"
	"quotary/shared/testing/must"
)

func TestTheStoredView(t *testing.T) {
	ticker := rapid.Custom(func(t *rapid.T) Ticker {
		return Ticker{Coin: markettest.Coin().Draw(t, "coin"), Price: markettest.Decimal(6, 6).Draw(t, "px"), Time: markettest.Time().Draw(t, "time"),
			Seq: rapid.Int64().Draw(t, "seq"), Tid: rapid.Int64().Draw(t, "tid")}
	})
	datasettest.Codec[View]{
		Values: rapid.Custom(func(t *rapid.T) View {
			list := rapid.SliceOfNDistinct(ticker, 0, 8, func(t Ticker) string { return t.Coin }).Draw(t, "tickers")
			slices.SortFunc(list, func(a, b Ticker) int { return cmp.Compare(a.Coin, b.Coin) })
			return View{Time: markettest.Time().Draw(t, "time"), Tickers: list}
		}),
		Encode: Published.Encode,
		Decode: Published.Decode,
		Use:    func(v View) { v.Lookup("BTC") },
	}.Test(t)
}

func TestATickerIsFoundByItsCoin(t *testing.T) {
	t.Parallel()
	v := must.Get(Published.Decode(Published.Encode(View{Tickers: []Ticker{{Coin: "xyz:GOLD", Price: "3.0"}, {Coin: "BTC", Price: "1.0"}, {Coin: "ETH", Price: "2.0"}}})))(t)
	for coin, want := range map[string]string{"BTC": "1.0", "ETH": "2.0", "xyz:GOLD": "3.0", "btc": ""} {
		if got, ok := v.Lookup(coin); got.Price != want || ok != (want != "") {
			t.Errorf("the price of %s is %q, %t; want %q", coin, got.Price, ok, want)
		}
	}
}
