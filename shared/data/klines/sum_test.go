package klines

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"quotary/shared/market"
)

func TestAWindowIsCoveredOnceByFewBuckets(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := time.UnixMilli(rapid.Int64Range(1_700_000_000_000, 1_800_000_000_000).Draw(t, "now")).UTC()
		back := time.Duration(rapid.Int64Range(1, 60*86_400).Draw(t, "seconds")) * time.Second
		at, rows := market.Second1.Start(now.Add(-back)), 0
		spans := cover(now.Add(-back), now)
		for i, s := range spans {
			if !s.from.Equal(at) || !s.tier.Start(s.from).Equal(s.from) {
				t.Fatalf("span %d of %v begins at %v in %s, want %v", i, s, s.from, s.tier, at)
			}
			end := s.to
			if i == len(spans)-1 {
				if !end.IsZero() {
					t.Fatalf("the last span ends at %v", end)
				}
				end = s.tier.Next(now)
			} else if end.After(now) || !s.tier.Start(end).Equal(end) {
				t.Fatalf("span %d in %s ends at %v", i, s.tier, end)
			}
			for ; at.Before(end); at = s.tier.Next(at) {
				rows++
			}
		}
		if rows > 60 {
			t.Fatalf("%d rows", rows)
		}
	})
}
