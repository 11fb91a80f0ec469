package klines

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/market"
	"quotary/shared/store"
)

// LastDay answers for the last 24 hours of coins, from the quarter of an hour on that holds
// their beginning. What it has read it keeps for a while, as one coin is a handful of reads.
type LastDay struct {
	series *store.Series
	clock  func() time.Time
	keep   time.Duration

	mu    sync.Mutex
	known map[string]daySum // by coin
}

type daySum struct {
	read   time.Time
	candle market.Candle
}

// daysAtOnce is how many coins are read at a time.
const daysAtOnce = 32

// NewLastDay returns one that keeps what it has read for so long.
func NewLastDay(series *store.Series, clock func() time.Time, keep time.Duration) *LastDay {
	return &LastDay{series: series, clock: clock, keep: keep, known: map[string]daySum{}}
}

// Candles are the candles of coins, side by side with these; one without a trade is empty.
func (d *LastDay) Candles(ctx context.Context, coins []string) ([]market.Candle, error) {
	now := d.clock()
	from := market.Minute15.Start(now.Add(-24 * time.Hour))
	candles := make([]market.Candle, len(coins))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(daysAtOnce)
	for i, coin := range coins {
		if sum, ok := d.get(coin, now); ok {
			candles[i] = sum
			continue
		}
		group.Go(func() (err error) {
			if candles[i], err = Sum(ctx, d.series, coin, from, now); err == nil {
				d.put(coin, daySum{now, candles[i]})
			}
			return err
		})
	}
	return candles, group.Wait()
}

func (d *LastDay) get(coin string, now time.Time) (market.Candle, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	sum, ok := d.known[coin]
	return sum.candle, ok && now.Sub(sum.read) < d.keep
}

func (d *LastDay) put(coin string, sum daySum) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known[coin] = sum
}
