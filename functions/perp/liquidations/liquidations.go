package main

import (
	"cmp"
	"context"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/liquidations"
	"quotary/shared/market"
	"quotary/shared/service/markedpositions"
	"quotary/shared/store"
)

// reader holds what the handlers read.
type reader struct {
	series    *store.Series
	positions *markedpositions.Positions
}

// stat sums up the liquidations of a coin, or of all, in a window that ends now.
func (r *reader) stat(ctx context.Context, in catalog.LiquidationStatIn) (catalog.LiquidationStats, error) {
	if err := checkPerpetual(in.Coin); err != nil {
		return catalog.LiquidationStats{}, err
	}
	sum, err := liquidations.Window(ctx, r.series, keyOf(in.Coin), since(ctx, in.Interval))
	return stats(&sum), err
}

// statByCoin sums them up by coin.
func (r *reader) statByCoin(ctx context.Context, in catalog.LiquidationStatByCoinIn) ([]catalog.CoinLiquidationStats, error) {
	coins, err := liquidations.ByCoin(ctx, r.series, since(ctx, in.Interval))
	list := make([]catalog.CoinLiquidationStats, len(coins))
	for i := range coins {
		list[i] = catalog.CoinLiquidationStats{Coin: coins[i].Coin, LiquidatedSums: sums(&coins[i].LiquidationStats)}
	}
	return list, err
}

// history sums them up period by period, oldest first.
func (r *reader) history(ctx context.Context, in catalog.LiquidationHistoryIn) ([]catalog.LiquidationStats, error) {
	if err := checkPerpetual(in.Coin); err != nil {
		return nil, err
	}
	width := in.Interval.Duration()
	if width%time.Minute != 0 || width > 24*time.Hour && width%time.Hour != 0 {
		return nil, api.BadParameter("interval must be whole minutes, and above 1d whole hours, as in 15m, 36h or 7d")
	}
	periods, err := liquidations.History(ctx, r.series, keyOf(in.Coin), width, api.Now(ctx), int(in.Limit))
	list := make([]catalog.LiquidationStats, len(periods))
	for i := range periods {
		list[i] = stats(&periods[i])
	}
	return list, err
}

// top ranks the largest of a coin, the largest first.
func (r *reader) top(ctx context.Context, in catalog.TopLiquidationsIn) ([]catalog.TopLiquidation, error) {
	if err := checkPerpetual(in.Coin); err != nil {
		return nil, err
	}
	top, err := liquidations.Top(ctx, r.series, string(in.Coin), since(ctx, in.Interval), int(in.Limit))
	list := make([]catalog.TopLiquidation, len(top))
	for i := range top {
		e := &top[i]
		list[i] = catalog.TopLiquidation{
			Time: e.Time, Address: e.Address, Coin: e.Coin, Direction: e.Direction(), Oid: e.Oid,
			LiqPrice: market.Text(e.Px()), LiquidatedVal: market.Text(e.Value), Pnl: market.Text(e.Pnl),
			StartPosition: market.Text(e.Start), EndPosition: market.Text(e.End),
		}
	}
	return list, err
}

// since is the beginning of a window that ends now.
func since(ctx context.Context, window catalog.Lookback) time.Time {
	return api.Now(ctx).Add(-window.Duration())
}

// keyOf is the key of a coin, or of all where none is named.
func keyOf(coin catalog.Coin) string { return cmp.Or(string(coin), liquidations.All) }

// checkPerpetual refuses a coin in which nobody can be liquidated.
func checkPerpetual(coin catalog.Coin) error {
	if market.IsSpot(string(coin)) {
		return api.BadParameter("coin %s is no perpetual: it must be one, such as BTC or dex:GOLD, as positions in others are never liquidated", coin)
	}
	return nil
}

// isoMillis is ISO 8601, with milliseconds where a window does not begin at a full second.
const isoMillis = "2006-01-02T15:04:05.999Z07:00"

func stats(s *market.LiquidationStats) catalog.LiquidationStats {
	return catalog.LiquidationStats{StartTime: time.UnixMilli(s.Time).UTC().Format(isoMillis), LiquidatedSums: sums(s)}
}

func sums(s *market.LiquidationStats) catalog.LiquidatedSums {
	return catalog.LiquidatedSums{
		Addresses: int64(len(s.Addresses)), ShortLiquidations: s.Shorts, LongLiquidations: s.Longs,
		TotalFilled: market.Text(s.LongValue.Add(s.ShortValue)), LongFilled: market.Text(s.LongValue), ShortFilled: market.Text(s.ShortValue),
		TotalPnl: market.Text(s.LongPnl.Add(s.ShortPnl)), LongPnl: market.Text(s.LongPnl), ShortPnl: market.Text(s.ShortPnl),
	}
}
