package hyperliquid

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"quotary/shared/market"
	"quotary/shared/venue/wire"
)

// Weights of the requests that concern one account.
const (
	weightState  = 2  // clearinghouseState
	weightOrders = 20 // frontendOpenOrders
	weightLedger = 70 // userNonFundingLedgerUpdates: 20, and 1 for every 20 of up to about 1,000 items
)

// ClearinghouseState returns the margin and positions of an account on a dex,
// "" for the main one, as the venue wrote them, but for what is hidden.
func (i *Info) ClearinghouseState(ctx context.Context, user, dex string) (json.RawMessage, error) {
	return i.written(ctx, weightState, infoRequest{Type: "clearinghouseState", User: user, Dex: dex})
}

// OpenOrders returns the open orders of an account on a dex, each as the venue
// wrote it, but for what is hidden.
func (i *Info) OpenOrders(ctx context.Context, user, dex string) ([]json.RawMessage, error) {
	return i.writtenList(ctx, weightOrders, infoRequest{Type: "frontendOpenOrders", User: user, Dex: dex})
}

// SpotBalances returns the spot balances of an account, and whether the venue shows them as
// balances that stand behind positions.
func (i *Info) SpotBalances(ctx context.Context, user string) (balances []market.SpotBalance, joint bool, err error) {
	var raw json.RawMessage
	if err := i.ask(ctx, weightState, infoRequest{Type: "spotClearinghouseState", User: user}, &raw); err != nil {
		return nil, false, err
	}
	return wire.ParseSpotBalances(raw)
}

// Mode returns how the money of an account stands behind its positions.
func (i *Info) Mode(ctx context.Context, user string) (market.Mode, error) {
	var raw json.RawMessage
	if err := i.ask(ctx, weightMode, infoRequest{Type: "userAbstraction", User: user}, &raw); err != nil {
		return market.ModeUnknown, err
	}
	return wire.ParseMode(raw)
}

// Portfolio returns what an account was worth until now, as the venue tells it.
func (i *Info) Portfolio(ctx context.Context, user string) (market.VenueCurve, error) {
	var raw json.RawMessage
	if err := i.ask(ctx, weightPortfolio, infoRequest{Type: "portfolio", User: user}, &raw); err != nil {
		return market.VenueCurve{}, err
	}
	return wire.ParsePortfolio(raw)
}

// Leverage returns how an account borrows in a coin, whether it holds any of it or not.
func (i *Info) Leverage(ctx context.Context, user, coin string) (market.Leverage, error) {
	var raw json.RawMessage
	if err := i.ask(ctx, weightLeverage, infoRequest{Type: "activeAssetData", User: user, Coin: coin}, &raw); err != nil {
		return market.Leverage{}, err
	}
	leverage, err := wire.ParseLeverage(raw)
	if err != nil {
		return leverage, fmt.Errorf("%s: %w", coin, err)
	}
	return leverage, nil
}

// LedgerUpdates returns the ledger updates of an account since a time that are
// no funding, oldest first, each as the venue wrote it, {"time","hash","delta"}, but for what is
// hidden.
func (i *Info) LedgerUpdates(ctx context.Context, user string, since time.Time) ([]json.RawMessage, error) {
	return i.writtenList(ctx, weightLedger, infoRequest{Type: "userNonFundingLedgerUpdates", User: user, StartTime: max(1, since.UnixMilli())})
}
