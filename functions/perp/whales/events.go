package main

import (
	"context"
	"encoding/json"
	"time"

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
		list = append(list, event(&e))
	}
	return list, nil
}

// longRatios lists samples of the sides of whales, oldest first.
func (r *reader) longRatios(ctx context.Context, in catalog.WhaleLongRatiosIn) ([]catalog.WhaleLongRatio, error) {
	interval, err := market.ParseInterval(in.Interval)
	if err != nil {
		return nil, api.BadParameter("invalid interval: %v", err)
	}
	samples, err := whales.Newest(ctx, r.series, interval, int(in.Limit))
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

// event is an event as clients get it.
func event(e *whales.Event) catalog.WhaleEvent {
	w := catalog.WhaleEvent{
		User: e.User, Symbol: e.Coin, Coin: e.Coin, PositionSize: market.Text(e.Size), PositionValueUsd: market.Text(e.Value),
		PositionAction: int(e.Action), CreateTime: catalog.Timestamp(time.UnixMilli(e.Time)),
	}
	if e.Isolated != nil {
		w.MarginMode = new(marginMode(*e.Isolated))
	}
	if e.EntryPx != nil {
		w.EntryPrice = new(market.Text(*e.EntryPx))
	}
	if e.LiqPx != nil {
		w.LiqPrice = new(market.Text(*e.LiqPx))
	}
	return w
}

func marginMode(isolated bool) string {
	if isolated {
		return "isolated"
	}
	return "cross"
}
