package main

import (
	"context"
	"errors"
	"time"

	"quotary/shared/channel"
	"quotary/shared/data/meta"
	"quotary/shared/data/mids"
	"quotary/shared/data/tickers"
	"quotary/shared/store"
	"quotary/shared/strictjson"
)

// coins knows which coins there are: those with a price, those that have traded, and
// those that the venue describes.
type coins struct {
	mids    *store.View[mids.View]
	tickers *store.View[tickers.View]
	meta    *store.View[meta.View]
}

func openCoins(views *store.Views, clock func() time.Time) *coins {
	return &coins{mids.Open(views, clock), tickers.Open(views, clock), meta.Open(views, clock)}
}

// absent reports whether it is certain that there is no such coin. Nothing is while
// the venue's lists have not been published.
func (c *coins) absent(ctx context.Context, coin string) (bool, error) {
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
	if _, ok := traded.Of(coin); ok {
		return false, nil
	}
	described, err := c.meta.Get(ctx)
	if err != nil {
		return false, unlessUnpublished(err)
	}
	return !described.Describes(coin), nil
}

func unlessUnpublished(err error) error {
	if errors.Is(err, store.ErrNoView) {
		return nil
	}
	return err
}

// checkCoin refuses a subscription to a coin that does not exist. While that cannot be
// found out every coin is accepted.
func (s *socket) checkCoin(ctx context.Context, sub *channel.Subscription) error {
	if sub.Coin == "" {
		return nil
	}
	absent, err := s.coins.absent(ctx, sub.Coin)
	if err != nil {
		s.log.WarnContext(ctx, "cannot look whether a coin exists: it is accepted", "err", err.Error())
		return nil
	}
	if absent {
		return strictjson.Errorf("there is no coin %q: coin must be a name as GET /upgrade/v2/hl/tickers lists it (for example BTC, dex:GOLD, PURR/USDC, @107 or #12)", sub.Coin)
	}
	return nil
}
