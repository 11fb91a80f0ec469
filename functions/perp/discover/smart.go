package main

import (
	"context"
	"fmt"
	"strconv"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/accounts"
	"quotary/shared/data/accountstats"
	"quotary/shared/market"
	"quotary/shared/service/accountlookup"
	"quotary/shared/service/markedpositions"
	"quotary/shared/table/tablefile"
	"quotary/shared/traderquery"
)

// smartValue is what the perpetuals of a smart account are worth more than, US dollars.
const smartValue = 100_000

// smartOrders are the fields by which smart accounts are ordered.
var smartOrders = map[string]string{
	"win-rate": "winRate", "account-balance": "snapTotalValue", "ROI": "totalRoi", "pnl": "totalPnl", "position-count": "positionCount", "profit-count": "winCount",
	"last-operation": "foLastOrderAt", "avg-holding-period": "avgDurationMin", "current-position": "snapPositionCount",
}

// smartFields are the figures that the rows of smart accounts are made of.
var smartFields = []string{
	"positionCount", "winCount", "longCount", "longWinCount", "shortCount", "shortWinCount", "totalPnl", "longPnl", "shortPnl", "avgDurationMin",
	"snapPositionCount", "snapEffLeverage", "snapTotalMarginUsed", "snapMarginUsageRate", "snapPerpValue", "snapSpotValue", "snapTotalValue",
}

// smartFind finds accounts with much in perpetuals.
func (r *reader) smartFind(ctx context.Context, in catalog.SmartFindIn) ([]catalog.SmartTrader, error) {
	q, err := traderquery.Discover(&catalog.DiscoverIn{
		PageNum: in.PageNum, PageSize: in.PageSize, Period: in.Period, Sort: &catalog.DiscoverSort{Field: smartOrders[in.Sort]}, Selects: smartFields,
		Filters: []catalog.DiscoverFilter{{Field: "snapPerpValue", Op: ">", Val: &catalog.Decimal{Decimal: market.DecimalFromInt(smartValue)}}},
	}, api.Now(ctx))
	if err != nil {
		return nil, fmt.Errorf("ask for smart accounts: %w", err)
	}
	a, marks, err := r.askTable(ctx, q)
	if err != nil || len(a.Rows) == 0 {
		return nil, err
	}
	rows := make([]catalog.SmartTrader, len(a.Rows))
	for i, row := range q.Rows(a.Rows) {
		rows[i].TraderStatisticsRow = statistics(row)
	}
	if err = r.addDeeds(ctx, a.Rows, rows, in); err != nil {
		return nil, err
	}
	return rows, r.addHoldings(ctx, a.Rows, rows, &marks)
}

// statistics is a row of the table as traders/statistics has it.
func statistics(row catalog.DiscoverRow) catalog.TraderStatisticsRow {
	text := func(name string) *string {
		if s, ok := row[name].(string); ok {
			return &s
		}
		return nil
	}
	count := func(name string) *int64 {
		if n, err := strconv.ParseInt(fmt.Sprint(row[name]), 10, 64); err == nil {
			return &n
		}
		return nil
	}
	s := catalog.TraderStatisticsRow{
		Address: fmt.Sprint(row["address"]), CurrentPosition: count("snapPositionCount"), EffLeverage: text("snapEffLeverage"),
		MarginUsage: text("snapTotalMarginUsed"), MarginUsageRate: text("snapMarginUsageRate"),
		PerpValue: text("snapPerpValue"), SpotValue: text("snapSpotValue"), TotalValue: text("snapTotalValue"),
		Positions: count("positionCount"), ProfitPositions: count("winCount"), RealizedPnl: text("totalPnl"), LongPnl: text("longPnl"), ShortPnl: text("shortPnl"),
	}
	if s.Positions == nil {
		return s
	}
	of := func(name string) (n int64) {
		if known := count(name); known != nil {
			n = *known
		}
		return n
	}
	sum := market.TradeSum{
		Long:  market.SideSum{Count: of("longCount"), Wins: of("longWinCount")},
		Short: market.SideSum{Count: of("shortCount"), Wins: of("shortWinCount")},
	}
	s.WinRate, s.LongWr, s.ShortWr, s.AvgHoldingSec = new(sum.WinRate()), new(sum.Long.WinRate()), new(sum.Short.WinRate()), new(int64)
	if minutes, err := market.ParseDecimal(fmt.Sprint(row["avgDurationMin"])); err == nil {
		*s.AvgHoldingSec = seconds(minutes)
	}
	return s
}

// seconds are the whole seconds of a time in minutes that was rounded to less than a tenth of a
// millisecond.
func seconds(minutes market.Decimal) int64 {
	ms, err := minutes.Mul64(60_000).RoundHAZ(1).Int64()
	if err != nil {
		return 0
	}
	return ms / 1000
}

// addDeeds adds when each account did something last, and what it earned if asked for.
func (r *reader) addDeeds(ctx context.Context, found []tablefile.Row, rows []catalog.SmartTrader, in catalog.SmartFindIn) error {
	from, now := accountlookup.Days(api.Now(ctx), int64(in.Period))
	i := 0
	for stats, err := range accountstats.ReadWhole(ctx, r.series, addresses(found), in.PnlList) {
		if err != nil {
			return err
		}
		row := &rows[i]
		i++
		if !in.PnlList {
			row.PnlList = new([]catalog.PnlPoint{})
		}
		if stats.TraderStats == nil {
			continue
		}
		if stats.LastOperation > 0 {
			row.LastOperationAt = new(stats.LastOperation)
		}
		row.Since = accountlookup.Later(stats.Began, from)
		if in.PnlList {
			row.PnlList = accountlookup.PnlList(&stats, from, now)
		}
	}
	return nil
}

// addHoldings adds what the table has not of what each account holds, at the marks of now.
func (r *reader) addHoldings(ctx context.Context, found []tablefile.Row, rows []catalog.SmartTrader, at *markedpositions.Table) error {
	if at.Markets == nil {
		return nil
	}
	known, err := accounts.LoadKnown(ctx, r.series, addresses(found)...)
	if err != nil {
		return err
	}
	for i := range rows {
		a := known[rows[i].Address].Now()
		if a == nil {
			continue
		}
		s := a.Summary(at.Markets, at.Marks.Px, api.Now(ctx).UnixMilli())
		if leverage, known := s.Leverage(); known {
			rows[i].Leverage = new(market.Text(leverage))
		}
		if value, known := a.BuilderPerpValue(at.Markets, at.Marks.Px); known {
			rows[i].BuilderPerpValue = new(market.Text(value))
		}
	}
	return nil
}
