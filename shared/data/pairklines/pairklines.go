// Package pairklines is the series of K-lines of pairs of centralised exchanges: by
// pair key (btcusdt:binance), in the intervals [market.PairTiers]. A bucket without
// a trade has no row. Bodies are those of package klines, but for tcBuyer, which is 0:
// exchanges do not say in how many trades the taker bought.
//
// K-lines of every other period are composed when they are read.
package pairklines

import (
	"context"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/data/klines"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the series.
const Name = "pairklines"

var series = dataset.Series[market.Candle]{Name: Name, Append: klines.Append, Decode: klines.Decode}

// Key names the series of a pair in one of [market.PairTiers].
func Key(pair string, i market.Interval) store.SeriesKey { return series.Key(pair, i) }

// Row is the row of a candle.
func Row(pair string, i market.Interval, c *market.Candle) store.SeriesRow {
	return series.Row(pair, i, c.OpenTime, c, 320)
}

// Put writes the candles of a pair in an interval, as the ingester writes them.
func Put(ctx context.Context, s *store.Series, pair string, i market.Interval, candles ...market.Candle) error {
	rows := make([]store.SeriesRow, len(candles))
	for n := range candles {
		rows[n] = Row(pair, i, &candles[n])
	}
	return s.Put(ctx, rows)
}

// Newest returns the newest K-lines of a pair that open at or before until: at most
// limit of them, oldest first. A K-line is complete even where its end lies after
// until. Buckets without a trade are left out, and so is the oldest one where what is
// stored begins inside it: history may begin later than trading did.
func Newest(ctx context.Context, s *store.Series, pair string, p market.Period, until time.Time, limit int) ([]market.Candle, error) {
	// Rows enough for limit K-lines, also when every bucket of the tier has a trade.
	rows := limit * p.Parts()
	parts, err := dataset.Values(series.Read(ctx, s, pair, p.StoredAs(), dataset.Range{To: p.Next(until), Limit: rows, Newest: true}))
	if err != nil || len(parts) == 0 {
		return nil, err
	}
	cut := p.StartMs(parts[0].OpenTime) != parts[0].OpenTime
	candles := market.Compose(parts, p.StartMs)
	if cut {
		candles = candles[1:]
	}
	return candles[max(0, len(candles)-limit):], nil
}
