package perp

import (
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/market"
)

// TestNothingThatIsStoredCountsAsAbsent draws seconds in any order, on top of stored
// ones.
func TestNothingThatIsStoredCountsAsAbsent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		second := rapid.Custom(func(t *rapid.T) int64 { return 1000 * rapid.Int64Range(0, 20_000).Draw(t, "second") })
		all := rapid.SliceOfN(second, 0, 5).Draw(t, "stored before")
		newest := int64(-1)
		for _, s := range all {
			newest = max(newest, s)
		}
		known := newStored(newest)
		for _, s := range rapid.SliceOfN(second, 1, 50).Draw(t, "added") {
			known.add(s)
			all = append(all, s)
			for _, s := range all {
				for _, i := range market.KlineTiers {
					if known.absent(i, i.StartMs(s)) {
						t.Fatalf("the %s of %d is absent: %+v", i, s, known)
					}
				}
			}
		}
	})
}

// TestThePastAsksForNothingBeforeThePresent: of a coin without a row, neither what
// happens now nor the past that is read in its order beside it may be stored.
func TestThePastAsksForNothingBeforeThePresent(t *testing.T) {
	t.Parallel()
	known := newStored(-1)
	const hour = 3_600_000
	now, past := int64(1000*hour), int64(0)
	for range 900 {
		if !known.absent(market.Second1, now) || !known.absent(market.Second1, past) || !known.absent(market.Minute1, past) {
			t.Fatalf("%d or %d may be stored: %+v", now, past, known)
		}
		known.add(now)
		known.add(now - 2000) // late
		known.add(past)
		now, past = now+5000, past+hour
	}
}
