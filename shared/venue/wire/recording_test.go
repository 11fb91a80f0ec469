package wire_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/venue/wire"
)

// QUOTARY_TESTDATA names a folder of genuine recordings, where there is one:
// what the venue answered about its markets must be read, and books must be
// written as they were recorded.
func TestRecordedMarketsAreRead(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("QUOTARY_TESTDATA")
	if dir == "" {
		t.Skip("QUOTARY_TESTDATA is not set")
	}
	seen := map[string]int{}
	for _, name := range []string{"sonirico_info_cassettes.jsonl", "hl_python_sdk_info_cassettes.jsonl"} {
		file := must.Get(os.Open(filepath.Join(dir, "hyperliquid", name)))(t)
		defer file.Close()
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var c struct {
				Request  struct{ Type, Dex string }
				Response json.RawMessage
			}
			must.Do(t, json.Unmarshal(lines.Bytes(), &c))
			seen[c.Request.Type]++
			switch c.Request.Type {
			case "metaAndAssetCtxs":
				read, err := wire.ParseContexts(c.Request.Dex, 1, c.Response)
				if err != nil || len(read.Coins) == 0 {
					t.Errorf("%d coins, %v: %.200s", len(read.Coins), err, c.Response)
				}
			case "spotMetaAndAssetCtxs":
				read, err := wire.ParseSpotContexts(1, c.Response)
				if err != nil || len(read.Coins) == 0 {
					t.Errorf("%d coins, %v: %.200s", len(read.Coins), err, c.Response)
				}
			case "fundingHistory":
				var of []struct{ Coin string }
				if err := json.Unmarshal(c.Response, &of); err != nil || len(of) == 0 {
					t.Fatalf("%d fundings, %v", len(of), err)
				}
				if list, malformed, err := wire.ParseFundings(c.Response, of[0].Coin); err != nil || malformed > 0 || len(list) != len(of) {
					t.Errorf("%d of %d fundings, %d malformed, %v", len(list), len(of), malformed, err)
				}
			case "portfolio":
				read, err := wire.ParsePortfolio(c.Response)
				if err != nil || len(read.All) < 50 || len(read.Perp) < 50 {
					t.Fatalf("%d and %d points, %v", len(read.All), len(read.Perp), err)
				}
				// The windows agree: what came in changes at a few deposits of the month alone, and
				// not from window to window.
				for _, list := range [...][]market.AccountValue{read.All, read.Perp} {
					points, changes := 0, 0
					for i, v := range list {
						if i > 0 && v.Time > read.Until-29*86_400_000 {
							points++
							if d := v.NetIn - list[i-1].NetIn; d > 2 || d < -2 {
								changes++
								t.Logf("%s came in before %d", d.Decimal(), v.Time)
							}
						}
					}
					if points < 50 || changes > 10 {
						t.Errorf("what came in changes %d times in %d points", changes, points)
					}
				}
				t.Logf("a portfolio of %d and %d points", len(read.All), len(read.Perp))
			case "l2Book":
				checkBook(t, c.Response)
			}
		}
		must.Do(t, lines.Err())
	}
	for _, kind := range []string{"metaAndAssetCtxs", "spotMetaAndAssetCtxs", "fundingHistory", "l2Book"} {
		if seen[kind] == 0 {
			t.Errorf("the recordings have no %s", kind)
		}
	}
}

func checkBook(t *testing.T, recorded []byte) {
	t.Helper()
	b, err := wire.ParseBook(recorded)
	if err != nil {
		t.Fatalf("%v: %.200s", err, recorded)
	}
	var want, got any
	if json.Unmarshal(recorded, &want) != nil || json.Unmarshal(b.AppendJSON(nil, false), &got) != nil {
		t.Fatalf("no JSON: %.200s", recorded)
	}
	if w, g := mustJSON(t, want), mustJSON(t, got); w != g {
		t.Errorf("recorded\n%.400s, written\n%.400s", w, g)
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b := must.Get(json.Marshal(v))(t)
	return string(b)
}
