package market_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// miniature are made-up fills in the shapes in which the venue writes those that liquidate: of an
// order in the book both sides, of a take-over by the vault and of an auto-deleveraging both sides,
// with what tells who was liquidated and without.
const miniature = `
maker beside it|unknown=false|{"address":"0x00000000000000000000000000000000000000c1","side":"A","startPosition":"-143.54","dir":"Open Short","crossed":false,"liquidation":{"liquidatedUser":"0x00000000000000000000000000000000000000a1","method":"market"}}
liquidated|unknown=false|{"address":"0x00000000000000000000000000000000000000a1","side":"B","startPosition":"-2.47","dir":"Close Short","crossed":true,"liquidation":{"liquidatedUser":"0x00000000000000000000000000000000000000a1","method":"market"}}
liquidated|unknown=false|{"side":"A","startPosition":"5.0","dir":"Close Long","crossed":true,"liquidation":{"method":"market"}}
maker beside it|unknown=false|{"side":"B","startPosition":"-5.0","dir":"Close Short","crossed":false,"liquidation":{"method":"market"}}
taker that opened|unknown=true|{"side":"A","startPosition":"0.0","dir":"Open Short","crossed":true,"liquidation":{"method":"market"}}
taker that turned|unknown=true|{"side":"A","startPosition":"1.0","dir":"Long > Short","crossed":true,"liquidation":{"method":"market"}}
vault|unknown=false|{"side":"B","startPosition":"0.0","dir":"Liquidated Cross Long","crossed":true,"liquidation":{"method":"backstop"}}
liquidated|unknown=false|{"side":"A","startPosition":"3.0","dir":"Liquidated Cross Long","crossed":false,"liquidation":{"method":"backstop"}}
liquidated|unknown=false|{"side":"B","startPosition":"-3.0","dir":"Liquidated Isolated Short","crossed":false,"liquidation":{}}
vault|unknown=false|{"side":"A","startPosition":"9.0","dir":"Liquidated Isolated Short","crossed":true,"liquidation":{}}
one of two that closed|unknown=true|{"side":"A","startPosition":"3.0","dir":"Auto-Deleveraging","crossed":true,"liquidation":{"method":"backstop"}}
one of two that closed|unknown=false|{"side":"B","startPosition":"-3.0","dir":"Auto-Deleveraging","crossed":false,"liquidation":{"method":"backstop"}}
ordinary|unknown=false|{"side":"A","startPosition":"5.0","dir":"Close Long","crossed":true}`

func liquidating(t *testing.T, text string) market.Fill {
	t.Helper()
	f := market.Fill{Coin: "BTC", Px: "2.5", Sz: "2.0", ClosedPnl: "0.0"}
	must.Do(t, json.Unmarshal([]byte(text), &f))
	var more struct{ Address string }
	must.Do(t, json.Unmarshal([]byte(text), &more))
	f.Address = more.Address
	return f
}

func TestWhoWasLiquidatedIsToldByOneRule(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(strings.TrimSpace(miniature)) {
		parts := strings.SplitN(line, "|", 3)
		f := liquidating(t, parts[2])
		if got := f.Liquidates(); got != (parts[0] == "liquidated") {
			t.Errorf("%s: liquidated %t", strings.TrimSpace(line), got)
		}
		if got := f.LiquidatesUnknown(); got != (parts[1] == "unknown=true") {
			t.Errorf("%s: unknown %t", strings.TrimSpace(line), got)
		}
	}
}

func TestTheMethodOfALiquidation(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"side":"A","startPosition":"5.0","dir":"Close Long","crossed":true,"liquidation":{"method":"market"}}`:                                  market.LiquidationMarket,
		`{"side":"A","startPosition":"5.0","dir":"Close Long","crossed":true,"liquidation":{}}`:                                                   "",
		`{"side":"A","startPosition":"5.0","dir":"Liquidated Cross Long","liquidation":{"method":"backstop"}}`:                                    market.LiquidationBackstop,
		`{"side":"A","startPosition":"5.0","dir":"Liquidated Cross Long","liquidation":{}}`:                                                       market.LiquidationBackstop,
		`{"address":"0x1","side":"A","startPosition":"5.0","dir":"Auto-Deleveraging","liquidation":{"liquidatedUser":"0x1","method":"backstop"}}`: market.LiquidationADL,
	} {
		f := liquidating(t, text)
		if e, ok := market.LiquidationOf(&f); !ok || e.Method != want {
			t.Errorf("%s: %t, %q", text, ok, e.Method)
		}
	}
	spot := liquidating(t, `{"side":"A","startPosition":"5.0","dir":"Sell","crossed":true,"liquidation":{}}`)
	if spot.Coin = "@107"; spot.Liquidates() {
		if _, ok := market.LiquidationOf(&spot); ok {
			t.Error("a spot coin was liquidated")
		}
	}
}

// QUOTARY_TESTDATA names a folder of genuine recordings, where there is one.
func TestGenuineFillsTellWhoWasLiquidated(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("QUOTARY_TESTDATA")
	if dir == "" {
		t.Skip("QUOTARY_TESTDATA is not set")
	}
	body := must.Get(os.ReadFile(filepath.Join(dir, "hyperliquid", "liquidation_fill_samples.jsonl")))(t)
	n := 0
	for line := range strings.Lines(string(body)) {
		var sample struct{ Fill json.RawMessage }
		must.Do(t, json.Unmarshal([]byte(line), &sample))
		f := liquidating(t, string(sample.Fill)) // nobody says whose fills they are: not the liquidated account's
		if f.StartPosition == "" {
			f.StartPosition = "0.0"
		}
		if f.Liquidates() || f.LiquidatesUnknown() {
			t.Errorf("the other side is taken for the liquidated one: %s", line)
		}
		f.Address = f.Liquidation.LiquidatedUser
		if e, ok := market.LiquidationOf(&f); !ok || e.Method != f.Liquidation.Method || e.MarkPx == "" {
			t.Errorf("%s: %t, %+v", line, ok, e)
		}
		f.Liquidation.LiquidatedUser = ""
		named := strings.HasPrefix(f.Dir, "Liquidated")
		if f.Liquidates() != (!named && f.Crossed) { // what is named is bought by the vault here
			t.Errorf("without a name: %s", line)
		}
		n++
	}
	if n != 3 {
		t.Errorf("%d samples", n)
	}
}
