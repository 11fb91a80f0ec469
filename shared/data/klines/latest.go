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

// firstPage is how many seconds are looked at first: those of a busy coin have many trades.
const firstPage = 16

// LatestTrades returns the newest trades of a coin, at most so many (above 0), oldest first:
// those that lie beside the rows of its newest seconds.
func LatestTrades(ctx context.Context, s *store.Series, coin string, most int) ([]market.SetTrade, error) {
	keys, err := latestSeconds(ctx, s, coin, int64(most))
	if err != nil {
		return nil, err
	}
	points, err := s.Load(ctx, keys)
	if err != nil {
		return nil, err
	}
	trades := make([]market.SetTrade, 0, most)
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

// TradesSince returns the trades of a coin from a time on, oldest first: the newest most of them,
// and whether those are all.
func TradesSince(ctx context.Context, s *store.Series, coin string, from time.Time, most int) (trades []market.Trade, all bool, err error) {
	const tier = market.Second1
	from = tier.Start(from)
	until := time.Time{}
	for {
		points, err := s.RangeWhole(ctx, Key(coin, tier), from, until, secondsPage, true)
		if err != nil {
			return nil, false, err
		}
		var page []market.Trade
		for _, p := range points {
			set, err := DecodeTrades(p.Extra, p.Time.UnixMilli())
			if err != nil {
				return nil, false, fmt.Errorf("read the trades of %s at %s: %w", coin, p.Time.Format(time.RFC3339), err)
			}
			for _, t := range set.Sorted() {
				page = append(page, t.Trade(coin))
			}
		}
		trades = append(page, trades...)
		switch {
		case len(trades) > most:
			return trades[len(trades)-most:], false, nil
		case len(points) < secondsPage:
			return trades, true, nil
		}
		until = points[0].Time
	}
}

// secondsPage is how many seconds are read at a time: those of a busy coin, with their trades,
// have a kilobyte each.
const secondsPage = 500

// latestSeconds are the newest seconds of a coin, down to the one with the last of so many
// trades.
func latestSeconds(ctx context.Context, s *store.Series, coin string, trades int64) (keys []store.SeriesAt, err error) {
	const tier = market.Second1
	var until time.Time
	for page := firstPage; ; page *= 4 {
		seconds, err := Read(ctx, s, coin, tier, dataset.Range{To: until, Limit: page, Newest: true})
		if err != nil {
			return nil, err
		}
		for i := len(seconds) - 1; i >= 0; i-- {
			keys, trades = append(keys, At(coin, tier, seconds[i].OpenTime)), trades-seconds[i].Trades
			if trades <= 0 {
				return keys, nil
			}
		}
		if len(seconds) < page {
			return keys, nil
		}
		until = time.UnixMilli(seconds[0].OpenTime)
	}
}
