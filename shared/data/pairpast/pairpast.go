// Package pairpast says of each pair of a centralised exchange how much of its past is
// stored. It is one row of a series for what the ingester reads of a pair together, written
// behind the rows that it speaks of: so a reader of both who reads it first never takes a part
// for all.
package pairpast

import (
	"context"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the series.
const Name = "pairpast"

// What is read of a pair together. Each stands where other series have the width of their
// buckets: all of time is one.
const (
	Klines    = "klines"    // package pairklines
	Contracts = "contracts" // funding rates, open interest and the shares of accounts, of package pairseries
	Trades    = "trades"    // and what else has no past: from when on a pair that clients want is followed
)

// Past is from when on rows of a pair are stored without a gap, by how wide their buckets
// are: ms, 0 where that is all that is ever kept of them.
type Past struct {
	Minutes   int64 `json:"minutes"` // narrower than an hour
	Hours     int64 `json:"hours"`
	FourHours int64 `json:"fourHours"`
	Days      int64 `json:"days"`

	Complete bool `json:"complete"` // nothing more is to be read
}

// Nothing is of a pair of which nothing is stored, or no longer without a gap.
var Nothing = Past{Minutes: market.MaxTime, Hours: market.MaxTime, FourHours: market.MaxTime, Days: market.MaxTime}

// AllStored is of a pair of which all is stored.
var AllStored = Past{Complete: true}

// From is from when on rows of an interval are stored without a gap, ms.
func (p Past) From(i market.Interval) int64 {
	switch width := i.NextMs(0) - i.StartMs(0); {
	case width < market.Hour1.NextMs(0):
		return p.Minutes
	case width < market.Hour4.NextMs(0):
		return p.Hours
	case width < market.Day1.NextMs(0):
		return p.FourHours
	}
	return p.Days
}

func at(pair, what string) store.SeriesAt {
	return store.SeriesAt{SeriesKey: store.SeriesKey{Name: Name, Key: pair, Interval: what}, Time: time.UnixMilli(0).UTC()}
}

// Row is the row of a pair.
func Row(pair, what string, p Past) store.SeriesRow {
	key := at(pair, what)
	return store.SeriesRow{SeriesKey: key.SeriesKey, Point: store.Point{Time: key.Time, Body: dataset.JSON(p)}}
}

// Read returns what is stored of a pair, [Nothing] of one that nobody has asked for.
func Read(ctx context.Context, s *store.Series, pair, what string) (Past, error) {
	point, ok, err := s.Latest(ctx, at(pair, what).SeriesKey)
	if err != nil || !ok {
		return Nothing, err
	}
	return dataset.FromJSON[Past](point.Body)
}
