package main

import (
	"context"
	"slices"
	"strconv"

	"quotary/shared/catalog"
	"quotary/shared/data/pairtrades"
)

// latestTrades returns the newest trades of a pair, newest first.
func (r *reader) latestTrades(ctx context.Context, in catalog.LatestTradesIn) ([]catalog.LatestTrade, error) {
	trades, err := r.newestTrades(ctx, in)
	list := []catalog.LatestTrade{}
	for _, t := range slices.Backward(trades) {
		if len(list) == int(in.Limit) {
			break
		}
		if in.StartTime != nil && t.Time < int64(*in.StartTime) || in.EndTime != nil && t.Time > int64(*in.EndTime) {
			continue
		}
		side := "buy"
		if t.Sold {
			side = "sell"
		}
		list = append(list, catalog.LatestTrade{
			ID: strconv.FormatInt(t.ID, 10), Time: t.Time, Price: t.Px.String(), Amount: t.Sz.String(), Turnover: t.Paid.String(), Side: side,
		})
	}
	return list, err
}

// newestTrades are the newest trades of a pair, oldest first: as many as are wanted or more.
func (r *reader) newestTrades(ctx context.Context, in catalog.LatestTradesIn) (list []pairtrades.Trade, err error) {
	key := pairKey(in.DBKey)
	if isPerp(key) {
		most := int(in.Limit)
		if in.EndTime != nil {
			most = pairtrades.Most
		}
		return r.perpTrades(ctx, key, most)
	}
	err = r.lookup.SinceFollowed(ctx, key, func() error {
		v, err := r.trades.Get(ctx)
		list = v.Trades(key)
		return err
	})
	return list, err
}
