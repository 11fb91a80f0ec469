package main

import (
	"context"
	"encoding/json"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/market"
)

// clearinghouseState is the perp side of an account in a dex, at the mark prices that are known.
func (i *info) clearinghouseState(ctx context.Context, in *catalog.InfoIn) (json.RawMessage, error) {
	v, account, err := i.accounts.Known(ctx, *in.User)
	if err == nil {
		err = v.HasDex(in.Dex)
	}
	if err != nil {
		return nil, err
	}
	return api.Encode(v.Perps(account, in.Dex))
}

// spotState is the spot balances of an account, with what its open orders reserve; null where
// the venue has not told them.
func (i *info) spotState(ctx context.Context, in *catalog.InfoIn) (json.RawMessage, error) {
	v, account, err := i.accounts.Known(ctx, *in.User)
	if err != nil {
		return nil, err
	}
	orders, err := i.accounts.Reserves(ctx)
	if err != nil {
		return nil, err
	}
	state, err := v.Spot(account, &orders)
	if err != nil {
		return nil, err
	}
	return api.Encode(state)
}

// activeAsset is what an account has set for a perpetual, and its mark price. How much it may
// trade the venue alone knows.
func (i *info) activeAsset(ctx context.Context, in *catalog.InfoIn) (json.RawMessage, error) {
	v, account, err := i.accounts.Known(ctx, *in.User)
	if err != nil {
		return nil, err
	}
	coin := string(*in.Coin)
	px, marked := v.Marks.Px[coin]
	if v.Markets != nil { // before the venue has described them any may be one
		if _, listed := v.Markets.Perps[coin]; !listed {
			return nil, api.BadParameter("unknown coin %s: it must be that of a perpetual", coin)
		}
	}
	asset := catalog.ActiveAsset{User: account.Address, Coin: coin, MarkPx: market.TextOrNull(marked, px)}
	if h, ok := account.Holding(coin); ok && h.Leverage.Value > 0 {
		asset.Leverage = &catalog.AssetLeverage{Type: "cross", Value: h.Leverage.Value}
		if h.Leverage.Isolated {
			asset.Leverage.Type = "isolated"
		}
	}
	return api.Encode(asset)
}
