package main

import (
	"context"
	"iter"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/accountstats"
	"quotary/shared/market"
	"quotary/shared/service/accountlookup"
	"quotary/shared/store"
)

// accountSummaries sums up what accounts hold.
func (r *reader) accountSummaries(ctx context.Context, in catalog.AccountsIn) ([]catalog.AccountSummary, error) {
	rows := []catalog.AccountSummary{}
	return rows, r.each(ctx, in.Addresses, accountstats.Read, func(row catalog.AccountSummary, _ *market.TraderStats) error {
		rows = append(rows, row)
		return nil
	})
}

// traderStatistics sums up what accounts hold and how they traded in a window.
func (r *reader) traderStatistics(ctx context.Context, in catalog.TraderStatisticsIn) ([]catalog.TraderStatisticsRow, error) {
	from, now := window(api.Now(ctx), int64(in.Period))
	rows := []catalog.TraderStatisticsRow{}
	read := accountstats.Read
	if in.PnlList {
		read = withCurves
	}
	return rows, r.each(ctx, in.Addresses, read, func(a catalog.AccountSummary, stats *market.TraderStats) error {
		row := catalog.TraderStatisticsRow{
			Address: a.Address, CurrentPosition: a.CurrentPosition, EffLeverage: a.EffLeverage, LastOperationAt: a.LastOperationAt, Leverage: a.Leverage,
			MarginUsage: a.MarginUsage, MarginUsageRate: a.MarginUsageRate, PerpValue: a.PerpValue, SpotValue: a.SpotValue, TotalValue: a.TotalValue,
		}
		if stats == nil {
			rows = append(rows, row)
			return nil
		}
		sum := stats.All.Sum
		valued := now - drawdownDays*dayMs
		if in.Period > 0 {
			var unknown []market.Span
			sum, unknown = stats.Within(from, now)
			for _, span := range unknown {
				if err := r.eachTrade(ctx, a.Address, span, sum.Add); err != nil {
					return err
				}
			}
			valued = max(valued, from)
		}
		row.AvgHoldingSec, row.Positions, row.ProfitPositions = new(sum.AverageDuration()/secondMs), new(sum.Count()), new(sum.Wins())
		row.RealizedPnl, row.LongPnl, row.ShortPnl = new(market.Text(sum.Pnl())), new(market.Text(sum.Long.Pnl)), new(market.Text(sum.Short.Pnl))
		row.WinRate, row.LongWr, row.ShortWr = new(sum.WinRate()), new(sum.Long.WinRate()), new(sum.Short.WinRate())
		if values := stats.Curve.Between(valued, now).Values(nil, market.ScopePerp); !in.PnlList {
			row.PnlList = new([]catalog.PnlPoint{})
		} else if len(values) > 0 {
			row.PnlList = new(points(market.Earned(values)))
		}
		row.Since = later(stats.Began, from)
		rows = append(rows, row)
		return nil
	})
}

// readStats reads how accounts trade, as [accountstats.Read] does.
type readStats = func(context.Context, *store.Series, []string) iter.Seq2[*market.TraderStats, error]

// withCurves reads all points of their curves too.
func withCurves(ctx context.Context, series *store.Series, addresses []string) iter.Seq2[*market.TraderStats, error] {
	return func(yield func(*market.TraderStats, error) bool) {
		for of, err := range accountstats.ReadCurves(ctx, series, addresses) {
			if !yield(of.TraderStats, err) {
				return
			}
		}
	}
}

// each gives accounts to use, in the order of the addresses, each once: one that is not known
// in time without statistics.
func (r *reader) each(ctx context.Context, addresses []catalog.Address, read readStats, use func(catalog.AccountSummary, *market.TraderStats) error) error {
	v, err := r.accounts.Value(ctx, addresses)
	if err != nil {
		return err
	}
	var known []string
	for address, account := range v.Each() {
		if account != nil {
			known = append(known, address)
		}
	}
	stats, stop := iter.Pull2(read(ctx, r.series, known))
	defer stop()
	for address, account := range v.Each() {
		if account == nil {
			if err := use(catalog.AccountSummary{Address: address}, nil); err != nil {
				return err
			}
			continue
		}
		of, err, _ := stats()
		if err != nil {
			return err
		}
		row := summary(&v, account)
		if of != nil && of.LastOperation > 0 {
			row.LastOperationAt = new(of.LastOperation)
		}
		if err := use(row, of); err != nil {
			return err
		}
	}
	return nil
}

// summary is what an account holds in all dexes.
func summary(v *accountlookup.Valuation, a *market.Account) catalog.AccountSummary {
	var used, notional, atSet market.Decimal // USDC; atSet: notional over the leverage that is set
	positions, margins, marked := int64(0), a.Mode.Explained(), true
	for i := range a.Dexes {
		state := v.State(a, a.Dexes[i].Dex)
		for _, p := range state.Positions {
			positions++
			margin, ok := v.Markets.Usd(p.Coin, p.MarginUsed, v.Marks.Px)
			value, _ := v.Markets.Usd(p.Coin, p.PositionValue, v.Marks.Px)
			marked = marked && ok
			margins = margins && p.MarginKnown()
			used, notional = used.Add(margin), notional.Add(value)
			if share, err := value.Div64(uint64(max(0, p.Leverage.Value))); err == nil {
				atSet = atSet.Add(share)
			}
		}
	}
	margins = margins && marked
	perp, perpKnown := a.PerpValue(v.Markets, v.Marks.Px)
	spot, spotKnown := a.SpotValue(v.Markets, v.Marks.Px)
	row := catalog.AccountSummary{
		Address: a.Address, CurrentPosition: &positions, MarginUsage: market.TextOrNull(margins, used),
		PerpValue: market.TextOrNull(perpKnown, perp), SpotValue: market.TextOrNull(spotKnown, spot), TotalValue: market.TextOrNull(perpKnown && spotKnown, perp.Add(spot)),
	}
	if perpKnown && marked {
		row.EffLeverage = over(notional, perp)
	}
	if perpKnown && margins {
		row.MarginUsageRate = over(used, perp)
	}
	if marked && atSet.IsPos() {
		row.Leverage = over(notional, atSet)
	}
	return row
}

// over is a / b rounded to [market.RatioPlaces]: 0 of nothing, and else nil where b is not
// positive.
func over(a, b market.Decimal) *string {
	switch {
	case a.IsZero():
		return new("0.0")
	case !b.IsPos():
		return nil
	}
	return new(market.Text(a.MustDiv(b).RoundHAZ(market.RatioPlaces)))
}
