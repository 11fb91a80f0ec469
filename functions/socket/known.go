package main

import (
	"context"
	"errors"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/delivered"
	"quotary/shared/gate/channel"
	"quotary/shared/text/strictjson"
)

// checkMarket refuses a subscription to a coin or of a dex that does not exist. While
// that cannot be found out every one is accepted.
func (s *socket) checkMarket(ctx context.Context, sub *channel.Subscription) error {
	if sub.Coin != "" {
		absent, err := s.coins.Absent(ctx, sub.Coin)
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
	absent, err := s.coins.DexAbsent(ctx, dex)
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

// checkSource refuses a subscription to what this deployment has no source of, as an endpoint of the
// same content is answered: silence would say that nothing happens. What a source is yet to bring is
// accepted, and so is every subscription where that cannot be found out.
func (s *socket) checkSource(ctx context.Context, needs []*catalog.Dataset) error {
	err := s.delivered.Check(ctx, catalog.AllOf(needs...))
	var missing *delivered.Awaited
	switch {
	case err == nil, errors.As(err, &missing) && missing.Configured:
		return nil
	case missing != nil:
		return api.Refuse(catalog.ReasonNotReady, "the subscription is refused: %s", missing.Error())
	}
	s.log.WarnContext(ctx, "cannot look whether there is a source of what is subscribed to: it is accepted", "err", err.Error())
	return nil
}
