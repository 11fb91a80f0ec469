package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/coins"
	"quotary/shared/data/followrequests"
	"quotary/shared/data/pairklines"
	"quotary/shared/data/pairs"
	"quotary/shared/data/takerruns"
	"quotary/shared/data/tickers"
	"quotary/shared/market"
	"quotary/shared/service/pairlookup"
	"quotary/shared/store"
)

// reader answers from what is stored of pairs.
type reader struct {
	series *store.Series
	pairs  *store.View[pairs.View]
	perps  *store.View[tickers.View]
	coins  *store.View[coins.View]
	runs   *store.View[takerruns.View]
	lookup *pairlookup.Pairs
}

func newReader(series *store.Series, views *store.Views, wanted *followrequests.Store, clock func() time.Time) *reader {
	listed := pairs.Published.Open(views, clock)
	return &reader{
		series: series, pairs: listed, perps: tickers.Published.Open(views, clock), coins: coins.Published.Open(views, clock),
		runs:   takerruns.Published.Open(views, clock),
		lookup: pairlookup.New(series, listed, wanted),
	}
}

// common returns K-lines of a pair, oldest first; none of a key that no pair has.
func (r *reader) common(ctx context.Context, in catalog.CommonKlinesIn) (catalog.CommonKlineList, error) {
	period, until, err := periodOf(ctx, in.Period, in.OpenTime, in.Since)
	if err != nil {
		return catalog.CommonKlineList{}, err
	}
	// Keys are lower case everywhere; some clients pass on what their user typed.
	candles, err := r.candles(ctx, strings.ToLower(string(in.Symbol)), period, until, int(in.Size))
	if err != nil {
		return catalog.CommonKlineList{}, err
	}
	list := catalog.CommonKlineList{KlineData: make([]catalog.KlineRow, len(candles))}
	for i := range candles {
		list.KlineData[i] = row(&candles[i])
	}
	return list, nil
}

// periodOf is the period that is asked for, and at or before when its newest bucket opens.
func periodOf(ctx context.Context, seconds catalog.KlinePeriod, opens string, since *catalog.Seconds) (p market.Period, until time.Time, err error) {
	day := market.OpenBeijing0
	if opens == "8" {
		day = market.OpenBeijing8
	}
	if p, err = market.NewPeriod(int64(seconds), day); err != nil {
		return p, until, fmt.Errorf("a period that the catalog accepts: %w", err)
	}
	if since == nil {
		return p, api.Now(ctx), nil
	}
	return p, since.Time(), nil
}

// candles are those of a pair of an exchange, or of the perpetual one.
func (r *reader) candles(ctx context.Context, key string, period market.Period, until time.Time, limit int) ([]market.Candle, error) {
	if strings.HasSuffix(key, ":"+pairs.Hyperliquid) {
		return r.perp(ctx, key, period, until, limit)
	}
	return r.lookup.Klines(ctx, key, period, until, limit)
}

// perp are the K-lines of a perpetual of the perpetual exchange.
func (r *reader) perp(ctx context.Context, key string, period market.Period, until time.Time, limit int) ([]market.Candle, error) {
	v, err := store.OrZero(r.perps.Get(ctx))
	pair, _, ok := pairs.PerpOf(v, key)
	if err != nil || !ok {
		return nil, err
	}
	return pairklines.NewestOfPerp(ctx, r.series, pair.Symbol, period, until, limit)
}

func row(c *market.Candle) catalog.KlineRow {
	return catalog.KlineRow{
		json.Number(strconv.FormatInt(c.OpenTime/1000, 10)),
		number(c.Open), number(c.High), number(c.Low), number(c.Close), number(c.Size),
	}
}

// number writes a decimal as a JSON number with all of its digits.
func number(d market.Decimal) json.Number { return json.Number(d.String()) }
