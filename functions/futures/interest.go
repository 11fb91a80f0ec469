package main

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/contracts"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/store"
)

// trendHours is how far back a trend reaches.
const trendHours = 24

// trendFor is how long a trend is kept: rows of open interest are written once a minute.
const trendFor = time.Minute

// interest returns a page of the perpetuals, by the value of their open interest.
func (r *reader) interest(ctx context.Context, in catalog.FuturesInterestIn) (catalog.FuturesInterestList, error) {
	out := catalog.FuturesInterestList{List: []catalog.FuturesInterestRow{}}
	v, err := store.OrZero(r.contracts.Get(ctx))
	if err != nil {
		return out, err
	}
	perps, err := r.perpContracts(ctx)
	if err != nil {
		return out, err
	}
	value := market.Decimal.String
	if in.Currency == "cny" {
		known, err := store.OrZero(r.rates.Get(ctx))
		if err != nil {
			return out, err
		}
		value = known.Yuan(api.Now(ctx))
	}
	page := page(ranked(append(perps, v.Contracts...)), in.Page, in.PageSize)
	out.List = make([]catalog.FuturesInterestRow, len(page))
	group, ctx := errgroup.WithContext(ctx)
	for i, c := range page {
		out.List[i] = catalog.FuturesInterestRow{
			Key: c.Pair.Key, Show: c.Pair.Base + "/" + c.Pair.Quote, Currency: c.Pair.Quote, MarketName: pairs.PlatformName(c.Pair.Platform, in.Lan),
			Trade: value(c.Value), VolCoin: c.Size.String(),
		}
		group.Go(func() (err error) {
			out.List[i].Trend, err = r.trend(ctx, &c.Pair, value)
			return err
		})
	}
	return out, group.Wait()
}

// trend is the open interest of a perpetual hour by hour, oldest first.
func (r *reader) trend(ctx context.Context, pair *market.Pair, value func(market.Decimal) string) ([]catalog.FuturesInterestTrend, error) {
	now := api.Now(ctx)
	hours, err := r.trends.get(hourOf{pair.Key, market.Hour1.StartMs(now.UnixMilli())}, now, func() ([]market.Bar, error) {
		return pairseries.Interest.Read(ctx, r.series, pair.Key, time.Hour, pairseries.Window{From: now.Add(-trendHours * time.Hour), Limit: trendHours})
	})
	list := make([]catalog.FuturesInterestTrend, len(hours))
	for i := range hours {
		list[i] = catalog.FuturesInterestTrend{Time: strconv.FormatInt(hours[i].Time/1000, 10), Close: value(hours[i].Close)}
	}
	return list, err
}

// hourOf is an hour (its start, ms) of a pair.
type hourOf struct {
	pair  string
	start int64
}

// ranked are the contracts whose open interest is known, the largest first.
func ranked(all []contracts.Contract) []contracts.Contract {
	known := slices.DeleteFunc(all, func(c contracts.Contract) bool { return c.InterestTime == 0 })
	slices.SortFunc(known, func(a, b contracts.Contract) int {
		return cmp.Or(b.Value.Cmp(a.Value), cmp.Compare(a.Pair.Key, b.Pair.Key))
	})
	return known
}

// page is one of a list, from 1.
func page[T any](list []T, number, size int64) []T {
	from := min((number-1)*size, int64(len(list)))
	return list[from:min(from+size, int64(len(list)))]
}
