package main

import (
	"context"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/accountstats"
	"quotary/shared/market"
	"quotary/shared/service/accountlookup"
)

// since is when a curve of one of many accounts begins, where it was asked for from an earlier
// time on.
func since(w *accountstats.Worth, from int64) *string { return accountlookup.Later(w.Since, from) }

// portfolio is what an account was worth and earned in a window, in its two scopes.
func (r *reader) portfolio(ctx context.Context, in catalog.PortfolioIn) ([]catalog.PortfolioScope, error) {
	c, err := r.accounts.Curve(ctx, in.Address)
	if err != nil || c.TraderStats == nil {
		return []catalog.PortfolioScope{}, err
	}
	from, now := accountlookup.Days(api.Now(ctx), accountlookup.PortfolioDays[in.Window])
	list := make([]catalog.PortfolioScope, 0, len(scopes))
	for _, s := range [...]string{"all", "perp"} {
		w, volume := c.Window(scopes[s], accountlookup.PortfolioDays[in.Window], now)
		accountlookup.Began(ctx, &w, from)
		one := catalog.PortfolioScope{Window: in.Window, Scope: s}
		if len(w.Values) > 0 {
			values := accountlookup.Points(w.Values)
			one.Metrics.AccountValueHistory, one.Metrics.PnlHistory = &values, new(accountlookup.Points(market.Earned(w.Values)))
		}
		if volume != nil {
			one.Metrics.Vlm = new(market.Text(*volume))
		}
		list = append(list, one)
	}
	return list, nil
}

var scopes = map[string]market.Scope{"all": market.ScopeAll, "perp": market.ScopePerp}

// pnls is the profit of an account over time.
func (r *reader) pnls(ctx context.Context, in catalog.PnlsIn) ([]catalog.PnlPoint, error) {
	c, err := r.accounts.Curve(ctx, in.Address)
	if err != nil || c.TraderStats == nil {
		return nil, err
	}
	from, now := accountlookup.Days(api.Now(ctx), int64(in.Period))
	w, _ := c.Window(market.ScopeAll, int64(in.Period), now)
	accountlookup.Began(ctx, &w, from)
	if len(w.Values) == 0 {
		return nil, nil
	}
	return accountlookup.Points(market.Earned(w.Values)), nil
}

// batchPnls does so for many accounts, one row an address in their order.
func (r *reader) batchPnls(ctx context.Context, in catalog.BatchPnlsIn) ([]catalog.PnlsRow, error) {
	from, now := accountlookup.Days(api.Now(ctx), int64(in.Period))
	v, err := r.accounts.Value(ctx, in.Addresses)
	if err != nil {
		return nil, err
	}
	rows := []catalog.PnlsRow{}
	for c, err := range r.accounts.Curves(ctx, &v) {
		if err != nil {
			return nil, err
		}
		row := catalog.PnlsRow{Address: c.Address}
		if c.TraderStats != nil && !c.Awaited {
			w, _ := c.Window(scopes[in.Scope], int64(in.Period), now)
			if len(w.Values) > 0 {
				row.Pnls = new(accountlookup.Points(market.Earned(w.Values)))
			}
			row.Since = since(&w, from)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// maxDrawdown is the largest drawdown of an account in a number of days up to now.
func (r *reader) maxDrawdown(ctx context.Context, in catalog.MaxDrawdownIn) (d catalog.Drawdown, err error) {
	from, now := accountlookup.Days(api.Now(ctx), int64(in.Days))
	c, err := r.accounts.Curve(ctx, in.Address)
	if err != nil || c.TraderStats == nil {
		return d, err
	}
	w := c.Worth(nil, market.ScopePerp, from, now)
	accountlookup.Began(ctx, &w, from)
	return drawdown(w.Values), nil
}

// batchMaxDrawdown does so for many accounts, one row an address in their order, at the hours that
// are stored of their curves: to value 2,000 of them until now takes rows beyond what a request
// may read.
func (r *reader) batchMaxDrawdown(ctx context.Context, in catalog.BatchMaxDrawdownIn) ([]catalog.DrawdownRow, error) {
	from, now := accountlookup.Days(api.Now(ctx), int64(in.Days))
	in.Addresses = accountlookup.Distinct(in.Addresses)
	rows := make([]catalog.DrawdownRow, 0, len(in.Addresses))
	var values []market.AccountValue
	var unknown []string
	for c, err := range accountstats.ReadCurves(ctx, r.series, accountlookup.Texts(in.Addresses)) {
		if err != nil {
			return nil, err
		}
		row, w := catalog.DrawdownRow{Address: string(in.Addresses[len(rows)])}, accountstats.Worth{}
		if c.TraderStats != nil {
			w = c.Worth(values[:0], market.ScopePerp, from, now)
			values = w.Values
			row.Drawdown, row.Since = drawdown(w.Values), since(&w, from)
		}
		if w.Since == 0 { // nor is it known without statistics
			unknown = append(unknown, row.Address)
		}
		row.PascalAddress, row.PascalHigh, row.PascalLow, row.PascalMaxDrawdown, row.PascalNetIn = row.Address, row.High, row.Low, row.MaxDrawdown, row.NetIn
		rows = append(rows, row)
	}
	r.accounts.WantAll(ctx, unknown)
	return rows, nil
}

func drawdown(values []market.AccountValue) (d catalog.Drawdown) {
	of, known := market.MaxDrawdown(values)
	if !known {
		return d
	}
	at := func(v market.AccountValue) *catalog.ValueAt {
		return &catalog.ValueAt{Time: catalog.Timestamp(time.UnixMilli(v.Time)), Value: market.Text(v.Value.Decimal())}
	}
	return catalog.Drawdown{
		High: at(of.High), Low: at(of.Low), MaxDrawdown: new(market.Text(of.Part())), NetIn: new(market.Text(of.NetIn.Decimal())),
	}
}
