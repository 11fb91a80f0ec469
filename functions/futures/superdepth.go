package main

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/largeorders"
	"quotary/shared/market"
	"quotary/shared/store"
)

// superDepths returns the large orders of a pair that were first seen in a time, newest first.
func (r *reader) superDepths(ctx context.Context, in catalog.SuperDepthsIn) ([]catalog.SuperDepth, error) {
	list := []catalog.SuperDepth{}
	pair, listed, err := r.lookup.Lookup(ctx, pairKey(in.Key))
	if err != nil || !listed {
		return list, err
	}
	v, err := store.OrZero(r.large.Get(ctx))
	if err != nil {
		return list, err
	}
	now := api.Now(ctx)
	from, to := in.Span(now)
	least := market.DecimalFromInt(in.Amount)
	for o, err := range largeorders.Newest(ctx, r.log, v, pair.Key, from, to, int(in.Limit)) {
		if err != nil {
			return list, err
		}
		if o.Value(o.First).Cmp(least) < 0 {
			continue
		}
		if list = append(list, superDepth(&o, &pair.Pair, now)); len(list) == int(in.Limit) {
			break
		}
	}
	return list, nil
}

func superDepth(o *market.LargeOrder, pair *market.Pair, now time.Time) catalog.SuperDepth {
	name, _, _ := strings.Cut(pair.Key, ":")
	value := func(size market.Decimal) json.Number { return json.Number(o.Value(size).String()) }
	coins := func(size market.Decimal) json.Number { return json.Number(o.Coins(size).String()) }
	traded, state := o.Traded(), o.State(now.UnixMilli())
	d := catalog.SuperDepth{
		ID: o.ID(), CoinType: name, Coin: pair.Coin(), Platform: pair.Platform, TradeType: "spot", DepthType: o.Kind(), DepthPrice: json.Number(o.Px.String()),
		DepthAmount: value(o.First), DepthTurnover: value(o.First), DepthVol: coins(o.First),
		CreateTime: o.Start, StartTime: o.Start, UpdateTime: o.Changed, UpdateStateTime: stateSince(o, state), DepthState: int64(state),
		ShowState: 1, HoldTime: o.Rested(now.UnixMilli()), OrderOverTime: timeOrNull(o.End), OrderMissTime: timeOrNull(o.Missed), MissTime: timeOrNull(o.Missed),
		TradeStartTime: timeOrNull(o.FirstTrade), TradeStopTime: timeOrNull(o.LastTrade),
		TradeAmount: value(traded), TradeTurnover: value(traded), TradeVol: coins(traded), TradeCount: o.Trades, TransactionRatio: json.Number(o.TradedPercent().String()),
		HighAmount: value(o.Highest), HighTurnover: value(o.Highest), HighVol: coins(o.Highest),
		HighTradeAmount: value(o.LargestTrade), HighTradeTurnover: value(o.LargestTrade), HighTradeVol: coins(o.LargestTrade),
		LastAmount: value(o.Last), LastTurnover: value(o.Last), LastVol: coins(o.Last),
	}
	if pair.Swap {
		d.TradeType = "futures"
	}
	if state == market.LargePending {
		d.ShowState = 0
	}
	switch {
	case o.End != 0:
		d.DepthStatus, d.OrderOverStatus = 1, &d.DepthState
	case o.Missed != 0:
		d.DepthStatus = 2
	}
	if o.Trades > 0 {
		d.TradePrice = &d.DepthPrice
	}
	if o.Bait() {
		d.BaitState, d.FakePrice = 1, &d.DepthPrice
	}
	return d
}

// stateSince is since when an order has a state, ms; nil where that is not known.
func stateSince(o *market.LargeOrder, state market.LargeState) *int64 {
	switch {
	case o.End != 0:
		return &o.End
	case state == market.LargePending:
		return &o.Start
	case state == market.LargeRests:
		return new(o.Start + market.LargeConfirmed.Milliseconds())
	}
	return nil
}

// timeOrNull is a time, ms, nil for 0.
func timeOrNull(ms int64) *int64 {
	if ms == 0 {
		return nil
	}
	return &ms
}
