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

// interest returns a page of the perpetuals, by the value of their open interest.
func (r *reader) interest(ctx context.Context, in catalog.FuturesInterestIn) (catalog.FuturesInterestList, error) {
	out := catalog.FuturesInterestList{List: []catalog.FuturesInterestRow{}}
	v, err := store.OrZero(r.contracts.Get(ctx))
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
	page := page(ranked(v), in.Page, in.PageSize)
	out.List = make([]catalog.FuturesInterestRow, len(page))
	group, ctx := errgroup.WithContext(ctx)
	for i, c := range page {
		out.List[i] = catalog.FuturesInterestRow{
			Key: c.Pair.Key, Show: c.Pair.Base + "/" + c.Pair.Quote, Currency: c.Pair.Quote, MarketName: pairs.PlatformName(c.Pair.Platform, in.Lan),
			Trade: value(c.Value), VolCoin: c.Size.String(), Trend: []catalog.FuturesInterestTrend{},
		}
		group.Go(func() error {
			hours, err := pairseries.Interest.Read(ctx, r.series, c.Pair.Key, time.Hour, pairseries.Window{From: api.Now(ctx).Add(-trendHours * time.Hour), Limit: trendHours})
			for _, h := range hours {
				out.List[i].Trend = append(out.List[i].Trend, catalog.FuturesInterestTrend{Time: strconv.FormatInt(h.Time/1000, 10), Close: value(h.Close)})
			}
			return err
		})
	}
	return out, group.Wait()
}

// ranked are the contracts whose open interest is known, the largest first.
func ranked(v contracts.View) []contracts.Contract {
	known := slices.DeleteFunc(slices.Clone(v.Contracts), func(c contracts.Contract) bool { return c.InterestTime == 0 })
	slices.SortFunc(known, func(a, b contracts.Contract) int {
		return cmp.Or(b.Value.Cmp(a.Value), cmp.Compare(a.Pair.Key, b.Pair.Key))
	})
	return known
}

// page is one of a list, from 1.
func page[T any](list []T, number, size int64) []T {
	from := min((number-1)*size, int64(len(list)))
	if from < 0 {
		from = int64(len(list)) // of a number so large that it has turned over
	}
	return list[from:min(from+size, int64(len(list)))]
}
