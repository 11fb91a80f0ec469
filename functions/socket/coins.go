package main

import (
	"context"
	"errors"
	"time"

	"quotary/shared/data/meta"
	"quotary/shared/data/mids"
	"quotary/shared/data/tickers"
	"quotary/shared/gate/channel"
	"quotary/shared/store"
	"quotary/shared/text/strictjson"
)

// coins knows which coins there are: those with a price, those that have traded, and
// those that the venue describes.
type coins struct {
	mids    *store.View[mids.View]
	tickers *store.View[tickers.View]
	meta    *store.View[meta.View]
}

func openCoins(views *store.Views, clock func() time.Time) *coins {
	return &coins{mids.Published.Open(views, clock), tickers.Published.Open(views, clock), meta.Published.Open(views, clock)}
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
	if _, ok := traded.Lookup(coin); ok {
		return false, nil
	}
	described, err := c.meta.Get(ctx)
	if err != nil {
		return false, unlessUnpublished(err)
	}
	return !described.Describes(coin), nil
}

// dexAbsent reports whether it is certain that there is no such dex.
func (c *coins) dexAbsent(ctx context.Context, dex string) (bool, error) {
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

// checkMarket refuses a subscription to a coin or of a dex that does not exist. While
// that cannot be found out every one is accepted.
func (s *socket) checkMarket(ctx context.Context, sub *channel.Subscription) error {
	if sub.Coin != "" {
		absent, err := s.coins.absent(ctx, sub.Coin)
		if s.certain(ctx, absent, err) {
			return strictjson.Errorf("there is no coin %q: coin must be a name as GET /upgrade/v2/hl/tickers lists it (for example BTC, dex:GOLD, PURR/USDC, @107 or #12)", sub.Coin)
		}
	}
	return s.checkDex(ctx, sub.Dex)
}

func (s *socket) checkDex(ctx context.Context, dex string) error {
	if dex == "" {
		return nil
	}
	absent, err := s.coins.dexAbsent(ctx, dex)
	if s.certain(ctx, absent, err) {
		return strictjson.Errorf("unknown dex %q: it must be the name of a perpetual dex, or absent for the main one", dex)
	}
	return nil
}

// certain reports whether something is known to be absent.
func (s *socket) certain(ctx context.Context, absent bool, err error) bool {
	if err != nil {
		s.log.WarnContext(ctx, "cannot look whether a coin or dex exists: it is accepted", "err", err.Error())
	}
	return absent && err == nil
}
