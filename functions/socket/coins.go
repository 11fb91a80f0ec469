package main

import (
	"context"

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
