package readings

import (
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
)

func TestTheStoredView(t *testing.T) {
	datasettest.Codec[View]{
		Values: rapid.Custom(func(t *rapid.T) View {
			px := func(name string) market.Decimal { return market.DecimalFromInt(rapid.Int64Range(1, 1e6).Draw(t, name)) }
			sign := rapid.IntRange(-1, 1)
			v := View{Readings: rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) Reading {
				coin := rapid.StringMatching(`[a-z0-9]{1,10}`).Draw(t, "coin")
				return Reading{coin, market.Pair{Key: coin + "usdt:binance", Platform: "binance", Base: coin, Quote: "USDT"}, markettest.Time().Draw(t, "closed"), market.Reading{
					Close: px("close"), Short: px("short"), Long: px("long"), RSI: px("rsi"), Range: px("range"), Volume: px("volume"),
					MACD: sign.Draw(t, "macd"), Outside: sign.Draw(t, "outside"), Balance: sign.Draw(t, "balance"),
				}}
			}), 0, 5, func(r Reading) string { return r.Coin }).Draw(t, "readings")}
			Published.Encode(v) // sorts them
			return v
		}),
		Encode: Published.Encode, Decode: Published.Decode,
		Use: func(v View) {
			for _, r := range v.Readings {
				v.Lookup(r.Coin)
			}
		},
	}.Test(t)
}
