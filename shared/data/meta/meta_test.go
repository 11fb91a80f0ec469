package meta

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/testing/must"
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
		Encode: Published.Encode,
		Decode: Published.Decode,
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

func TestMarketsAreReadFromTheirDescriptions(t *testing.T) {
	t.Parallel()
	v := View{
		Perps: map[string]json.RawMessage{
			"": json.RawMessage(`{"universe":[{"name":"BTC","szDecimals":5,"maxLeverage":40,"marginTableId":56},{"name":"OLD","szDecimals":0,"maxLeverage":3,"marginTableId":3,"onlyIsolated":true}],
				"marginTables":[[3,{"marginTiers":"in another shape"}],["4"],[3,{"marginTiers":[{"lowerBound":"many","maxLeverage":9}]}],[56,{"description":"tiered 40x","marginTiers":[{"lowerBound":"0.0","maxLeverage":40},{"lowerBound":"150000000.0","maxLeverage":20}]}]]}`),
			"xyz": json.RawMessage(`{"universe":[{"name":"xyz:GOLD","szDecimals":4,"maxLeverage":20}]}`),
			"new": json.RawMessage(`["in another shape"]`),
		},
		Spot: json.RawMessage(`{"universe":[{"name":"@3","tokens":[7,5]},{"name":"@1","tokens":[7,0]},{"name":"@2","tokens":[7,0]},{"name":"@4","tokens":[99,0]}],
			"tokens":[{"name":"USDC","index":0,"szDecimals":8},{"name":"USDE","index":5,"szDecimals":2},{"name":"HYPE","index":7,"szDecimals":2}]}`),
	}
	m := v.Markets()
	btc := m.Perps["BTC"]
	if btc.MaxLeverage != 40 || btc.SzDecimals != 5 || len(btc.Tiers) != 2 || market.Text(btc.Tiers[1].Deduction) != "1875000.0" {
		t.Errorf("BTC: %+v", btc)
	}
	if old := m.Perps["OLD"]; old.Index != 1 || !old.OnlyIsolated || len(old.Tiers) != 1 || old.Tiers[0].MaxLeverage != 3 {
		t.Errorf("OLD: %+v", old)
	}
	if gold := m.Perps["xyz:GOLD"]; gold.MaxLeverage != 20 || gold.Tiers[0].MaxLeverage != 20 {
		t.Errorf("xyz:GOLD: %+v", gold)
	}
	if m.Spot["@3"] != (market.SpotMarket{Base: "HYPE", Quote: "USDE"}) || m.SpotCoins["HYPE"] != "@1" || m.Tokens["HYPE"] != 7 || len(m.Spot) != 3 {
		t.Errorf("spot: %+v", m)
	}
	if none := new(View).Markets(); len(none.Perps)+len(none.Spot) > 0 {
		t.Errorf("of no description: %+v", none)
	}
}

func TestACollateralThatCannotBeReadIsNoOther(t *testing.T) {
	t.Parallel()
	spot := json.RawMessage(`{"tokens":[{"name":"USDC","index":0},{"name":"USDH","index":360}],"universe":[]}`)
	for text, want := range map[string]string{
		`{"universe":[],"collateralToken":360}`:                                    "USDH",
		`{"universe":[],"collateralToken":"360"}`:                                  "USDH",
		`{"universe":{},"collateralToken":360}`:                                    "USDH",
		`{"universe":[{"name":"flx:OIL","szDecimals":"2"}],"collateralToken":360}`: "USDH",
		`{"universe":[],"collateralToken":0}`:                                      "USDC",
		`{"universe":[]}`:                                                          "USDC",
		`{"universe":[],"collateralToken":361}`:                                    "",
		`{"universe":[],"collateralToken":{"token":360}}`:                          "",
		`[]`: "",
	} {
		v := View{Perps: map[string]json.RawMessage{"flx": json.RawMessage(text)}, Spot: spot}
		if token := v.Markets().Collaterals["flx"]; token != want {
			t.Errorf("of %s it is %q, want %q", text, token, want)
		}
	}
}

// TestGenuineMarketsHaveTheirTiers reads what the venue answered to meta, where
// QUOTARY_TESTDATA names a folder of recordings.
func TestGenuineMarketsHaveTheirTiers(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("QUOTARY_TESTDATA")
	if dir == "" {
		t.Skip("QUOTARY_TESTDATA is not set")
	}
	file := must.Get(os.Open(filepath.Join(dir, "hyperliquid", "sonirico_info_cassettes.jsonl")))(t)
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	var v View
	for lines.Scan() {
		var c struct {
			URI      string
			Request  struct{ Type string }
			Response json.RawMessage
		}
		must.Do(t, json.Unmarshal(lines.Bytes(), &c))
		switch {
		case strings.Contains(c.URI, "testnet"):
		case c.Request.Type == "meta":
			v.Perps = map[string]json.RawMessage{"": c.Response}
		case c.Request.Type == "spotMeta":
			v.Spot = c.Response
		}
	}
	m := v.Markets()
	tiered := 0
	for coin, p := range m.Perps {
		if p.MaxLeverage < 1 || len(p.Tiers) == 0 || p.Tiers[0].MaxLeverage != p.MaxLeverage || !p.Tiers[0].LowerBound.IsZero() {
			t.Errorf("%s: %+v", coin, p)
		}
		if len(p.Tiers) > 1 {
			tiered++
		}
	}
	if len(m.Perps) < 100 || tiered < 10 || m.Spot["@107"].Base != "HYPE" || m.SpotCoins["HYPE"] != "@107" || m.Spot["PURR/USDC"].Base != "PURR" {
		t.Errorf("%d perps, %d of them with tiers; HYPE is %q", len(m.Perps), tiered, m.SpotCoins["HYPE"])
	}
	t.Logf("%d perps, %d with tiers; %d spot markets", len(m.Perps), tiered, len(m.Spot))
}
