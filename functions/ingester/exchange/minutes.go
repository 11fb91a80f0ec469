package exchange

import (
	"maps"
	"slices"

	"quotary/shared/market"
)

// sums makes one value a minute of the newest values of several pairs: of each coin, or of
// a part of it. It is made when an event of a later minute comes, and stands at the last
// millisecond of the minute that has ended.
//
// A pair whose newest value is older than [valueFor] is left out. So is one that has none
// yet, but only after as long: until then its coin has no value, so that a restart makes
// no dent.
type sums[V any] struct {
	newest map[string]timed[V] // by pair
	began  int64               // time of the first event, at the beginning or after a pause as long as a value is good for, ms
	now    int64               // that of the newest, ms
}

type timed[V any] struct {
	time  int64 // ms
	value V
}

// valueFor is how old a value may be that is summed up, ms.
const valueFor = 600_000

// ended is the end of the minute that events up to a time (ms) have ended since the last
// ones; false where they have ended none.
func (s *sums[V]) ended(newest int64) (ms int64, ok bool) {
	start := market.Minute1.StartMs(newest)
	return start - 1, s.now > 0 && s.now < start
}

// advance notes that events up to a time (ms) have come. Values that are too old by then are
// forgotten: their pairs may never come again.
func (s *sums[V]) advance(newest int64) {
	if _, ended := s.ended(newest); ended {
		maps.DeleteFunc(s.newest, func(_ string, v timed[V]) bool { return newest-v.time > valueFor })
	}
	if newest-s.now > valueFor {
		s.began = newest
	}
	s.now = max(s.now, newest)
}

// add takes a value of a pair.
func (s *sums[V]) add(pair string, ms int64, v V) {
	if s.newest == nil {
		s.newest = map[string]timed[V]{}
	}
	if s.newest[pair].time <= ms {
		s.newest[pair] = timed[V]{ms, v}
	}
}

// at are the values of pairs at a time (ms), by pair; none where one is missing too early.
func (s *sums[V]) at(ms int64, pairs []string) (values []V) {
	for _, pair := range pairs {
		v, ok := s.newest[pair]
		switch {
		case ok && ms-v.time <= valueFor:
			values = append(values, v.value)
		case s.begins(ms):
			return nil
		}
	}
	return values
}

// begins reports whether a value that is missing at a time (ms) may still come.
func (s *sums[V]) begins(ms int64) bool { return ms-s.began <= valueFor }

// coins are the coins of perpetuals, sorted.
func (p *perpetuals) coins() []string { return slices.Sorted(maps.Keys(p.byCoin)) }
