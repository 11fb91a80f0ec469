package main

import (
	"context"
	"slices"
	"strconv"

	"quotary/shared/catalog"
	"quotary/shared/store"
)

// latestTrades returns the newest trades of a pair, newest first.
func (r *reader) latestTrades(ctx context.Context, in catalog.LatestTradesIn) ([]catalog.LatestTrade, error) {
	v, err := store.OrZero(r.trades.Get(ctx))
	list := []catalog.LatestTrade{}
	for _, t := range slices.Backward(v.Of(pairKey(in.DBKey))) {
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
