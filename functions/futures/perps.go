package main

import (
	"context"
	"strings"
	"time"

	"quotary/shared/data/contracts"
	"quotary/shared/data/funding"
	"quotary/shared/data/klines"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairseries"
	"quotary/shared/data/pairtrades"
	"quotary/shared/market"
	"quotary/shared/store"
)

// The perpetual exchange is a platform too. What is shown of it comes from the datasets of
// the perpetual family.

// isPerp reports whether a key is of a pair of the perpetual exchange.
func isPerp(key string) bool { return strings.HasSuffix(key, ":"+pairs.Hyperliquid) }

// coinOf is the coin of a pair of the perpetual exchange, empty for one that has not traded.
func (r *reader) coinOf(ctx context.Context, key string) (string, error) {
	v, err := store.OrZero(r.perps.Get(ctx))
	pair, _, _ := pairs.PerpOf(v, key)
	return pair.Symbol, err
}

// perpFunding are buckets of what a pair paid for each hour, which is at its end, oldest first.
func (r *reader) perpFunding(ctx context.Context, key string, width time.Duration, w pairseries.Window) ([]market.Bar, error) {
	coin, err := r.coinOf(ctx, key)
	if err != nil || coin == "" {
		return nil, err
	}
	ms := width.Milliseconds()
	from, to := w.From, w.To
	if !from.IsZero() {
		from = time.UnixMilli((from.UnixMilli()+ms-1)/ms*ms + 1)
	}
	if !to.IsZero() {
		to = time.UnixMilli(to.UnixMilli()/ms*ms + ms + 1)
	}
	// As many hours as Limit buckets have. Where some are missing these make more buckets,
	// of which the oldest may be cut: it falls out.
	hours, err := funding.Newest(ctx, r.series, coin, from, to, w.Limit*int(max(1, width/time.Hour)))
	if err != nil {
		return nil, err
	}
	var bars []market.Bar
	for i := range hours {
		rate, err := market.ParseDecimal(hours[i].Rate)
		if err != nil {
			return nil, err // of no row: they are checked when they are read
		}
		paid := market.PairFunding{Time: market.Hour1.StartMs(hours[i].Time), Paid: true}
		if open := paid.At() / ms * ms; len(bars) == 0 || bars[len(bars)-1].Time != open {
			bars = append(bars, market.Bar{Time: open})
		}
		bars[len(bars)-1].Add(paid.At(), rate)
	}
	return bars[max(0, len(bars)-w.Limit):], nil
}

// perpTrades are the newest trades of a pair, oldest first.
func (r *reader) perpTrades(ctx context.Context, key string, most int) ([]pairtrades.Trade, error) {
	coin, err := r.coinOf(ctx, key)
	if err != nil || coin == "" {
		return nil, err
	}
	trades, err := klines.LatestTrades(ctx, r.series, coin, most)
	list := make([]pairtrades.Trade, len(trades))
	for i, t := range trades {
		list[i] = pairtrades.Trade{ID: t.Order.Tid, Time: t.Order.Time, Px: t.Px, Sz: t.Sz, Paid: market.Notional(t.Px, t.Sz), Sold: !t.Bought}
	}
	return list, err
}

// perpContracts are the perpetuals of the perpetual exchange that are open, with their open
// interest.
func (r *reader) perpContracts(ctx context.Context) ([]contracts.Contract, error) {
	v, err := store.OrZero(r.interests.Get(ctx))
	list := make([]contracts.Contract, 0, len(v.Coins))
	for _, one := range v.Coins {
		if pair, ok := pairs.Perp(one.Coin); ok {
			list = append(list, contracts.Contract{Pair: pair, Size: one.Size, Value: one.Value, InterestTime: v.Time})
		}
	}
	return list, err
}
