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
	"quotary/shared/data/rates"
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
	rates  *store.View[rates.View]
	lookup *pairlookup.Pairs
}

func newReader(series *store.Series, views *store.Views, wanted *followrequests.Store, clock func() time.Time) *reader {
	listed := pairs.Published.Open(views, clock)
	return &reader{
		series: series, pairs: listed, perps: tickers.Published.Open(views, clock), coins: coins.Published.Open(views, clock),
		runs:   takerruns.Published.Open(views, clock),
		rates:  rates.Published.Open(views, clock),
		lookup: pairlookup.New(series, listed, wanted),
	}
}

// common returns K-lines of a pair, oldest first; none of a key that no pair has.
func (r *reader) common(ctx context.Context, in catalog.CommonKlinesIn) (catalog.CommonKlineList, error) {
	if catalog.IsIndexKey(in.Symbol) {
		return r.index(ctx, in)
	}
	seconds := catalog.KlinePeriod(3600)
	if in.Period != nil {
		seconds = *in.Period
	}
	period, until, err := periodOf(ctx, seconds, in.OpenTime, in.Since)
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
	return rowOf(c.OpenTime, &c.Open, &c.High, &c.Low, &c.Close, &c.Size)
}

// rowOf is a row of what opens at a time in ms. A figure that is nil is not known.
func rowOf(open int64, figures ...*market.Decimal) (row catalog.KlineRow) {
	row[0] = new(json.Number(strconv.FormatInt(open/1000, 10)))
	for i, d := range figures {
		if d != nil {
			row[i+1] = new(number(*d))
		}
	}
	return row
}

// number writes a decimal as a JSON number with all of its digits.
func number(d market.Decimal) json.Number { return json.Number(d.String()) }
