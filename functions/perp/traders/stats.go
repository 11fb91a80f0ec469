package main

import (
	"context"

	"golang.org/x/sync/errgroup"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/accountstats"
	"quotary/shared/market"
	"quotary/shared/service/accountlookup"
)

// addressStats sums up the trades that an account completed in a window.
func (r *reader) addressStats(ctx context.Context, in catalog.AddressStatsIn) (catalog.AddressStatistics, error) {
	from, _ := accountlookup.Days(api.Now(ctx), int64(in.Period))
	if err := r.knownSince(ctx, in.Address, from); err != nil {
		return catalog.AddressStatistics{}, err
	}
	list, err := r.tradeSums(ctx, []catalog.Address{in.Address}, int64(in.Period))
	if err != nil {
		return catalog.AddressStatistics{}, err
	}
	sum := &list[0]
	return catalog.AddressStatistics{
		WinRate: sum.WinRate(), OrderCount: sum.Orders, ClosePosCount: sum.Count(), AvgPosDuration: sum.AverageDuration() / secondMs,
		MaxDrawdown: sum.drawdown, TotalPnl: market.Text(sum.Pnl()),
	}, nil
}

// batchAddressStats does so for many accounts, one row an address in their order.
func (r *reader) batchAddressStats(ctx context.Context, in catalog.BatchAddressStatsIn) ([]catalog.AddressStatisticsRow, error) {
	in.Addresses = accountlookup.Distinct(in.Addresses)
	list, err := r.tradeSums(ctx, in.Addresses, int64(in.Period))
	if err != nil {
		return nil, err
	}
	rows := make([]catalog.AddressStatisticsRow, len(list))
	for i := range list {
		rows[i] = list[i].row(in.Addresses[i])
	}
	return rows, nil
}

// tradeSum is what an account completed in a window, with its drawdown there.
type tradeSum struct {
	market.TradeSum
	drawdown *float64 // nil where the account was not valued in it
	known    bool     // the account is
	since    *string  // from when on, where the window begins before
}

func (s *tradeSum) row(address catalog.Address) catalog.AddressStatisticsRow {
	row := catalog.AddressStatisticsRow{Address: string(address)}
	if s.known {
		row.WinRate, row.OrderCount, row.ClosePosCount = new(s.WinRate()), new(s.Orders), new(s.Count())
		row.AvgPosDuration, row.MaxDrawdown, row.TotalPnl = new(s.AverageDuration()/secondMs), s.drawdown, new(market.Text(s.Pnl()))
		row.Since = s.since
	}
	return row
}

// tradeSums sums up what accounts completed in a number of days up to now, or in all
// time for 0. It reads two rows an account, and of those that traded much at the edge of
// the window the trades there.
func (r *reader) tradeSums(ctx context.Context, addresses []catalog.Address, days int64) ([]tradeSum, error) {
	from, now := accountlookup.Days(api.Now(ctx), days)
	valued := from
	if days == 0 || days > accountlookup.ValuedDays {
		valued = now - accountlookup.ValuedDays*dayMs
	}
	sums := make([]tradeSum, 0, len(addresses))
	var reads []missing
	var unknown []string
	var values []market.AccountValue
	for stats, err := range accountstats.ReadCurves(ctx, r.series, accountlookup.Texts(addresses)) {
		if err != nil {
			return nil, err
		}
		if stats.TraderStats == nil {
			unknown = append(unknown, string(addresses[len(sums)]))
			sums = append(sums, tradeSum{})
			continue
		}
		sum := tradeSum{TradeSum: stats.All.Sum, known: true, since: accountlookup.Later(stats.Began, from)}
		if days > 0 {
			var spans []market.Span
			sum.TradeSum, spans = stats.Within(from, now)
			for _, span := range spans {
				reads = append(reads, missing{len(sums), span})
			}
		}
		values = stats.Curve.Between(valued, now).Values(values[:0], market.ScopePerp)
		if d, known := market.MaxDrawdown(values); known {
			sum.drawdown = &d.Fraction
		}
		sums = append(sums, sum)
	}
	r.accounts.WantAll(ctx, unknown)
	return sums, r.addMissing(ctx, addresses, sums, reads)
}

// missing is a span of an account's completed trades that its row does not tell.
type missing struct {
	account int // its place
	span    market.Span
}

// addMissing adds what the rows do not tell. Spans of one account are read one after
// the other, as they are added to one sum.
func (r *reader) addMissing(ctx context.Context, addresses []catalog.Address, sums []tradeSum, reads []missing) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readsAtOnce)
	for len(reads) > 0 {
		n := 1
		for n < len(reads) && reads[n].account == reads[0].account {
			n++
		}
		of := reads[:n]
		reads = reads[n:]
		group.Go(func() error {
			for _, m := range of {
				if err := r.eachTrade(ctx, string(addresses[m.account]), m.span, sums[m.account].Add); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// statsOf is how an account trades; of an unknown one nothing is known.
func (r *reader) statsOf(ctx context.Context, address string) (market.TraderStats, error) {
	for stats, err := range accountstats.Read(ctx, r.series, []string{address}) {
		if err != nil || stats == nil {
			return market.TraderStats{}, err
		}
		return *stats, nil
	}
	return market.TraderStats{}, nil
}

// Days to which a period of all time is capped, where it is counted by fills and orders.
const behaviorDays = 90

// behaviorMetrics measures how accounts trade, one row an address in their order.
func (r *reader) behaviorMetrics(ctx context.Context, in catalog.BehaviorMetricsIn) ([]catalog.BehaviorMetricsRow, error) {
	now := api.Now(ctx).UnixMilli()
	in.Addresses = accountlookup.Distinct(in.Addresses)
	rows := make([]catalog.BehaviorMetricsRow, 0, len(in.Addresses))
	var unknown []string
	for stats, err := range accountstats.ReadCurves(ctx, r.series, accountlookup.Texts(in.Addresses)) {
		if err != nil {
			return nil, err
		}
		address, row := string(in.Addresses[len(rows)]), catalog.BehaviorMetricsRow{TotalPnl: "0"}
		if stats.TraderStats != nil {
			row = behavior(stats.TraderStats, now, int64(in.Period))
		} else {
			unknown = append(unknown, address)
		}
		row.Address = address
		rows = append(rows, row)
	}
	r.accounts.WantAll(ctx, unknown)
	return rows, nil
}

// behavior measures an account by UTC days: that of now and those before it.
func behavior(stats *market.TraderStats, now, period int64) catalog.BehaviorMetricsRow {
	today := market.DayOf(now)
	days, valuedDays := period, period
	if period == 0 {
		days, valuedDays = behaviorDays, accountlookup.ValuedDays
	}
	begin := today - days + 1
	did := stats.Active(begin, today)
	trades, since := &did.Trades, begin*dayMs
	if period == 0 {
		trades, since = &stats.All.Sum, 0
	}
	row := catalog.BehaviorMetricsRow{
		ProfitLossRatio: did.ProfitLossRatio(), TpslCloseOrderRatio: did.TakeProfitStopShare(), FeeToAvgDepositRatio: did.FeeToDeposits(days),
		TradingActivity: new(did.ActiveShare(days)), AddOnProfitRatio: did.ProfitableAddOnShare(), FillsCount: &did.Fills,
		WinRate: new(trades.WinPercent()), TotalPnl: "0", Since: accountlookup.Later(stats.Began, since), Volume: new(market.Text(did.Volume)), Roi: stats.Return(trades.Pnl(), since),
	}
	if trades.Count() > 0 {
		row.TotalPnl = market.Text(trades.Pnl())
	}
	if d, known := market.MaxDrawdown(stats.Curve.Between((today-valuedDays+1)*dayMs, now).Values(nil, market.ScopePerp)); known {
		row.MaxDrawdown = &d.Fraction
	}
	return row
}
