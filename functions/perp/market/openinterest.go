package main

import (
	"context"
	"errors"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/bookdepth"
	"quotary/shared/data/openinterest"
	"quotary/shared/market"
	"quotary/shared/store"
)

// openSummary sums up all open positions.
func (m *markets) openSummary(ctx context.Context, _ catalog.None) (catalog.OpenInterestTotal, error) {
	v, err := m.openInterest(ctx, "")
	return catalog.OpenInterestTotal(v.Total), err
}

// openInterest is that of all coins, and reports how much of a coin's, or of all for "", it covers.
func (m *markets) openInterest(ctx context.Context, coin string) (v openinterest.View, err error) {
	if v, err = m.open.Get(ctx); err != nil {
		return v, err
	}
	marks, err := store.OrZero(m.marks.Get(ctx))
	if err != nil {
		return v, err
	}
	var held market.Decimal
	for i := range v.Coins {
		c := &v.Coins[i]
		if _, said := marks.Interests[c.Coin]; !said || coin != "" && c.Coin != coin {
			continue
		}
		value, err := market.ParseStored(c.TotalPv)
		if err != nil {
			return v, err
		}
		held = held.Add(value)
	}
	if covered, known := market.Covered(held, coin, marks.Interests, marks.Px); known {
		api.ReportCoverage(ctx, covered)
	}
	return v, nil
}

// openTopCoins returns the coins with the most value in open positions, among
// those that traded in the window.
func (m *markets) openTopCoins(ctx context.Context, in catalog.OpenInterestTopIn) ([]catalog.OpenInterestCoin, error) {
	v, err := m.openInterest(ctx, "")
	if err != nil {
		return nil, err
	}
	since := api.Now(ctx).Add(-in.Interval.Duration())
	top := []catalog.OpenInterestCoin{}
	for _, c := range v.Coins {
		if len(top) == int(in.Limit) {
			break
		}
		if time.UnixMilli(c.Traded).Before(since) {
			continue
		}
		top = append(top, catalog.OpenInterestCoin{Coin: c.Coin, PositionCount: c.PositionCount,
			LongPv: c.LongPv, ShortPv: c.ShortPv, TotalPv: c.TotalPv, AvgPv: c.AvgPv})
	}
	return top, nil
}

// openHistory returns samples of a coin's open interest, oldest first.
func (m *markets) openHistory(ctx context.Context, in catalog.OpenInterestHistoryIn) ([]catalog.OpenInterestPoint, error) {
	samples, err := openinterest.Since(ctx, m.series, string(in.Coin), api.Now(ctx), in.Interval.Duration())
	if err != nil {
		return nil, err
	}
	if _, err := m.openInterest(ctx, string(in.Coin)); err != nil && !errors.Is(err, store.ErrNoView) {
		return nil, err
	}
	list := make([]catalog.OpenInterestPoint, len(samples))
	for i, s := range samples {
		list[i] = catalog.OpenInterestPoint(s)
	}
	return list, err
}

// bookSummaries returns samples of what rested in a coin's book, oldest first.
func (m *markets) bookSummaries(ctx context.Context, in catalog.BookSummariesIn) ([]catalog.BookSummary, error) {
	samples, err := bookdepth.Since(ctx, m.series, string(in.Coin), api.Now(ctx), in.Interval.Duration())
	list := make([]catalog.BookSummary, len(samples))
	for i, s := range samples {
		list[i] = catalog.BookSummary(s)
	}
	return list, err
}
