package market

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"quotary/shared/testing/must"
)

func TestWhenThePeriodsOfPairsOpen(t *testing.T) {
	t.Parallel()
	const at = "2026-03-12T17:35:10Z" // a Thursday; Friday 01:35 in Beijing
	for _, c := range []struct {
		seconds int64
		opens   DayOpen
		want    string
		tier    Interval
	}{
		{60, OpenBeijing0, "2026-03-12T17:35:00Z", Minute1},
		{180, OpenBeijing0, "2026-03-12T17:33:00Z", Minute1},
		{1800, OpenBeijing8, "2026-03-12T17:30:00Z", Minute15},
		{7200, OpenBeijing0, "2026-03-12T16:00:00Z", Hour1},
		{14400, OpenBeijing0, "2026-03-12T16:00:00Z", Hour4},
		{21600, OpenBeijing0, "2026-03-12T16:00:00Z", Hour1},
		{21600, OpenBeijing8, "2026-03-12T12:00:00Z", Hour1},
		{43200, OpenBeijing0, "2026-03-12T16:00:00Z", Hour4},
		{43200, OpenBeijing8, "2026-03-12T12:00:00Z", Hour4},
		{86400, OpenBeijing0, "2026-03-12T16:00:00Z", Hour4},
		{86400, OpenBeijing8, "2026-03-12T00:00:00Z", Day1},
		{259200, OpenBeijing0, "2026-03-11T16:00:00Z", Hour4},
		{259200, OpenBeijing8, "2026-03-12T00:00:00Z", Day1},
		{604800, OpenBeijing0, "2026-03-08T16:00:00Z", Hour4},
		{604800, OpenBeijing8, "2026-03-09T00:00:00Z", Day1},
		{2592000, OpenBeijing0, "2026-03-01T00:00:00Z", Day1},
		{2592000, OpenBeijing8, "2026-03-01T00:00:00Z", Day1},
	} {
		p := must.Get(NewPeriod(c.seconds, c.opens))(t)
		moment, _ := time.Parse(time.RFC3339, at)
		if got := time.UnixMilli(p.StartMs(moment.UnixMilli())).UTC().Format(time.RFC3339); got != c.want {
			t.Errorf("%d s with opening %d: the bucket opens at %s, want %s", c.seconds, c.opens, got, c.want)
		}
		if p.StoredAs() != c.tier {
			t.Errorf("%d s with opening %d is composed of %s, want %s", c.seconds, c.opens, p.StoredAs(), c.tier)
		}
	}
}

func TestNoStoredBucketOfAPairLiesInTwoPeriods(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := must.Get(NewPeriod(rapid.SampledFrom(periods[:]).Draw(t, "seconds"), rapid.SampledFrom([]DayOpen{OpenBeijing0, OpenBeijing8}).Draw(t, "opens")))(t)
		ms := rapid.Int64Range(1_500_000_000_000, 1_900_000_000_000).Draw(t, "ms")
		tier := p.StoredAs()
		first, last := tier.StartMs(ms), tier.NextMs(ms)-1
		if p.StartMs(first) != p.StartMs(last) {
			t.Fatalf("the %s bucket of %d lies in two buckets", tier, ms)
		}
		next := p.Next(time.UnixMilli(ms)).UnixMilli()
		if p.StartMs(next) != next || p.StartMs(next-1) != p.StartMs(ms) {
			t.Fatalf("the bucket of %d does not end at %d", ms, next)
		}
		if parts := (next - p.StartMs(ms)) / intervals[tier].width; parts > int64(p.Parts()) {
			t.Fatalf("%d parts, said to be at most %d", parts, p.Parts())
		}
	})
}

// The oldest of some periods in a row never opens later than Back says.
func TestNoPeriodsInARowOpenLater(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := must.Get(NewPeriod(rapid.SampledFrom(periods[:]).Draw(t, "seconds"), rapid.SampledFrom([]DayOpen{OpenBeijing0, OpenBeijing8}).Draw(t, "opens")))(t)
		until := time.UnixMilli(rapid.Int64Range(1_500_000_000_000, 1_900_000_000_000).Draw(t, "ms"))
		n := rapid.IntRange(1, 40).Draw(t, "n")
		oldest := p.StartMs(until.UnixMilli())
		for range n - 1 {
			oldest = p.StartMs(oldest - 1)
		}
		if back := p.Back(until, n); oldest > back {
			t.Fatalf("%d periods of %d s before %s open at %d, later than %d", n, p.seconds, until.UTC(), oldest, back)
		}
	})
}

func TestAnUnknownPeriodIsRefusedWithThoseThatThereAre(t *testing.T) {
	t.Parallel()
	if _, err := NewPeriod(61, OpenBeijing0); err == nil || err.Error() != "a period of 61 seconds is unknown; accepted are 60, 180, 300, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 259200, 604800, 2592000" {
		t.Errorf("%v", err)
	}
}
