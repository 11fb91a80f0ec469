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

func TestPricesHaveThePlacesOfTheirMarket(t *testing.T) {
	t.Parallel()
	v := View{
		Perps: map[string]json.RawMessage{
			"":    json.RawMessage(`{"universe":[{"name":"BTC","szDecimals":5},{"name":"ODD","szDecimals":9}]}`),
			"xyz": json.RawMessage(`{"universe":[{"name":"xyz:GOLD","szDecimals":4}]}`),
			"new": json.RawMessage(`["in another shape"]`),
		},
		Spot: json.RawMessage(`{"universe":[{"name":"PURR/USDC","tokens":[1,0]},{"name":"@1","tokens":[7,0]}],"tokens":[{"index":0,"szDecimals":8},{"index":1,"szDecimals":0},{"index":7,"szDecimals":2}]}`),
	}
	for coin, want := range map[string]uint8{"BTC": 1, "ODD": 0, "xyz:GOLD": 2, "PURR/USDC": 8, "@1": 6, "NONE": 8, "new:X": 8, "GOLD": 8} {
		if got := v.PricePlaces(coin); got != want {
			t.Errorf("%s: %d places, want %d", coin, got, want)
		}
	}
	if got := new(View).PricePlaces("BTC"); got != 8 {
		t.Errorf("of no description: %d", got)
	}
}
