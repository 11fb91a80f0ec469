package openinterest

import (
	"context"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Sample is the open interest of a coin at a time.
type Sample struct {
	Time          int64  `json:"time"` // ms
	Coin          string `json:"coin"`
	PositionCount int64  `json:"positionCount"`
	LongCount     int64  `json:"longCount"`
	LongPv        string `json:"longPv"`
	TotalPv       string `json:"totalPv"`
	AvgPv         string `json:"avgPv"`
}

// Sample is the sample that c gives at a time, ms; longs are the positions among
// its positions that are long.
func (c *Coin) Sample(ms, longs int64) Sample {
	return Sample{ms, c.Coin, c.PositionCount, longs, c.LongPv, c.TotalPv, c.AvgPv}
}

var series = dataset.Series[Sample]{Name: Name, Append: dataset.AppendJSON[Sample], Decode: dataset.FromJSON[Sample]}

// Row is the row of the bucket that opens at start, ms, in one of
// [market.SampleTiers].
func Row(i market.Interval, start int64, s *Sample) store.SeriesRow {
	return series.Row(s.Coin, i, start, s, 192)
}

// Since returns the samples of a coin that were taken since a window before now,
// oldest first: some hundred of them up to a thousand, the wider the window the
// farther apart.
func Since(ctx context.Context, s *store.Series, coin string, now time.Time, window time.Duration) ([]Sample, error) {
	return series.Samples(ctx, s, coin, now, window)
}
