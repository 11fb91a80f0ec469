package dataset

import (
	"context"
	"fmt"
	"time"

	"quotary/shared/market"
	"quotary/shared/store"
)

// Series describes rows of time buckets, each of which is a T, by a key (a coin)
// and an interval.
type Series[T any] struct {
	Name   string
	Append func(b []byte, value *T) []byte // the body
	Decode func(body []byte) (T, error)
}

// Bucket is one stored row.
type Bucket[T any] struct {
	Start time.Time
	Value T
}

// Key names the series of a coin in an interval.
func (s Series[T]) Key(coin string, i market.Interval) store.SeriesKey {
	return store.SeriesKey{Name: s.Name, Key: coin, Interval: i.String()}
}

// At is the key of the bucket that opens at start, ms.
func (s Series[T]) At(coin string, i market.Interval, start int64) store.SeriesAt {
	return store.SeriesAt{SeriesKey: s.Key(coin, i), Time: time.UnixMilli(start).UTC()}
}

// Row is the row of the bucket that opens at start, ms; size is about how long
// its body gets, in bytes.
func (s Series[T]) Row(coin string, i market.Interval, start int64, value *T, size int) store.SeriesRow {
	return store.SeriesRow{
		SeriesKey: s.Key(coin, i),
		Point:     store.Point{Time: time.UnixMilli(start).UTC(), Body: s.Append(make([]byte, 0, size), value)},
	}
}

// Range selects the buckets that open in a time. The zero value selects all.
type Range struct {
	From, To time.Time // from inclusive, to exclusive; either is open when zero
	Limit    int       // buckets at most, the oldest or, with Newest, the newest; 0 is all of them
	Newest   bool
}

// Read returns the buckets that r selects, oldest first.
func (s Series[T]) Read(ctx context.Context, series *store.Series, coin string, i market.Interval, r Range) ([]Bucket[T], error) {
	key := s.Key(coin, i)
	points, err := series.Range(ctx, key, r.From, r.To, r.Limit, r.Newest)
	if err != nil {
		return nil, err
	}
	buckets := make([]Bucket[T], len(points))
	for n, p := range points {
		value, err := s.Decode(p.Body)
		if err != nil {
			return nil, fmt.Errorf("read %s at %s: %w", key, p.Time.Format(time.RFC3339), err)
		}
		buckets[n] = Bucket[T]{p.Time, value}
	}
	return buckets, nil
}

// Values are the values of buckets.
func Values[T any](buckets []Bucket[T], err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	values := make([]T, len(buckets))
	for i := range buckets {
		values[i] = buckets[i].Value
	}
	return values, nil
}

// maxSamples bounds the buckets of a window of samples: it is read from the
// finest tier in which it has no more. In the coarsest, 180 days have 1,080.
const maxSamples = 1000

// SampleTier is the tier from which a window of samples is read.
func SampleTier(window time.Duration) market.Interval {
	for _, tier := range market.SampleTiers {
		if window.Milliseconds() <= maxSamples*(tier.NextMs(0)-tier.StartMs(0)) {
			return tier
		}
	}
	return market.SampleTiers[len(market.SampleTiers)-1]
}

// Samples returns the samples of a coin that were taken since a window before
// now, oldest first, in the tier that suits the window.
func (s Series[T]) Samples(ctx context.Context, series *store.Series, coin string, now time.Time, window time.Duration) ([]T, error) {
	return Values(s.Read(ctx, series, coin, SampleTier(window), Range{From: now.Add(-window)}))
}
