package venue

import (
	"fmt"
	"testing"
	"time"

	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// TestBothSidesOfEveryBookAreSuppliedAfterEveryBlock looks at every book after
// every block of a history and of live flow, with long blocks between, as after a
// suspended machine. A side that is empty for one block starves whoever follows it.
func TestBothSidesOfEveryBookAreSuppliedAfterEveryBlock(t *testing.T) {
	t.Parallel()
	for seed := range testenv.Amount[uint64](2, 20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			supplied(t, Config{Seed: seed + 1, HistoryDays: 1, FillsPerSecond: 60, Modes: seed%2 == 1})
		})
	}
}

// supplied plays a venue's blocks, and requires both sides of every book after each.
func supplied(t *testing.T, cfg Config) {
	t.Helper()
	cfg.Clock = still(noon)
	cfg = must.Get(cfg.withDefaults())(t)
	v := &Venue{cfg: cfg}
	v.hub = newHub(v)
	must.Do(t, v.founding())
	empty := map[string]int{} // blocks, by market
	step := func(to int64) {
		v.eng.step(to)
		for c := range v.eng.books {
			if v.eng.books[c].best(true) == nil || v.eng.books[c].best(false) == nil {
				empty[v.eng.mk[c].Name]++
			}
		}
	}
	step(v.eng.Origin)
	for v.eng.Time < noon.UnixNano() {
		step(v.eng.nextCoarse())
	}
	for range 2 {
		for range testenv.Amount(1500, 9000) { // ten minutes or an hour
			step(v.eng.nextLive(cfg.BlockEvery))
		}
		step(v.eng.Time + int64(20*time.Minute))
	}
	for coin, blocks := range empty {
		t.Errorf("a side of %s was empty after %d of %d blocks", coin, blocks, v.eng.Block)
	}
}
