package perp

import (
	"time"

	"quotary/shared/market"
	"quotary/shared/store"
)

// sampler turns a state that changes all the time into a series: of each coin
// the first sample that is taken in a bucket is its row. A restart forgets which
// buckets have one; theirs is then taken again.
type sampler struct {
	tiers []market.Interval  // the finest first
	taken map[string][]int64 // by coin: start of the newest sampled bucket of each tier, ms
}

func newSampler(tiers ...market.Interval) sampler {
	return sampler{tiers, map[string][]int64{}}
}

// missing reports whether a coin has no sample yet in the finest bucket of now.
func (s *sampler) missing(coin string, now time.Time) bool {
	taken := s.taken[coin]
	return taken == nil || taken[0] < s.tiers[0].StartMs(now.UnixMilli())
}

// add appends the rows of a coin's sample at now; row makes that of one bucket.
func (s *sampler) add(rows []store.SeriesRow, coin string, now time.Time, row func(i market.Interval, start int64) store.SeriesRow) []store.SeriesRow {
	taken := s.taken[coin]
	if taken == nil {
		taken = make([]int64, len(s.tiers))
		s.taken[coin] = taken
	}
	for i, tier := range s.tiers {
		if start := tier.StartMs(now.UnixMilli()); start > taken[i] {
			taken[i] = start
			rows = append(rows, row(tier, start))
		}
	}
	return rows
}
