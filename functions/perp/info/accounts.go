package main

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/service/accountlookup"
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
		asset.Leverage = &catalog.AssetLeverage{Type: market.MarginMode(h.Leverage.Isolated), Value: h.Leverage.Value}
	}
	return api.Encode(asset)
}

// portfolio is what an account was worth and earned in each window, in the venue's own shape.
func (i *info) portfolio(ctx context.Context, in *catalog.InfoIn) (json.RawMessage, error) {
	c, err := i.accounts.Curve(ctx, *in.User)
	if err != nil {
		return nil, err
	}
	list := [][2]any{}
	for _, scope := range [...]market.Scope{market.ScopeAll, market.ScopePerp} {
		for _, window := range [...]string{"day", "week", "month", "allTime"} {
			name := window
			if scope == market.ScopePerp {
				name = "perp" + strings.ToUpper(window[:1]) + window[1:]
			}
			list = append(list, [2]any{name, curveOf(ctx, &c, scope, accountlookup.PortfolioDays[window])})
		}
	}
	return api.Encode(list)
}

// portfolioCurve is a window of a portfolio.
type portfolioCurve struct {
	AccountValueHistory [][2]any `json:"accountValueHistory"`
	PnlHistory          [][2]any `json:"pnlHistory"`
	Vlm                 *string  `json:"vlm"`
}

func curveOf(ctx context.Context, c *accountlookup.Curve, s market.Scope, days int64) portfolioCurve {
	of := portfolioCurve{AccountValueHistory: [][2]any{}, PnlHistory: [][2]any{}}
	if c.TraderStats == nil {
		return of
	}
	now, from := api.Now(ctx), time.UnixMilli(0)
	if days > 0 {
		from = now.Add(-time.Duration(days) * 24 * time.Hour)
	}
	w, volume := c.Window(s, days, now.UnixMilli())
	accountlookup.Began(ctx, &w, from.UnixMilli())
	for _, v := range w.Values {
		of.AccountValueHistory = append(of.AccountValueHistory, [2]any{v.Time, market.Text(v.Value.Decimal())})
	}
	for _, v := range market.Earned(w.Values) {
		of.PnlHistory = append(of.PnlHistory, [2]any{v.Time, market.Text(v.Value.Decimal())})
	}
	if volume != nil {
		of.Vlm = new(market.Text(*volume))
	}
	return of
}
