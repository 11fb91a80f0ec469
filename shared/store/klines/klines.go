// Package klines reads klines of any interval. Some intervals are stored; the
// others are composed here, each of the widest stored one that divides it.
package klines

import (
	"context"
	"fmt"
	"time"

	"quotary/shared/market"
	"quotary/shared/store"
)

// Newest returns the newest klines of a coin that open between from and to,
// both inclusive and open when zero: at most limit of them, oldest first. A
// kline is whole even where its end lies after to. Buckets without a trade are
// left out.
func Newest(ctx context.Context, series *store.Series, coin string, interval market.Interval, from, to time.Time, limit int) ([]market.Candle, error) {
	if !from.IsZero() && !interval.Start(from).Equal(from) {
		from = interval.Next(from)
	}
	if !to.IsZero() {
		to = interval.Next(to)
	}
	// Rows enough for limit klines, also when every bucket of the tier has a
	// trade. When fewer rows make more klines, the oldest may be cut, and falls
	// out below.
	tier := interval.StoredAs()
	rows := limit * int(width(interval)/width(tier))
	key := store.SeriesKey{Name: store.KlineSeries, Key: coin, Interval: tier.String()}
	points, err := series.Range(ctx, key, from, to, rows, true)
	if err != nil {
		return nil, err
	}
	candles, err := compose(interval, points)
	if err != nil {
		return nil, fmt.Errorf("klines of %s: %w", key, err)
	}
	return candles[max(0, len(candles)-limit):], nil
}

// compose folds the points of one tier, oldest first, into klines.
func compose(interval market.Interval, points []store.Point) ([]market.Candle, error) {
	candles := make([]market.Candle, 0, len(points))
	for _, p := range points {
		c, err := market.ParseCandle(p.Body)
		if err != nil {
			return nil, fmt.Errorf("bucket %s: %w", p.Time.Format(time.RFC3339), err)
		}
		open := interval.StartMs(c.OpenTime)
		if last := len(candles) - 1; last >= 0 && candles[last].OpenTime == open {
			candles[last].Merge(&c)
			continue
		}
		c.OpenTime = open
		candles = append(candles, c)
	}
	return candles, nil
}

// width is the longest that a bucket may be, in ms: the month at the epoch has
// 31 days.
func width(i market.Interval) int64 { return i.NextMs(0) - i.StartMs(0) }
