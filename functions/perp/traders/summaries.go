package main

import (
	"context"
	"iter"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/accountstats"
	"quotary/shared/market"
	"quotary/shared/service/accountlookup"
)

// accountSummaries sums up what accounts hold.
func (r *reader) accountSummaries(ctx context.Context, in catalog.AccountsIn) ([]catalog.AccountSummary, error) {
	rows := []catalog.AccountSummary{}
	return rows, r.each(ctx, in.Addresses, false, func(row catalog.AccountSummary, _ *accountstats.WithCurve) error {
		rows = append(rows, row)
		return nil
	})
}

// traderStatistics sums up what accounts hold and how they traded in a window.
func (r *reader) traderStatistics(ctx context.Context, in catalog.TraderStatisticsIn) ([]catalog.TraderStatisticsRow, error) {
	from, now := accountlookup.Days(api.Now(ctx), int64(in.Period))
	rows := []catalog.TraderStatisticsRow{}
	return rows, r.each(ctx, in.Addresses, in.PnlList, func(a catalog.AccountSummary, stats *accountstats.WithCurve) error {
		row := catalog.TraderStatisticsRow{
			Address: a.Address, CurrentPosition: a.CurrentPosition, EffLeverage: a.EffLeverage, LastOperationAt: a.LastOperationAt, Leverage: a.Leverage,
			MarginUsage: a.MarginUsage, MarginUsageRate: a.MarginUsageRate, PerpValue: a.PerpValue, SpotValue: a.SpotValue, TotalValue: a.TotalValue,
		}
		if stats.TraderStats == nil {
			rows = append(rows, row)
			return nil
		}
		sum := stats.All.Sum
		if in.Period > 0 {
			var unknown []market.Span
			sum, unknown = stats.Within(from, now)
			for _, span := range unknown {
				if err := r.eachTrade(ctx, a.Address, span, sum.Add); err != nil {
					return err
				}
			}
		}
		row.AvgHoldingSec, row.Positions, row.ProfitPositions = new(sum.AverageDuration()/secondMs), new(sum.Count()), new(sum.Wins())
		row.RealizedPnl, row.LongPnl, row.ShortPnl = new(market.Text(sum.Pnl())), new(market.Text(sum.Long.Pnl)), new(market.Text(sum.Short.Pnl))
		row.WinRate, row.LongWr, row.ShortWr = new(sum.WinRate()), new(sum.Long.WinRate()), new(sum.Short.WinRate())
		row.PnlList = new([]catalog.PnlPoint{})
		if in.PnlList {
			row.PnlList = accountlookup.PnlList(stats, from, now)
		}
		row.Since = accountlookup.Later(stats.Began, from)
		rows = append(rows, row)
		return nil
	})
}

// each gives accounts to use, in the order of the addresses, each once: one that is not known
// in time without statistics. Curves are read where curves says so.
func (r *reader) each(ctx context.Context, addresses []catalog.Address, curves bool, use func(catalog.AccountSummary, *accountstats.WithCurve) error) error {
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
	stats, stop := iter.Pull2(accountstats.ReadWhole(ctx, r.series, known, curves))
	defer stop()
	for address, account := range v.Each() {
		if account == nil {
			if err := use(catalog.AccountSummary{Address: address}, new(accountstats.WithCurve)); err != nil {
				return err
			}
			continue
		}
		of, err, _ := stats()
		if err != nil {
			return err
		}
		row := summary(&v, account)
		if of.TraderStats != nil && of.LastOperation > 0 {
			row.LastOperationAt = new(of.LastOperation)
		}
		if err := use(row, &of); err != nil {
			return err
		}
	}
	return nil
}

// summary is what an account holds in all dexes.
func summary(v *accountlookup.Valuation, a *market.Account) catalog.AccountSummary {
	s := v.Summary(a)
	total, known := s.Total()
	row := catalog.AccountSummary{
		Address: a.Address, CurrentPosition: new(s.Long.Count + s.Short.Count), MarginUsage: market.TextOrNull(s.MarginKnown, s.MarginUsed),
		PerpValue: market.TextOrNull(s.PerpKnown, s.Perp), SpotValue: market.TextOrNull(s.SpotKnown, s.Spot), TotalValue: market.TextOrNull(known, total),
	}
	row.EffLeverage = textOrNull(s.EffLeverage())
	row.MarginUsageRate = textOrNull(s.MarginUsage())
	row.Leverage = textOrNull(s.Leverage())
	return row
}

func textOrNull(d market.Decimal, known bool) *string { return market.TextOrNull(known, d) }
