package contexts

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market/markettest"
)

func TestTheStoredView(t *testing.T) {
	raw := rapid.SampledFrom([]json.RawMessage{json.RawMessage(`[{"universe":[]},[]]`), json.RawMessage(`[{},[{"markPx":"1.5"}]]`)})
	datasettest.Codec[View]{
		Values: rapid.Custom(func(t *rapid.T) View {
			v := View{
				Time:  markettest.Time().Draw(t, "time"),
				Times: rapid.MapOfN(rapid.SampledFrom([]string{"", "xyz"}), markettest.Time(), 0, 2).Draw(t, "times"),
				Perps: rapid.MapOfN(rapid.SampledFrom([]string{"", "xyz"}), raw, 0, 2).Draw(t, "perps"),
				Marks: rapid.MapOfN(markettest.Coin(), markettest.Decimal(6, 6), 0, 5).Draw(t, "marks"),
			}
			if rapid.Bool().Draw(t, "spot") {
				v.Spot = raw.Draw(t, "spot figures")
			}
			return v
		}),
		Encode: Published.Encode,
		Decode: Published.Decode,
	}.Test(t)
}
