package cointickers

import (
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/data/rates"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/testing/check"
)

func known(days ...string) (v rates.View) {
	for i := 0; i < len(days); i += 3 {
		usd, _ := market.ParseDecimal(days[i+1])
		cny, _ := market.ParseDecimal(days[i+2])
		v.Add(market.DayRates{Date: days[i], USD: usd, CNY: cny})
	}
	return v
}

func TestTheStoredView(t *testing.T) {
	figure := rapid.OneOf(rapid.Just(""), markettest.Signed(9, 9))
	datasettest.Codec[View]{
		Values: rapid.Custom(func(t *rapid.T) View {
			v := View{Time: markettest.Time().Draw(t, "time")}
			for _, key := range rapid.SliceOfNDistinct(markettest.Coin(), 0, 5, rapid.ID[string]).Draw(t, "keys") {
				m := market.CoinMarket{Key: key, Time: markettest.Time().Draw(t, "made"), Price: figure.Draw(t, "price"), Degree24h: figure.Draw(t, "24h"),
					Degree7d: figure.Draw(t, "7d"), MarketCap: figure.Draw(t, "cap"), Turnover24h: figure.Draw(t, "turnover")}
				v.Tickers = append(v.Tickers, New(&m, known("2026-03-01", "1.08", "7.8")))
			}
			Published.Encode(v) // sorts
			return v
		}),
		Encode: Published.Encode,
		Decode: Published.Decode,
		Use: func(v View) {
			v.Lookup("BTC")
			for i := range v.Tickers {
				v.Tickers[i].Convert(known("2026-03-01", "1.08", "7.8"))
			}
		},
	}.Test(t)
}

func TestATickerInBothCurrencies(t *testing.T) {
	t.Parallel()
	const at = 1_795_262_400_000 // 2026-11-21 12:00 UTC, a Saturday
	m := market.CoinMarket{Key: "bitcoin", Time: at, Price: "70187.5", Degree24h: "3.12502", Degree7d: "-1.5", MarketCap: "1381651251183", Turnover24h: "20154184933"}
	for name, c := range map[string]struct {
		rates rates.View
		want  Ticker
	}{
		"no rate is known": {want: Ticker{}},
		"today's only": {
			rates: known("2026-11-20", "1.1", "7.7"),
			want:  Ticker{PriceCNY: "491312.5", SupplyCNY: "9671558758281", Trade24hCNY: "141079294531"},
		},
		"yesterday's too": {
			rates: known("2026-11-19", "1.1", "7.7", "2026-11-20", "1", "8"),
			want:  Ticker{PriceCNY: "561500", SupplyCNY: "11053210009464", Trade24hCNY: "161233479464", Degree24hCNY: "17.85717"},
		},
		"the week's": {
			rates: known("2026-11-13", "1", "6.4", "2026-11-20", "1", "8"),
			want:  Ticker{PriceCNY: "561500", SupplyCNY: "11053210009464", Trade24hCNY: "161233479464", Degree24hCNY: "28.90628", Degree7dCNY: "23.13"},
		},
	} {
		want := c.want
		want.Key, want.Time, want.PriceUSD, want.Degree24hUSD, want.Degree7dUSD = "bitcoin", at, "70187.5", "3.12502", "-1.5"
		want.SupplyUSD, want.Trade24hUSD, want.Vol24h = "1381651251183", "20154184933", "287147.78177026"
		check.Equalf(t, want, New(&m, c.rates), "%s", name)
	}
	unknown := New(&market.CoinMarket{Key: "bitcoin"}, known("1969-01-01", "1", "1"))
	if unknown != (Ticker{Key: "bitcoin"}) {
		t.Errorf("of nothing comes %+v", unknown)
	}
}
