package venue

import (
	"encoding/json"
	"testing"
	"time"

	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

func TestAnAccountsModeIsABareString(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{Modes: true}, 0)
	seen := map[string]int{}
	for u := range v.eng.prof {
		seen[ask[string](t, v, `{"type":"userAbstraction","user":%q}`, v.eng.prof[u].Addr)]++
	}
	for _, name := range modeNames {
		if n := seen[name]; n == 0 || name == "dexAbstraction" && n != 1 {
			t.Errorf("%d accounts are %s", n, name)
		}
	}
	if got := ask[string](t, v, `{"type":"userAbstraction","user":%q}`, "0x00000000000000000000000000000000000000ff"); got != "default" {
		t.Errorf("a stranger is %s", got)
	}
}

func TestWithoutModesEveryAccountIsStandard(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{}, 0)
	for u := range v.eng.prof {
		if got := ask[string](t, v, `{"type":"userAbstraction","user":%q}`, v.eng.prof[u].Addr); got != "default" {
			t.Fatalf("%s is %s", v.eng.prof[u].Addr, got)
		}
	}
}

func TestMoneyIsConservedExactlyInEveryMode(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range testenv.Amount[uint64](3, 30) {
		e := newEngine(seed+1, 120, Config{FillsPerSecond: 60, HistoryFills: 600, JumpEvery: time.Hour}.rates(), true)
		step := func(to int64) {
			e.step(to)
			if err := e.audit(); err != nil {
				t.Fatalf("seed %d, block %d: %v", seed+1, e.Block, err)
			}
			for u := range e.Acc {
				a := &e.Acc[u]
				for d := range e.dexes {
					if a.Mode.unified() && *a.cash(d) != 0 {
						t.Fatalf("trader %d is %s and has cash in a dex", u, a.Mode)
					}
				}
			}
			for _, l := range e.out.ledgers {
				var d struct{ Type, Operation string }
				must.Do(t, json.Unmarshal([]byte(l.Rec.Delta), &d))
				seen[d.Type+d.Operation]++
			}
			for _, f := range e.out.forced {
				seen["liquidation "+e.Acc[f.User].Mode.String()]++
			}
		}
		step(noon.UnixNano())
		for range testenv.Amount(60, 600) { // hours
			for range 20 {
				step(e.nextLive(400 * time.Millisecond))
			}
			for range 12 {
				step(e.nextCoarse())
			}
		}
		for u := range e.Acc {
			seen["changes"] += int(e.Acc[u].ModeChanges)
		}
	}
	for _, what := range []string{"deposit", "withdraw", "spotTransfer", "send", "borrowLendsupply", "borrowLendwithdraw",
		"borrowLendborrow", "borrowLendrepay", "activateDexAbstraction", "simulatedGrant", "changes",
		"liquidation default", "liquidation unifiedAccount", "liquidation portfolioMargin"} {
		if seen[what] == 0 {
			t.Errorf("no %s in %v", what, seen)
		}
	}
	t.Log(seen)
}
