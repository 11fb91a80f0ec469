package venue

import (
	"maps"
	"slices"
	"testing"
	"time"

	"quotary/shared/testing/testenv"
)

// kindOf names the method and the position of a liquidation.
func kindOf(l *TruthLiquidation) string {
	name := l.Method
	for _, part := range []struct {
		is        bool
		yes, none string
	}{{l.Cross, " cross", " isolated"}, {l.Long, " long", " short"}} {
		if part.is {
			name += part.yes
		} else {
			name += part.none
		}
	}
	return name
}

func TestEveryKindOfLiquidationComesAboutOnceAMinute(t *testing.T) {
	t.Parallel()
	for name, modes := range map[string]bool{"without modes": false, "with modes": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := &Venue{eng: newEngine(4, 400, Config{FillsPerSecond: 15, HistoryFills: 480, JumpEvery: 48 * time.Hour, LiquidateEvery: time.Minute}.rates(), modes)}
			e := v.eng
			step := func(to int64) {
				if e.step(to); e.audit() != nil {
					t.Fatalf("block %d: %v", e.Block, e.audit())
				}
			}
			step(noon.UnixNano())
			for range 60 { // a past, so that there are positions
				step(e.nextCoarse())
			}
			v.eng.noted = nil
			minutes := testenv.Amount(50, 200)
			for began := e.Time; e.Time < began+int64(minutes)*int64(time.Minute); {
				step(e.nextLive(400 * time.Millisecond))
			}
			kinds, orders := map[string]int{}, map[int64]bool{}
			for _, l := range v.Liquidations() {
				kinds[kindOf(&l)]++
				if orders[l.Oid] {
					t.Errorf("order %d is there twice", l.Oid)
				}
				orders[l.Oid] = true
			}
			if len(kinds) != 12 || len(orders) < minutes*3/4 || len(orders) > 3*minutes {
				t.Errorf("%d in %d minutes: %v, %s", len(orders), minutes, kinds, slices.Sorted(maps.Keys(kinds)))
			}
			t.Logf("%d in %d minutes: %v", len(orders), minutes, kinds)
		})
	}
}
