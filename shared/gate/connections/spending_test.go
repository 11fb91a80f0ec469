package connections_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"quotary/shared/gate/connections"
	"quotary/shared/testing/must"
)

// TestWhatAllConnectionsCostIsBoundedByTheMinute spends 100 units an event, which several
// instances take in turn.
func TestWhatAllConnectionsCostIsBoundedByTheMinute(t *testing.T) {
	t.Parallel()
	const instances, most, each = 4, 200_000, 500
	for name, tt := range map[string]struct {
		key, distributor int64
		keys             int // that spend in turn
		found, after     int64
	}{
		"one key":                 {most, 0, 1, most, most + instances*25_500},
		"many keys":               {most, 0, 20, 0, 0},
		"many of one distributor": {most, most, 20, most, most + instances*25_500},
		"no bound":                {0, 0, 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			var all []*connections.Spending
			for range instances {
				all = append(all, &connections.Spending{Key: tt.key, Distributor: tt.distributor, Store: w.Store})
			}
			spend := func(n int) error {
				s, accessKey := all[n%instances], fmt.Sprint("key", n%tt.keys)
				err := s.Check(t.Context(), accessKey, "distributor")
				s.Add(accessKey, "distributor", each)
				return err
			}
			n := 0
			var err error
			for ; n < 1000 && err == nil; n++ {
				err = spend(n)
			}
			spent := int64(n * each)
			switch flood := errors.Is(err, connections.ErrFlood); {
			case err != nil && !flood:
				t.Fatal(err)
			case flood != (tt.found > 0), flood && (spent < tt.found || spent > tt.after):
				t.Errorf("after %d units: %v", spent, err)
			}
			must.Do(t, all[0].Check(t.Context(), "other", "another"))
			w.clock.Move(time.Minute)
			for n := range 8 {
				must.Do(t, spend(n))
			}
		})
	}
}
