package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/store"
)

// openPeriod is how often the ingester publishes the view of open interest.
const openPeriod = 5 * time.Second

// openInterest is the decoded view. It is shared between requests.
type openInterest struct {
	total catalog.OpenInterestTotal
	coins []openCoin // by value, the largest first
}

type openCoin struct {
	catalog.OpenInterestCoin
	total  market.Decimal
	traded time.Time
}

// averagePlaces is the precision of an average, which is rounded half away from
// zero.
const averagePlaces = 6

func decodeOpenInterest(body []byte) (openInterest, error) {
	var view struct {
		Coins []struct {
			catalog.OpenInterestCoin
			Traded int64 `json:"traded"` // ms
		} `json:"coins"`
	}
	if err := json.Unmarshal(body, &view); err != nil {
		return openInterest{}, err
	}
	var o openInterest
	var long, short market.Decimal
	for _, c := range view.Coins {
		one := openCoin{OpenInterestCoin: c.OpenInterestCoin, traded: time.UnixMilli(c.Traded)}
		l, err1 := market.ParseDecimal(c.LongPv)
		s, err2 := market.ParseDecimal(c.ShortPv)
		if err := errors.Join(err1, err2); err != nil {
			return openInterest{}, fmt.Errorf("value of %s: %w", c.Coin, err)
		}
		one.total = l.Add(s)
		long, short = long.Add(l), short.Add(s)
		o.total.PositionCount += c.PositionCount
		o.coins = append(o.coins, one)
	}
	slices.SortStableFunc(o.coins, func(a, b openCoin) int { return cmp.Or(b.total.Cmp(a.total), cmp.Compare(a.Coin, b.Coin)) })
	o.total.LongPv, o.total.ShortPv, o.total.TotalPv = market.Text(long), market.Text(short), market.Text(long.Add(short))
	var average market.Decimal
	if o.total.PositionCount > 0 {
		var err error
		if average, err = long.Add(short).Div64(uint64(o.total.PositionCount)); err != nil {
			return openInterest{}, fmt.Errorf("average value: %w", err)
		}
	}
	o.total.AvgPv = market.Text(average.RoundHAZ(averagePlaces))
	return o, nil
}

// openNow is the current open interest; nothing is open before the ingester has
// seen a position.
func (m *markets) openNow(ctx context.Context) (openInterest, error) {
	o, err := m.open.Get(ctx)
	if errors.Is(err, store.ErrNoView) {
		return decodeOpenInterest([]byte(`{}`))
	}
	return o, err
}

// openSummary sums up all open positions.
func (m *markets) openSummary(ctx context.Context, _ catalog.None) (catalog.OpenInterestTotal, error) {
	o, err := m.openNow(ctx)
	return o.total, err
}

// openTopCoins returns the coins with the most value in open positions.
func (m *markets) openTopCoins(ctx context.Context, in catalog.OpenInterestTopIn) ([]catalog.OpenInterestCoin, error) {
	o, err := m.openNow(ctx)
	if err != nil {
		return nil, err
	}
	since := api.Now(ctx).Add(-in.Interval.Duration())
	top := []catalog.OpenInterestCoin{}
	for _, c := range o.coins {
		if len(top) == int(in.Limit) {
			break
		}
		if !c.traded.Before(since) {
			top = append(top, c.OpenInterestCoin)
		}
	}
	return top, nil
}

// openHistory returns samples of a coin's open interest, oldest first.
func (m *markets) openHistory(ctx context.Context, in catalog.OpenInterestHistoryIn) ([]catalog.OpenInterestPoint, error) {
	return samples[catalog.OpenInterestPoint](ctx, m.series, store.OpenInterestSeries, in.Coin, in.Interval)
}

// bookSummaries returns samples of what rested in a coin's book, oldest first.
func (m *markets) bookSummaries(ctx context.Context, in catalog.BookSummariesIn) ([]catalog.BookSummary, error) {
	return samples[catalog.BookSummary](ctx, m.series, store.DepthSeries, in.Coin, in.Interval)
}

// maxSamples bounds the tier that a window is read from: the finest in which it
// has no more buckets. In the coarsest, 180 days have 1,080.
const maxSamples = 1000

func sampleTier(window time.Duration) market.Interval {
	for _, tier := range market.SampleTiers {
		if window/time.Millisecond <= time.Duration(maxSamples*(tier.NextMs(0)-tier.StartMs(0))) {
			return tier
		}
	}
	return market.SampleTiers[len(market.SampleTiers)-1]
}

// samples reads the samples of a coin in a window back from now.
func samples[T any](ctx context.Context, series *store.Series, name string, coin catalog.Coin, window catalog.Lookback) ([]T, error) {
	key := store.SeriesKey{Name: name, Key: string(coin), Interval: sampleTier(window.Duration()).String()}
	points, err := series.Range(ctx, key, api.Now(ctx).Add(-window.Duration()), time.Time{}, 0, false)
	if err != nil {
		return nil, err
	}
	out := make([]T, len(points))
	for i, p := range points {
		if err := json.Unmarshal(p.Body, &out[i]); err != nil {
			return nil, fmt.Errorf("%s at %s: %w", key, p.Time.Format(time.RFC3339), err)
		}
	}
	return out, nil
}
