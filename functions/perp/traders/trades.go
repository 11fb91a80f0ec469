package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/accounts"
	"quotary/shared/data/completedtrades"
	"quotary/shared/market"
	"quotary/shared/service/accountlookup"
	"quotary/shared/store/retention"
)

// completedTrades returns the newest completed trades of an account, oldest first.
func (r *reader) completedTrades(ctx context.Context, in catalog.CompletedTradesIn) ([]catalog.CompletedTrade, error) {
	known, err := r.known(ctx, in.Address)
	if err != nil {
		return nil, err
	}
	of := completedtrades.Selection{Address: string(in.Address), Coin: string(in.Coin)}
	list := []catalog.CompletedTrade{}
	for t, err := range completedtrades.Newest(ctx, r.log, of, int(in.Limit)) {
		if err != nil {
			return nil, err
		}
		list = append(list, completedTrade(&t))
	}
	slices.Reverse(list)
	if len(list) < int(in.Limit) {
		askedFrom(ctx, known, 0)
	}
	return list, nil
}

// mostCounted is how many trades of a span are counted at most: one more than all pages that can be
// asked for, of 2,000 trades each, hold together.
const mostCounted = 50*2000 + 1

// spanOf is the time of which trades are selected.
func spanOf(of completedtrades.Selection) market.Span {
	span := market.Span{From: 0, To: market.MaxTime}
	if !of.From.IsZero() {
		span.From = of.From.UnixMilli()
	}
	if !of.To.IsZero() {
		span.To = of.To.UnixMilli()
	}
	return span
}

// countTrades is how many trades an account has completed. Its statistics tell most of
// them; the others are counted in their log: those at the edges of a window and of the last
// seconds, or, of one coin between two times, all.
func (r *reader) countTrades(ctx context.Context, of completedtrades.Selection, stats market.TraderStats) (int64, error) {
	window := spanOf(of)
	n, unknown := stats.Completed(window.From, window.To)
	switch all := &stats.All; {
	case of.Coin == "":
	case of.From.IsZero() && of.To.IsZero():
		n, unknown = 0, []market.Span{{From: all.Sum.Last + 1, To: window.To}}
		if i := slices.IndexFunc(all.Coins, func(c market.CoinSum) bool { return c.Coin == of.Coin }); i >= 0 {
			n = all.Coins[i].Trades
		}
	default:
		n, unknown = 0, []market.Span{window}
	}
	for _, span := range unknown {
		of.From, of.To = time.UnixMilli(span.From), time.UnixMilli(span.To)
		more, err := completedtrades.Count(ctx, r.log, of, mostCounted)
		if err != nil {
			return 0, err
		}
		n += int64(more)
	}
	return n, nil
}

// known is an account, before what it has done is read. One that is not known in time is an
// error: nothing is what a known account has done.
func (r *reader) known(ctx context.Context, address catalog.Address) (*market.Account, error) {
	known, err := accounts.LoadKnown(ctx, r.series, string(address))
	if a := known[string(address)].Now(); a != nil || err != nil {
		return a, err
	}
	_, a, err := r.accounts.Known(ctx, address)
	return a, err
}

// knownSince is known, and says in the header X-Data-Since from when on the account is,
// where more is asked for: all from a time on, ms.
func (r *reader) knownSince(ctx context.Context, address catalog.Address, from int64) error {
	a, err := r.known(ctx, address)
	if err == nil {
		askedFrom(ctx, a, from)
	}
	return err
}

func askedFrom(ctx context.Context, a *market.Account, from int64) {
	if from < a.Since {
		retention.Reached(ctx, time.UnixMilli(a.Since).UTC())
	}
}

// completedTradesByTime returns a page of the trades that ended between two times.
func (r *reader) completedTradesByTime(ctx context.Context, in catalog.CompletedTradesByTimeIn) (catalog.CompletedTradePage, error) {
	page := catalog.CompletedTradePage{List: []catalog.CompletedTrade{}, PageNum: in.PageNum, PageSize: in.PageSize}
	of := completedtrades.Selection{Address: string(in.Address), Coin: string(in.Coin), From: in.EndTimeFrom.Time(), To: in.EndTimeTo.Time()}
	from := int64(0)
	if in.EndTimeFrom != nil {
		from = int64(*in.EndTimeFrom)
	}
	if err := r.knownSince(ctx, in.Address, from); err != nil {
		return page, err
	}
	first := (in.PageNum - 1) * in.PageSize
	rest := of
	statsOnce := sync.OnceValues(func() (market.TraderStats, error) { return r.statsOf(ctx, of.Address) })
	if first > 0 && of.Coin == "" {
		stats, err := statsOnce()
		if err != nil {
			return page, err
		}
		span := spanOf(of)
		span.From, page.Total = stats.Skip(span.From, span.To, first)
		rest.From = time.UnixMilli(span.From)
	}
	for t, err := range completedtrades.Oldest(ctx, r.log, rest) {
		if err != nil {
			return page, err
		}
		if page.Total == first+in.PageSize { // there are more
			stats, err := statsOnce()
			if err != nil {
				return page, err
			}
			all, err := r.countTrades(ctx, of, stats)
			if err != nil {
				return page, err
			}
			page.Total = max(page.Total+1, all)
			break
		}
		if page.Total >= first {
			page.List = append(page.List, completedTrade(&t))
		}
		page.Total++
	}
	return page, nil
}

func completedTrade(t *market.CompletedTrade) catalog.CompletedTrade {
	return catalog.CompletedTrade{
		Coin: t.Coin, MarginMode: market.MarginMode(t.Isolated), Direction: direction(t.Long), Size: market.Text(t.Size), EntryPrice: market.Text(t.EntryPx),
		StartTime: catalog.Timestamp(time.UnixMilli(t.Start)), EndTime: catalog.Timestamp(t.When()), ClosePrice: market.Text(t.ClosePx),
		TotalFee: market.Text(t.Fee), Pnl: market.Text(t.Pnl),
	}
}

func direction(long bool) string {
	if long {
		return "long"
	}
	return "short"
}

// bestTrades returns the most profitable trades that were completed in a window.
func (r *reader) bestTrades(ctx context.Context, in catalog.BestTradesIn) ([]catalog.BestTrade, error) {
	report, err := r.report(ctx, in.Address, int64(in.Period))
	best := report.Best[:min(len(report.Best), int(in.Limit))]
	list := make([]catalog.BestTrade, len(best))
	for i, t := range best {
		list[i] = catalog.BestTrade{Coin: t.Coin, CreateAt: t.Start, Direction: direction(t.Long), DurationMs: t.End - t.Start, Pnl: market.Text(t.Pnl)}
	}
	return list, err
}

// performanceByCoin sums up the trades that were completed in a window by coin.
func (r *reader) performanceByCoin(ctx context.Context, in catalog.PerformanceByCoinIn) ([]catalog.CoinPerformance, error) {
	report, err := r.report(ctx, in.Address, int64(in.Period))
	coins := byCoin(&report)
	return coins[:min(len(coins), int(in.Limit))], err
}

func byCoin(report *market.TradeReport) []catalog.CoinPerformance {
	coins := report.CoinsByPnl()
	list := make([]catalog.CoinPerformance, len(coins))
	for i, c := range coins {
		list[i] = catalog.CoinPerformance{Coin: c.Coin, Fees: market.Text(c.Fee), Pnl: market.Text(c.Pnl), Trades: c.Trades}
	}
	return list
}

// bestOfDetailed is how many of the best trades stand among the detailed statistics.
const bestOfDetailed = 10

// tradingStatistics sums up in detail the trades that were completed in a window.
func (r *reader) tradingStatistics(ctx context.Context, in catalog.TradingStatisticsIn) (catalog.DetailedStatistics, error) {
	report, err := r.report(ctx, in.Address, int64(in.Period))
	if err != nil {
		return catalog.DetailedStatistics{}, err
	}
	sum := &report.Sum
	best := make([]catalog.DetailedTrade, min(len(report.Best), bestOfDetailed))
	for i := range best {
		t := &report.Best[i]
		best[i] = catalog.DetailedTrade{Coin: t.Coin, Direction: direction(t.Long), Duration: t.End - t.Start, CreateAt: t.Start, Pnl: market.Text(t.Pnl)}
	}
	return catalog.DetailedStatistics{
		TotalPnl: market.Text(sum.Pnl().Sub(report.Fee())), Gross: market.Text(sum.Pnl()), Fees: market.Text(report.Fee()),
		LongPnl: market.Text(sum.Long.Pnl.Sub(report.LongFee)), ShortPnl: market.Text(sum.Short.Pnl.Sub(report.ShortFee)),
		WinRate: sum.WinRate(), Winning: sum.Wins(), Total: sum.Count(),
		TradeDuration: sum.AverageDuration() / secondMs, MinDuration: report.MinDuration / secondMs, MaxDuration: report.MaxDuration / secondMs,
		BestTrades: best, PerformanceAssets: byCoin(&report),
	}, nil
}

// readAtOnce is how many trades are read one after the other; of more, the window is read
// in parts at a time.
const readAtOnce = 2500

// report sums up in detail the trades of an account that were completed in a number of
// days up to now, or in all time for 0.
func (r *reader) report(ctx context.Context, account catalog.Address, days int64) (report market.TradeReport, err error) {
	address := string(account)
	from, to := accountlookup.Days(api.Now(ctx), days)
	if err := r.knownSince(ctx, account, from); err != nil {
		return report, err
	}
	stats, err := r.statsOf(ctx, address)
	if err != nil || days == 0 {
		return stats.All, err
	}
	known, _ := stats.Within(from, to)
	parts := make([]market.TradeReport, min(1+known.Count()/readAtOnce, readsAtOnce))
	group, ctx := errgroup.WithContext(ctx)
	n := int64(len(parts))
	for i := range n {
		part := market.Span{From: from + (to-from)*i/n + 1, To: from + (to-from)*(i+1)/n}
		group.Go(func() error { return r.eachTrade(ctx, address, part, parts[i].Add) })
	}
	if err := group.Wait(); err != nil {
		return report, err
	}
	for i := range parts {
		report.Merge(&parts[i])
	}
	return report, nil
}

// eachTrade gives the completed trades of a span to add, in the order of their ends.
func (r *reader) eachTrade(ctx context.Context, address string, s market.Span, add func(*market.CompletedTrade)) error {
	of := completedtrades.Selection{Address: address, From: time.UnixMilli(s.From), To: time.UnixMilli(s.To)}
	for t, err := range completedtrades.Oldest(ctx, r.log, of) {
		if err != nil {
			return err
		}
		add(&t)
	}
	return nil
}

const (
	secondMs = 1000
	hourMs   = 3_600_000
	dayMs    = 24 * hourMs
)
