package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/klines"
	"quotary/shared/market"
)

// maxCandles is how many candles one answer holds, as at the venue.
const maxCandles = 5000

var candleIntervals = strings.Split(catalog.CandleIntervals, "|")

// candleSnapshot returns the candles that overlap the span, oldest first; of
// more than fit into an answer the newest. As at the venue the candle in which
// startTime falls is the first and the one in which endTime falls, or the present, the
// last, and where nothing was traded since the first trade the candle is flat.
func (i *info) candleSnapshot(ctx context.Context, in *catalog.InfoIn) (json.RawMessage, error) {
	req := in.Req
	switch {
	case req.Coin == "":
		return nil, api.BadParameter("missing req.coin: it must be a coin name")
	case !slices.Contains(candleIntervals, req.Interval):
		return nil, api.BadParameter("invalid req.interval: must be one of %s", strings.Join(candleIntervals, ", "))
	}
	interval, err := market.ParseInterval(req.Interval)
	if err != nil {
		return nil, api.BadParameter("invalid req.interval: %v", err)
	}
	last := api.Now(ctx).UnixMilli()
	if req.EndTime != nil {
		last = min(last, int64(*req.EndTime))
	}
	from := int64(0)
	if req.StartTime != nil {
		from = int64(*req.StartTime)
	}
	last = interval.StartMs(last)
	first := last
	for n := 1; n < maxCandles && first > from; n++ {
		first = interval.StartMs(first - 1)
	}
	if last < interval.StartMs(from) {
		return api.Encode([]catalog.Candle{})
	}
	candles, err := i.candles(ctx, string(req.Coin), interval, first, last)
	if err != nil {
		return nil, err
	}
	list := make([]catalog.Candle, len(candles))
	for n := range candles {
		c := &candles[n]
		list[n] = catalog.Candle{
			T: c.OpenTime, End: interval.NextMs(c.OpenTime) - 1, S: string(req.Coin), I: req.Interval,
			Open: market.Text(c.Open), Close: market.Text(c.Close), High: market.Text(c.High), Low: market.Text(c.Low),
			V: market.Text(c.Size), N: c.Trades,
		}
		if c.Trades == 0 {
			list[n].V = "0"
		}
	}
	return api.Encode(list)
}

// candles are those of a coin that open from first to last, ms, both of which are
// openings: those without a trade at the price of the last one before, and none before
// the first trade.
func (i *info) candles(ctx context.Context, coin string, interval market.Interval, first, last int64) ([]market.Candle, error) {
	traded, err := klines.Newest(ctx, i.series, coin, interval, time.UnixMilli(first).UTC(), time.UnixMilli(last).UTC(), maxCandles)
	if err != nil {
		return nil, err
	}
	var px market.Decimal
	if len(traded) == 0 || traded[0].OpenTime > first {
		before, err := klines.Newest(ctx, i.series, coin, interval, time.Time{}, time.UnixMilli(first-1).UTC(), 1)
		switch {
		case err != nil:
			return nil, err
		case len(before) > 0:
			px = before[0].Close
		case len(traded) == 0:
			return nil, nil
		default:
			first = traded[0].OpenTime
		}
	}
	var all []market.Candle
	for open := first; open <= last; open = interval.NextMs(open) {
		c := market.Candle{OpenTime: open, Open: px, High: px, Low: px, Close: px}
		if len(traded) > 0 && traded[0].OpenTime == open {
			c, traded = traded[0], traded[1:]
		}
		all, px = append(all, c), c.Close
	}
	return all, nil
}

// mostTrades is how many trades one answer of recentTrades holds, as at the venue.
const mostTrades = 10

// recentTrades are the newest trades of a coin, newest first.
func (i *info) recentTrades(ctx context.Context, in *catalog.InfoIn) (json.RawMessage, error) {
	coin := string(*in.Coin)
	trades, err := klines.LatestTrades(ctx, i.series, coin, mostTrades)
	if err != nil {
		return nil, err
	}
	list := make([]catalog.InfoTrade, 0, len(trades))
	for _, set := range slices.Backward(trades) {
		t := set.Trade(coin)
		one := catalog.InfoTrade{Coin: coin, Side: t.Side.String(), Px: market.Text(t.Px), Sz: market.Text(t.Sz), Time: t.Time, Hash: catalog.OrNull(t.Hash), Tid: t.Tid}
		if t.Users[0] != "" && t.Users[1] != "" {
			one.Users = &t.Users
		}
		list = append(list, one)
	}
	return api.Encode(list)
}
