package main

import (
	"context"
	"encoding/json"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/whales"
	"quotary/shared/market"
)

// latestEvents lists what whales did last, newest first.
func (r *reader) latestEvents(ctx context.Context, in catalog.WhaleEventsIn) ([]catalog.WhaleEvent, error) {
	v, err := r.events.Get(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := r.positions.Of(ctx, string(in.Coin)); err != nil {
		return nil, err
	}
	list := []catalog.WhaleEvent{}
	for _, e := range v.Latest(string(in.Coin), int(in.Limit)) {
		list = append(list, e.Wire())
	}
	return list, nil
}

// longRatios lists samples of the sides of whales, oldest first.
func (r *reader) longRatios(ctx context.Context, in catalog.WhaleLongRatiosIn) ([]catalog.WhaleLongRatio, error) {
	interval, err := market.ParseInterval(in.Interval)
	if err != nil {
		return nil, api.BadParameter("invalid interval: %v", err)
	}
	samples, err := whales.Samples(ctx, r.series, interval, int(in.Limit))
	if err != nil {
		return nil, err
	}
	if _, err := r.positions.Of(ctx, ""); err != nil {
		return nil, err
	}
	list := []catalog.WhaleLongRatio{}
	for _, s := range samples {
		list = append(list, catalog.WhaleLongRatio{
			Time: s.Time, LongRatio: share(market.DecimalFromInt(s.Longs), market.DecimalFromInt(s.Shorts)),
			PositionValueDiff: market.Text(s.LongValue.Sub(s.ShortValue)), LongPositionValueRatio: share(s.LongValue, s.ShortValue),
		})
	}
	return list, nil
}

func share(a, b market.Decimal) json.Number { return json.Number(market.Share(a, b).String()) }
