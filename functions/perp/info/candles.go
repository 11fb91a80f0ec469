package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/klines"
	"quotary/shared/market"
)

// maxCandles is how many candles one answer holds.
const maxCandles = 2000

var candleIntervals = strings.Split(catalog.CandleIntervals, "|")

// candleSnapshot returns the candles that overlap the span, oldest first; of
// more than fit into an answer the newest. As at the venue the candle in which
// startTime falls is the first and the one in which endTime falls the last.
func (i *info) candleSnapshot(ctx context.Context, in *catalog.InfoIn) (json.RawMessage, error) {
	req := in.Req
	switch {
	case req.Coin == "":
		return nil, api.BadRequest("missing req.coin: it must be a coin name")
	case !slices.Contains(candleIntervals, req.Interval):
		return nil, api.BadRequest("invalid req.interval: must be one of %s", strings.Join(candleIntervals, ", "))
	}
	interval, err := market.ParseInterval(req.Interval)
	if err != nil {
		return nil, api.BadRequest("invalid req.interval: %v", err)
	}
	from, to := req.StartTime.Time(), req.EndTime.Time()
	if !from.IsZero() {
		from = interval.Start(from)
	}
	candles, err := klines.Newest(ctx, i.series, string(req.Coin), interval, from, to, maxCandles)
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
	}
	return api.Encode(list)
}
