package mids

import (
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market/markettest"
)

func TestTheStoredView(t *testing.T) {
	datasettest.Codec[View]{
		Values: rapid.Custom(func(t *rapid.T) View {
			prices := rapid.MapOfN(markettest.Coin(), markettest.Decimal(6, 6), 0, 5)
			return View{Time: markettest.Time().Draw(t, "time"), Mids: rapid.MapOfN(rapid.SampledFrom([]string{"", "xyz", "abc"}), prices, 0, 3).Draw(t, "mids")}
		}),
		Encode: Published.Encode,
		Decode: Published.Decode,
	}.Test(t)
}
