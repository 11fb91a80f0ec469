// Package listed tells which coins and dexes the venue has, by the views of its prices,
// of its trades and of its descriptions of markets.
package listed

import (
	"context"
	"errors"
	"time"

	"quotary/shared/data/meta"
	"quotary/shared/data/mids"
	"quotary/shared/data/tickers"
	"quotary/shared/store"
)

// Coins knows which coins there are: those with a price, those that have traded, and
// those that the venue describes.
type Coins struct {
	mids    *store.View[mids.View]
	tickers *store.View[tickers.View]
	meta    *store.View[meta.View]
}

// Open returns the coins of the published views.
func Open(views *store.Views, clock func() time.Time) *Coins {
	return &Coins{mids.Published.Open(views, clock), tickers.Published.Open(views, clock), meta.Published.Open(views, clock)}
}

// Absent reports whether it is certain that there is no such coin. Nothing is while
// the venue's lists have not been published.
func (c *Coins) Absent(ctx context.Context, coin string) (bool, error) {
	prices, err := c.mids.Get(ctx)
	if err != nil {
		return false, unlessUnpublished(err)
	}
	for _, ofDex := range prices.Mids {
		if _, ok := ofDex[coin]; ok {
			return false, nil
		}
	}
	traded, err := c.tickers.Get(ctx)
	if unlessUnpublished(err) != nil {
		return false, err
	}
	if _, ok := traded.Lookup(coin); ok {
		return false, nil
	}
	described, err := c.meta.Get(ctx)
	if err != nil {
		return false, unlessUnpublished(err)
	}
	return !described.Describes(coin), nil
}

// DexAbsent reports whether it is certain that there is no such dex.
func (c *Coins) DexAbsent(ctx context.Context, dex string) (bool, error) {
	described, err := c.meta.Get(ctx)
	if err != nil {
		return false, unlessUnpublished(err)
	}
	_, known := described.Perps[dex]
	return !known && len(described.Perps) > 0, nil
}

func unlessUnpublished(err error) error {
	if errors.Is(err, store.ErrNoView) {
		return nil
	}
	return err
}
