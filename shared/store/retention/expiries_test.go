package retention_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/store/retention"
)

func TestALongerRetentionKnowsWhatHasExpiredBefore(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, n) }
	var e retention.Expiries
	if !e.Since("fills", day(100)).IsZero() {
		t.Error("something has expired of nothing")
	}
	for n := 50; n <= 100; n++ { // archived every day with 30 days, and then with 90
		e = e.With("fills", retention.Expiry{Days: 30, Before: day(n)})
	}
	e = e.With("fills", retention.Expiry{Days: 90, Before: day(120)})
	for now, want := range map[int]int{100: 70, 129: 99, 130: 100, 131: 100, 190: 100, 191: 101, 300: 120} {
		if got := e.Since("fills", day(now).Add(time.Hour)); !got.Equal(day(want)) {
			t.Errorf("on day %d since %s, want day %d", now, got, want)
		}
	}
	if !e.Since("orders", day(100)).IsZero() {
		t.Error("another dataset expires")
	}
	if diff := cmp.Diff(retention.Expiries{"fills": {{30, day(100)}, {90, day(120)}}}, e); diff != "" {
		t.Error(diff)
	}
	if short := e.With("fills", retention.Expiry{Days: 7, Before: day(121)}); len(short["fills"]) != 1 || len(e["fills"]) != 2 {
		t.Errorf("with a shorter one they are %v, and were %v", short, e)
	}
}

// Whatever retentions follow each other: a day's rows are gone when the shortest that
// they may have been given has passed, and no row that is promised is.
func TestExpiriesPromiseNoRowThatHasExpired(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		var e retention.Expiries
		given := map[time.Time][]int{} // by day
		until := 0
		for range rapid.IntRange(1, 8).Draw(rt, "changes") {
			days, from := rapid.IntRange(1, 40).Draw(rt, "days"), rapid.IntRange(0, until).Draw(rt, "from")
			until += rapid.IntRange(0, 10).Draw(rt, "more")
			e = e.With("fills", retention.Expiry{Days: days, Before: start.AddDate(0, 0, until)})
			for n := from; n < until; n++ {
				day := start.AddDate(0, 0, n)
				given[day] = append(given[day], days)
			}
		}
		now := start.AddDate(0, 0, rapid.IntRange(0, 120).Draw(rt, "now")).Add(7 * time.Hour)
		since := e.Since("fills", now)
		for day, retentions := range given {
			for _, days := range retentions {
				if expires := (retention.Setting{"fills": days}).Expires("fills", day); !day.Before(since) && !expires.After(now) {
					rt.Errorf("the day %s, given %d days, has expired at %s, and can be read since %s", day, days, now, since)
				}
			}
		}
	})
}
