package pairbooks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// SamplesName is that of the series of samples.
const SamplesName = "pairdepth"

// SampleEvery is how far apart samples are: there is one of each such bucket in which the book
// has come, the first of it.
const SampleEvery = market.Second10

// SampleLevels is how many levels of a side a sample has at most.
const SampleLevels = 50

// sample is a book at a time.
type sample struct {
	Time   int64  `json:"time"` // of the exchange, ms
	Levels []byte `json:"levels"`
}

var samples = dataset.Series[sample]{Name: SamplesName, Append: dataset.AppendJSON[sample], Decode: dataset.FromJSON[sample]}

// SampleRow is the row of the best levels of a book; false for one that is lost.
func SampleRow(b *market.PairBook) (store.SeriesRow, bool) {
	levels, ok := pack(b, SampleLevels)
	if b.Lost || !ok {
		return store.SeriesRow{}, false
	}
	return samples.Row(b.Pair, SampleEvery, SampleEvery.StartMs(b.Time), &sample{b.Time, levels}, 1024), true
}

// Samples returns the samples of a pair from a time until another, both inclusive and open
// where they are zero: of more than limit, above 0, the newest or, with oldest, the oldest ones;
// oldest first.
func Samples(ctx context.Context, s *store.Series, pair string, from, to time.Time, limit int, oldest bool) ([]market.PairBook, error) {
	r := dataset.Range{Limit: limit + 1, Newest: !oldest} // as one may be of the bucket and not of the time
	if !from.IsZero() {
		r.From = SampleEvery.Start(from)
	}
	if !to.IsZero() {
		r.To = to.Add(time.Millisecond)
	}
	stored, err := dataset.Values(samples.Read(ctx, s, pair, SampleEvery, r))
	if err != nil {
		return nil, err
	}
	stored = slices.DeleteFunc(stored, func(one sample) bool {
		return !from.IsZero() && one.Time < from.UnixMilli() || !to.IsZero() && one.Time > to.UnixMilli()
	})
	if extra := len(stored) - limit; extra > 0 && oldest {
		stored = stored[:limit]
	} else if extra > 0 {
		stored = stored[extra:]
	}
	books := make([]market.PairBook, len(stored))
	for i, one := range stored {
		books[i] = market.PairBook{Pair: pair, Time: one.Time}
		if books[i].Bids, books[i].Asks, err = unpack(one.Levels); err != nil {
			return nil, fmt.Errorf("read the sample of %s of %d: %w", pair, one.Time, err)
		}
	}
	return books, nil
}
