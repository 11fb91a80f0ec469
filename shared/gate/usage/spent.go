package usage

import (
	"time"

	"quotary/shared/lru"
)

// SpentFor is for how long an instance refuses the requests of a month that it has seen
// used up without asking again. What it refunds itself is served at once, what another
// instance refunds up to so much later; a higher cap counts at once.
const SpentFor = 10 * time.Second

// spentMonths remembers the items whose month is used up. Forgetting costs a write at most.
type spentMonths struct{ byKey lru.Cache[string, spentMonth] }

// spentMonth is a month of an item of which a cap, or a lower one, leaves nothing.
type spentMonth struct {
	quota int64
	until time.Time
}

// has reports whether nothing is known to be left of an item's month under a cap; 0 is
// none.
func (s *spentMonths) has(pk string, quota int64, now time.Time) bool {
	if quota == 0 {
		return false
	}
	seen, ok := s.byKey.Get(pk)
	return ok && quota <= seen.quota && now.Before(seen.until)
}

// set remembers what a charge found, until the month ends at the latest.
func (s *spentMonths) set(ch *charge) {
	until := ch.at.Add(SpentFor)
	if ends := MonthEnd(ch.at); ends.Before(until) {
		until = ends
	}
	s.byKey.Set(ch.pk, spentMonth{ch.quota, until})
}

// forget drops what was seen, which a refund has changed.
func (s *spentMonths) forget(pk string) { s.byKey.Delete(pk) }
