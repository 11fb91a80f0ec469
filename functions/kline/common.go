package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"quotary/shared/api"
	"quotary/shared/backoff"
	"quotary/shared/catalog"
	"quotary/shared/data/coins"
	"quotary/shared/data/pairklines"
	"quotary/shared/data/pairs"
	"quotary/shared/data/tickers"
	"quotary/shared/data/wants"
	"quotary/shared/lru"
	"quotary/shared/market"
	"quotary/shared/store"
)

// reader answers from what is stored of pairs.
type reader struct {
	series *store.Series
	pairs  *store.View[pairs.View]
	perps  *store.View[tickers.View]
	coins  *store.View[coins.View]
	wanted *wants.Store

	patience time.Duration // how long a request waits for a pair that nobody asked for before

	waited lru.Cache[string, bool] // by key: pairs that were waited for
}

const (
	patience  = 4 * time.Second
	waitEvery = 250 * time.Millisecond

	// quietFor is how old the newest K-line of a pair may be that is not waited for: the
	// ingester asks for it once a minute, and a pair may go without a trade for longer.
	quietFor = 5 * time.Minute
)

func newReader(series *store.Series, views *store.Views, wanted *wants.Store, clock func() time.Time) *reader {
	return &reader{
		series: series, pairs: pairs.Open(views, clock), perps: tickers.Open(views, clock), coins: coins.Open(views, clock),
		wanted: wanted, patience: patience,
	}
}

// common returns K-lines of a pair, oldest first; none of a key that no pair has.
func (r *reader) common(ctx context.Context, in catalog.CommonKlinesIn) (catalog.CommonKlineList, error) {
	opens := market.OpenBeijing0
	if in.OpenTime == "8" {
		opens = market.OpenBeijing8
	}
	period, err := market.NewPeriod(int64(in.Period), opens)
	if err != nil {
		return catalog.CommonKlineList{}, fmt.Errorf("a period that the catalog accepts: %w", err)
	}
	until := in.Since.Time()
	if in.Since == nil {
		until = api.Now(ctx)
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

// candles are those of a pair of an exchange, or of the perpetual one. Those of a pair that
// trades and is not followed are wanted from now on: the first request for it waits a while.
func (r *reader) candles(ctx context.Context, key string, period market.Period, until time.Time, limit int) ([]market.Candle, error) {
	if strings.HasSuffix(key, ":"+pairs.Hyperliquid) {
		return r.perp(ctx, key, period, until, limit)
	}
	candles, err := pairklines.Newest(ctx, r.series, key, period, until, limit)
	if err != nil {
		return nil, err
	}
	all, err := store.OrZero(r.pairs.Get(ctx))
	if err != nil {
		return nil, err
	}
	if pair, listed := all.Of(key); !listed || pair.Followed {
		return candles, nil
	}
	// One that is refused has what there is of it.
	if _, err := r.wanted.Want(ctx, api.Caller(ctx).Distributor, []string{key}, api.Now(ctx)); err != nil {
		return nil, err
	}
	// A new pair is filled from the opening of the day on: what is stored first is hours old.
	newest := period.StartMs(min(until.UnixMilli(), api.Now(ctx).UnixMilli()) - quietFor.Milliseconds())
	for began := time.Now(); (len(candles) < limit || candles[len(candles)-1].OpenTime < newest) && r.waits(key, time.Since(began)); {
		if err := backoff.Sleep(ctx, waitEvery); err != nil {
			return nil, err
		}
		if candles, err = pairklines.Newest(ctx, r.series, key, period, until, limit); err != nil {
			return nil, err
		}
	}
	return candles, nil
}

// waits reports whether a request that has waited so long for a pair waits longer. A pair
// is waited for once.
func (r *reader) waits(key string, waited time.Duration) bool {
	if _, before := r.waited.Get(key); before {
		return false
	}
	if waited < r.patience {
		return true
	}
	r.waited.Set(key, true)
	return false
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
