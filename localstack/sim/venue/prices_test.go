package venue

import (
	"testing"

	"quotary/localstack/sim/prices"
	"quotary/shared/testing/must"
)

// Who looks at the simulated exchange beside the venue sees one market.
func TestMarksStayAroundThePricesOfTheCoins(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		v := must.Get(Open(Config{Seed: seed + 1, Traders: 40, HistoryDays: 5, Clock: still(noon)}))(t)
		for c := range v.eng.mk {
			m := &v.eng.mk[c]
			if m.walk == nil {
				continue
			}
			mark, want := v.eng.Mk[c].Mark, m.walk(noon.UnixMilli())
			if off := (mark - want) * 1000 / want; off > 100 || off < -100 {
				t.Errorf("seed %d: %s is at %d, the coin at %d", seed+1, m.Name, mark, want)
			}
		}
		now, dayAgo, before := v.MarksAt(noon), v.MarksAt(noon.AddDate(0, 0, -1)), v.MarksAt(noon.AddDate(0, 0, -30))
		if _, _, prev := v.eng.day(0); now["BTC"] != dec(v.eng.Mk[0].Mark, v.eng.mk[0].PxDec) || dayAgo["BTC"] != dec(prev, v.eng.mk[0].PxDec) || len(before) > 0 {
			t.Errorf("seed %d: BTC is at %s, a day ago at %s, which the venue calls %d, and before its history %v", seed+1, now["BTC"], dayAgo["BTC"], prev, before)
		}
		if btc := prices.WalkOf(seed+1, "BTC").At(noon.UnixMilli(), 1); v.eng.mk[0].walk(noon.UnixMilli()) != btc {
			t.Errorf("BTC walks elsewhere than %d", btc)
		}
		must.Do(t, v.Close())
	}
}
