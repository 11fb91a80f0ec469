// Package pairklines is the series of K-lines of pairs of centralised exchanges: by
// pair key (btcusdt:binance), in the intervals [market.PairTiers]. A bucket without
// a trade has no row. Bodies are those of package klines, but for tcBuyer, which is 0:
// exchanges do not say in how many trades the taker bought.
//
// K-lines of every other period are composed when they are read, of rows of the
// [market.Period.StoredAs]. They reach as far back as these do: rows of a day and of
// four hours to the pair's first trade, those below for as many days as are filled
// back.
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

// Newest returns the newest K-lines of a pair that open at or before until: at most
// limit of them, oldest first. A K-line is complete even where its end lies after
// until. Buckets without a trade are left out, and so is the oldest one where what is
// stored begins inside it but trading did not.
func Newest(ctx context.Context, s *store.Series, pair string, p market.Period, until time.Time, limit int) ([]market.Candle, error) {
	return newest(p, until, limit, func(tier market.Interval, r dataset.Range) ([]market.Candle, error) {
		return dataset.Values(series.Read(ctx, s, pair, tier, r))
	})
}

// NewestOfPerp returns the same of a coin of the perpetual exchange, whose klines are those
// of package klines: [market.PairTiers] are among their intervals.
func NewestOfPerp(ctx context.Context, s *store.Series, coin string, p market.Period, until time.Time, limit int) ([]market.Candle, error) {
	return newest(p, until, limit, func(tier market.Interval, r dataset.Range) ([]market.Candle, error) {
		return klines.Read(ctx, s, coin, tier, r)
	})
}

// newest composes K-lines of the rows that read returns.
func newest(p market.Period, until time.Time, limit int, read func(market.Interval, dataset.Range) ([]market.Candle, error)) ([]market.Candle, error) {
	// Rows enough for limit K-lines, also when every bucket of the tier has a trade.
	rows := limit * p.Parts()
	parts, err := read(p.StoredAs(), dataset.Range{To: p.Next(until), Limit: rows, Newest: true})
	if err != nil || len(parts) == 0 {
		return nil, err
	}
	first := parts[0].OpenTime
	begins := len(parts) < rows && p.StartMs(first) != first // all rows are read, and the first is inside a bucket
	candles := market.Compose(parts, p.StartMs)
	if len(candles) > limit {
		return candles[len(candles)-limit:], nil
	}
	if begins {
		// Whether it was traded before that UTC day: all days are stored, and every tier
		// holds whole days.
		before, err := read(market.Day1, dataset.Range{To: time.UnixMilli(market.Day1.StartMs(first)), Limit: 1, Newest: true})
		if err != nil {
			return nil, err
		}
		if len(before) > 0 {
			candles = candles[1:]
		}
	}
	return candles, nil
}
