package klines

import (
	"context"
	"fmt"
	"slices"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// LatestTrades returns the newest trades of a coin, at most so many (above 0), oldest first:
// those that lie beside the rows of its newest seconds.
func LatestTrades(ctx context.Context, s *store.Series, coin string, most int) ([]market.SetTrade, error) {
	const tier = market.Second1
	seconds, err := Read(ctx, s, coin, tier, dataset.Range{Limit: most, Newest: true})
	if err != nil {
		return nil, err
	}
	var keys []store.SeriesAt
	count := int64(0)
	for i := len(seconds) - 1; i >= 0 && count < int64(most); i-- {
		keys = append(keys, At(coin, tier, seconds[i].OpenTime))
		count += seconds[i].Trades
	}
	points, err := s.Load(ctx, keys)
	if err != nil {
		return nil, err
	}
	trades := make([]market.SetTrade, 0, count)
	for at, p := range points {
		set, err := DecodeTrades(p.Extra, at.Time.UnixMilli())
		if err != nil {
			return nil, fmt.Errorf("read %s at %s: %w", at.SeriesKey, at.Time.Format(time.RFC3339), err)
		}
		trades = append(trades, set.Sorted()...)
	}
	slices.SortFunc(trades, func(a, b market.SetTrade) int { return a.Order.Compare(b.Order) })
	return trades[max(0, len(trades)-most):], nil
}
