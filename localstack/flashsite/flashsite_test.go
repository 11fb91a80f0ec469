package flashsite

import (
	"bytes"
	"testing"
	"time"

	"quotary/shared/data/flashes"
	"quotary/shared/data/members"
	"quotary/shared/source/drop"
)

// Every line is one that the ingester takes, and the drops of an hour are the same.
func TestDropsAreTaken(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 10, 59, 0, 0, time.UTC)
	lines := drop.Encode(Flashes(now))
	if !bytes.Equal(lines, drop.Encode(Flashes(now.Add(-50*time.Minute)))) {
		t.Error("the drops of an hour differ")
	}
	count, ids := map[string]int{}, map[int64]bool{}
	for line := range bytes.Lines(lines) {
		e, err := flashes.Parse(line)
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if ids[e.ID] {
			t.Fatalf("two flashes have the id %d", e.ID)
		}
		ids[e.ID] = true
		count[e.Platform+" "+e.Language]++
	}
	for _, list := range []string{"house en", "house cn", "social en", "social cn"} {
		if count[list] < 50 {
			t.Errorf("%d of %s", count[list], list)
		}
	}
	for line := range bytes.Lines(drop.Encode(Members())) {
		if _, err := members.Parse(line); err != nil {
			t.Errorf("%v: %s", err, line)
		}
	}
}
