// Package bookdepth is the series of what rested in the order books: samples by
// coin, in the intervals [market.SampleTiers].
package bookdepth

import (
	"context"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the series.
const Name = "bookdepth"

// Sample is what rested in the book of a coin at a time, in base units.
type Sample struct {
	Time      int64  `json:"time"` // of the book, s
	Coin      string `json:"coin"`
	BidVolume string `json:"bidVolume"`
	AskVolume string `json:"askVolume"`
}

// SampleOf is the sample that a book gives.
func SampleOf(b *market.Book) Sample {
	bids, asks := b.Depth()
	return Sample{Time: b.Time / 1000, Coin: b.Coin, BidVolume: market.Text(bids), AskVolume: market.Text(asks)}
}

var series = dataset.Series[Sample]{Name: Name, Append: dataset.AppendJSON[Sample], Decode: dataset.FromJSON[Sample]}

// Row is the row of the bucket that opens at start, ms, in one of
// [market.SampleTiers].
func Row(i market.Interval, start int64, s *Sample) store.SeriesRow {
	return series.Row(s.Coin, i, start, s, 160)
}

// Since returns the samples of a coin that were taken since a window before now,
// oldest first: some hundred of them up to a thousand, the wider the window the
// farther apart.
func Since(ctx context.Context, s *store.Series, coin string, now time.Time, window time.Duration) ([]Sample, error) {
	return series.Samples(ctx, s, coin, now, window)
}
