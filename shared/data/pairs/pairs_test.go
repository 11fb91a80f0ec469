package pairs

import (
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
)

func TestTheStoredView(t *testing.T) {
	coin := rapid.StringMatching(`[A-Z0-9]{1,10}`)
	datasettest.Codec[View]{
		Values: rapid.Custom(func(t *rapid.T) View {
			v := View{Time: markettest.Time().Draw(t, "time")}
			seen := map[string]bool{}
			for range rapid.IntRange(0, 5).Draw(t, "pairs") {
				p := Pair{Followed: rapid.Bool().Draw(t, "followed"), Pair: market.Pair{Platform: "binance", Base: coin.Draw(t, "base"), Quote: coin.Draw(t, "quote"), Swap: rapid.Bool().Draw(t, "swap")}}
				p.Key, p.Symbol = market.PairKey(p.Base, p.Quote, p.Platform, p.Swap), p.Base+p.Quote
				if !seen[p.Key] {
					seen[p.Key] = true
					v.Pairs = append(v.Pairs, p)
				}
			}
			Published.Encode(v) // sorts them
			return v
		}),
		Encode: Published.Encode,
		Decode: Published.Decode,
		Use: func(v View) {
			for _, p := range v.Pairs {
				if got, ok := v.Lookup(p.Key); !ok || got.Key != p.Key {
					t.Errorf("%q is not found", p.Key)
				}
			}
		},
	}.Test(t)
}
