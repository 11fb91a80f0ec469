package market

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"quotary/shared/testing/must"
)

func TestBucketsOpenWhereTheVenueOpensThem(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 15, 23, 59, 59, 999e6, time.UTC) // a Sunday
	for name, want := range map[string]string{
		"1s": "2026-03-15T23:59:59Z", "3s": "2026-03-15T23:59:57Z", "5s": "2026-03-15T23:59:55Z", "10s": "2026-03-15T23:59:50Z",
		"15s": "2026-03-15T23:59:45Z", "30s": "2026-03-15T23:59:30Z", "1m": "2026-03-15T23:59:00Z", "3m": "2026-03-15T23:57:00Z",
		"5m": "2026-03-15T23:55:00Z", "10m": "2026-03-15T23:50:00Z", "15m": "2026-03-15T23:45:00Z", "30m": "2026-03-15T23:30:00Z",
		"1h": "2026-03-15T23:00:00Z", "2h": "2026-03-15T22:00:00Z", "4h": "2026-03-15T20:00:00Z", "8h": "2026-03-15T16:00:00Z",
		"12h": "2026-03-15T12:00:00Z", "1d": "2026-03-15T00:00:00Z", "3d": "2026-03-14T00:00:00Z", "1w": "2026-03-09T00:00:00Z",
		"1M": "2026-03-01T00:00:00Z",
	} {
		i := must.Get(ParseInterval(name))(t)
		if got := i.Start(at).Format(time.RFC3339); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	monday := time.Date(2026, 3, 16, 0, 0, 0, 0, time.UTC)
	if got := Week1.Start(monday); !got.Equal(monday) {
		t.Errorf("a week opens at %s, want Monday 00:00", got)
	}
	if got := Month1.Next(time.Date(2026, 12, 31, 5, 0, 0, 0, time.UTC)); !got.Equal(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("after December comes %s", got)
	}
}

func TestAnUnknownIntervalNamesTheAcceptedOnes(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "1S", "7m", "1y", "1h "} {
		if i, err := ParseInterval(s); err == nil {
			t.Errorf("ParseInterval(%q) = %s, want an error", s, i)
		}
	}
}

func TestBucketsTileTheTimeline(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		i := Interval(rapid.IntRange(int(Second1), int(Month1)).Draw(t, "interval"))
		ms := rapid.Int64Range(-1e12, MaxTime).Draw(t, "ms")
		start, next := i.StartMs(ms), i.NextMs(ms)
		if start > ms || ms >= next {
			t.Fatalf("%s: %d is not in [%d, %d)", i, ms, start, next)
		}
		if i.StartMs(start) != start || i.StartMs(next-1) != start || i.StartMs(next) != next {
			t.Fatalf("%s: [%d, %d) is not one bucket", i, start, next)
		}
		// A bucket is made of whole buckets of the tier it is composed of.
		s := i.StoredAs()
		if s.StartMs(start) != start || s.StartMs(next) != next {
			t.Fatalf("%s: [%d, %d) is not made of whole %s", i, start, next, s)
		}
	})
}

func TestEachTierDividesTheNext(t *testing.T) {
	t.Parallel()
	for _, tiers := range [][]Interval{KlineTiers[:], TopTiers[:]} {
		for k := 1; k < len(tiers); k++ {
			fine, coarse := tiers[k-1], tiers[k]
			start := coarse.StartMs(1773532799991)
			if fine.StartMs(start) != start || fine.StartMs(coarse.NextMs(start)) != coarse.NextMs(start) {
				t.Errorf("%s does not divide %s", fine, coarse)
			}
			if coarse.StoredAs() != coarse {
				t.Errorf("%s is stored as %s", coarse, coarse.StoredAs())
			}
		}
	}
}
