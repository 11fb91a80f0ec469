package meta

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market/markettest"
)

func TestTheStoredView(t *testing.T) {
	raw := rapid.SampledFrom([]json.RawMessage{json.RawMessage(`{"universe":[{"name":"BTC"}]}`), json.RawMessage(`[1,"\u003c"]`)})
	datasettest.Codec[View]{
		Values: rapid.Custom(func(t *rapid.T) View {
			v := View{Time: markettest.Time().Draw(t, "time"), Perps: rapid.MapOfN(rapid.SampledFrom([]string{"", "xyz"}), raw, 0, 2).Draw(t, "perps")}
			if rapid.Bool().Draw(t, "spot") {
				v.Spot = raw.Draw(t, "spotMeta")
			}
			return v
		}),
		Encode: Encode,
		Decode: Decode,
	}.Test(t)
}
