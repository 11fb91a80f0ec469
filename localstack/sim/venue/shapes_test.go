package venue

import (
	"flag"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"quotary/shared/testing/must"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// shapeOf reduces JSON to its keys and types.
func shapeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "bool"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		set := map[string]bool{}
		for _, x := range v {
			set[shapeOf(x)] = true
		}
		var all []string
		for s := range set {
			all = append(all, s)
		}
		sort.Strings(all)
		return "[" + strings.Join(all, " | ") + "]"
	case map[string]any:
		var all []string
		for k, x := range v {
			all = append(all, k+": "+shapeOf(x))
		}
		sort.Strings(all)
		return "{" + strings.Join(all, ", ") + "}"
	}
	return "?"
}

// busiest is the trader with the most different things to show.
func busiest(v *Venue) string {
	best, at := -1, 0
	for u := makers + 1; u < len(v.eng.Acc); u++ {
		a := &v.eng.Acc[u]
		score := min(3, len(a.open)) + len(a.Twapped) + min(3, len(a.Ledger))
		for c := range a.Pos {
			if a.Pos[c].Szi != 0 {
				score += 2
			}
		}
		resting := slices.ContainsFunc(a.open, func(o *order) bool { return o.Trigger == noTrigger && o.Tif == gtc })
		if resting && v.eng.prof[u].Cloids {
			score += 10
		}
		if resting && slices.ContainsFunc(a.open, func(o *order) bool { return o.Trigger != noTrigger }) {
			score += 10
		}
		for c := range a.Pos {
			if p := &a.Pos[c]; p.Szi != 0 && !p.Iso {
				if _, ok := v.eng.liquidationPx(u, c); !ok {
					score += 10
					break
				}
			}
		}
		if score > best {
			best, at = score, u
		}
	}
	return v.eng.prof[at].Addr
}

// userWith finds a trader by what its account holds.
func userWith(t *testing.T, v *Venue, has func(*account) bool) string {
	t.Helper()
	for u := range v.eng.Acc {
		if has(&v.eng.Acc[u]) {
			return v.eng.prof[u].Addr
		}
	}
	t.Fatal("no trader has what the test needs")
	return ""
}

func TestAnswersHaveTheShapesOfThePublicAPI(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{HistoryDays: 5, FillsPerSecond: 60, Traders: 400}, 3*time.Minute)
	user := busiest(v)
	maker := v.eng.prof[1].Addr
	slicer := userWith(t, v, func(a *account) bool {
		return len(a.Fills) > 0 && a.Fills[len(a.Fills)-1].Twap != 0 && a.Fills[len(a.Fills)-1].Builder < 0
	})
	byBuilder := userWith(t, v, func(a *account) bool {
		return len(a.Fills) > 0 && a.Fills[len(a.Fills)-1].Builder >= 0 && a.Fills[len(a.Fills)-1].Cloid != 0
	})
	bodies := map[string]string{
		"meta": ``, "spotMeta": ``, "metaAndAssetCtxs": ``, "spotMetaAndAssetCtxs": ``, "perpDexs": ``, "predictedFundings": ``,
		"l2Book": `,"coin":"BTC"`, "recentTrades": `,"coin":"@107"`, "fundingHistory": `,"coin":"BTC","startTime":0`,
		"candleSnapshot":         `,"req":{"coin":"sim:GOLD","interval":"1h","startTime":0,"endTime":2000000000000}`,
		"spotClearinghouseState": `,"user":"` + maker + `"`, "userFunding": `,"user":"` + maker + `","startTime":0`,
		"clearinghouseState": `,"user":"` + user + `"`, "openOrders": `,"user":"` + maker + `"`,
		"userTwapSliceFills": `,"user":"` + slicer + `"`, "twapHistory": `,"user":"` + slicer + `"`, "userFees": `,"user":"` + user + `"`,
		"userRateLimit": `,"user":"` + user + `"`, "userRole": `,"user":"` + user + `"`, "portfolio": `,"user":"` + user + `"`,
		"activeAssetData": `,"user":"` + user + `","coin":"BTC"`, "frontendOpenOrders": `,"user":"` + user + `"`,
		"vaultSummaries": ``, "vaultDetails": `,"vaultAddress":"` + v.eng.prof[vault].Addr + `"`, "leadingVaults": `,"user":"` + v.eng.vaults()[0].leader + `"`,
		"historicalOrders": `,"user":"` + user + `"`, "userFills": `,"user":"` + byBuilder + `"`, "webData2": `,"user":"` + user + `"`,
	}
	var got []string
	for kind, rest := range bodies {
		got = append(got, kind+"\n  "+shapeOf(ask[any](t, v, `{"type":%q%s}`, kind, rest)))
	}
	sort.Strings(got)
	golden(t, "testdata/shapes.golden", strings.Join(got, "\n")+"\n")
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		must.Do(t, os.MkdirAll("testdata", 0o755))
		must.Do(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want := must.Get(os.ReadFile(path))(t)
	if got != string(want) {
		t.Errorf("%s differs (rewrite with -update):\n%s", path, got)
	}
}
