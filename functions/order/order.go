package main

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/largeorders"
	"quotary/shared/data/pairs"
	"quotary/shared/data/takerruns"
	"quotary/shared/market"
	"quotary/shared/store"
)

// reader answers from what is stored of large orders and of runs of takers.
type reader struct {
	log    *store.Log
	orders *store.View[largeorders.View]
	runs   *store.View[takerruns.View]
	pairs  *store.View[pairs.View]
}

func newReader(log *store.Log, views *store.Views, clock func() time.Time) *reader {
	return &reader{log, largeorders.Published.Open(views, clock), takerruns.Published.Open(views, clock), pairs.Published.Open(views, clock)}
}

// most is how many orders, or runs, an answer has.
const most = 100

// pair is the pair of a key; false for one that no exchange lists. Keys are lower case everywhere,
// and some clients pass on what their user typed.
func (r *reader) pair(ctx context.Context, key catalog.PairKey) (market.Pair, bool, error) {
	v, err := store.OrZero(r.pairs.Get(ctx))
	p, listed := v.Lookup(strings.ToLower(string(key)))
	return p.Pair, listed, err
}

// bigOrders returns the large orders of a pair, newest first.
func (r *reader) bigOrders(ctx context.Context, in catalog.BigOrdersIn) (catalog.BigOrderList, error) {
	out := catalog.BigOrderList{List: []catalog.BigOrder{}}
	pair, listed, err := r.pair(ctx, in.Symbol)
	if err != nil || !listed {
		return out, err
	}
	v, err := store.OrZero(r.orders.Get(ctx))
	if err != nil {
		return out, err
	}
	name, _, _ := strings.Cut(pair.Key, ":")
	out.Map = &catalog.BigOrderPair{Coin: pair.Coin(), CoinType: name, Platform: pair.Platform}
	if v.Follows(pair.Key) {
		out.Map.ShowState = 1
	}
	tradeType := "spot"
	if pair.Swap {
		tradeType = "futures"
	}
	for o, err := range largeorders.Newest(ctx, r.log, v, pair.Key, time.Time{}, time.Time{}, most) {
		if err != nil {
			return out, err
		}
		if out.List = append(out.List, bigOrder(&o, tradeType, api.Now(ctx).UnixMilli())); len(out.List) == most {
			break
		}
	}
	return out, nil
}

func bigOrder(o *market.LargeOrder, tradeType string, now int64) catalog.BigOrder {
	contracts := func(size market.Decimal) json.Number { return number(o.Contracts(size)) }
	value := func(size market.Decimal) json.Number { return number(o.Value(size)) }
	traded := o.Traded()
	b := catalog.BigOrder{
		ID: o.ID(), StartTime: o.Start, HoldTime: o.Rested(now), ShowState: 1, TradeType: tradeType,
		DepthPrice: number(o.Px), DepthType: o.Kind(), DepthState: int64(o.State(now)),
		DepthAmount: contracts(o.First), DepthTurnover: value(o.First), DepthVol: number(o.Coins(o.First)),
		LastAmount: contracts(o.Last), LastTurnover: value(o.Last), HighAmount: contracts(o.Highest), HighTurnover: value(o.Highest),
		TradeAmount: contracts(traded), TradeTurnover: value(traded), TradeCount: o.Trades,
		HighTradeAmount: contracts(o.LargestTrade), HighTradeTurnover: value(o.LargestTrade),
	}
	if b.DepthState == int64(market.LargePending) {
		b.ShowState = 0
	}
	if o.Trades > 0 {
		b.TradePrice = &b.DepthPrice
	}
	return b
}

// number is a decimal as a JSON number, exact.
func number(d market.Decimal) json.Number { return json.Number(d.String()) }

// columns of a run.
var columns = [...]string{"id", "trade_type", "start_price", "max_price", "slippage_price", "max_vol", "total_vol", "total_count", "total_turnover"}

// aggTrades returns the runs of takers of a pair, newest first.
func (r *reader) aggTrades(ctx context.Context, in catalog.AggTradesIn) (catalog.AggTradeList, error) {
	out := catalog.AggTradeList{Map: columns, List: []catalog.AggTradeRow{}}
	pair, listed, err := r.pair(ctx, in.Symbol)
	if err != nil || !listed {
		return out, err
	}
	v, err := store.OrZero(r.runs.Get(ctx))
	for _, run := range slices.Backward(v.Runs(pair.Key, market.RunFrom(pair.Coin()))) {
		if len(out.List) == most {
			break
		}
		side := "buy"
		if run.Side == market.Sell {
			side = "sell"
		}
		out.List = append(out.List, catalog.AggTradeRow{
			strconv.FormatInt(run.ID, 10), side, run.StartPx.String(), run.FarPx.String(), run.Slippage().String(),
			run.Largest.String(), run.Size.String(), strconv.FormatInt(run.Count, 10), run.Value.String(),
		})
	}
	return out, err
}
