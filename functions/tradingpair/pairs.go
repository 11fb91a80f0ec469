package main

import (
	"context"
	"strings"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/klines"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairtickers"
	"quotary/shared/data/rates"
	"quotary/shared/data/tickers"
	"quotary/shared/market"
	"quotary/shared/store"
)

// reader holds what the handlers read.
type reader struct {
	pairs   *store.View[pairs.View]
	tickers *store.View[pairtickers.View]
	perps   *store.View[tickers.View]
	rates   *store.View[rates.View]
	day     *klines.LastDay // of the perpetual exchange
}

// dayFor is how long the last 24 hours of the perpetual exchange are kept.
const dayFor = 10 * time.Second

func newReader(series *store.Series, views *store.Views, clock func() time.Time) *reader {
	return &reader{
		pairs: pairs.Published.Open(views, clock), tickers: pairtickers.Published.Open(views, clock), perps: tickers.Published.Open(views, clock), rates: rates.Published.Open(views, clock),
		day: klines.NewLastDay(series, clock, dayFor),
	}
}

// of are the pairs of a platform, by key. Keys are lower case everywhere; some clients pass
// on what their user typed.
func (r *reader) of(ctx context.Context, key catalog.Key) (list []market.Pair, err error) {
	platform := strings.ToLower(string(key))
	if platform == pairs.Hyperliquid {
		v, err := r.perps.Get(ctx)
		return pairs.Perps(v), err
	}
	v, err := r.pairs.Get(ctx)
	for i := range v.Pairs {
		if v.Pairs[i].Platform == platform {
			list = append(list, v.Pairs[i].Pair)
		}
	}
	return list, err
}

// platform returns the names of the pairs of a platform.
func (r *reader) platform(ctx context.Context, in catalog.PlatformPairsIn) ([]catalog.PlatformPair, error) {
	all, err := r.of(ctx, in.Market)
	list := make([]catalog.PlatformPair, len(all))
	for i := range all {
		p := &all[i]
		list[i] = catalog.PlatformPair{Key: p.Key, CNName: pairs.NameOf(p, "cn"), ENName: pairs.NameOf(p, "en"), Show: pairs.Show(p)}
	}
	return list, err
}

// selected returns the pairs of a platform that fit.
func (r *reader) selected(ctx context.Context, in catalog.SelectedPairsIn) ([]catalog.SelectedPair, error) {
	all, err := r.of(ctx, in.Market)
	list := []catalog.SelectedPair{}
	for i := range all {
		p := &all[i]
		if in.Currency != "" && !strings.EqualFold(p.Quote, string(in.Currency)) || in.Show != "" && !shownAs(p, string(in.Show)) {
			continue
		}
		list = append(list, catalog.SelectedPair{
			Key: p.Key, Currency: p.Quote, ENName: pairs.NameOf(p, "en"), CNName: pairs.NameOf(p, "cn"), Show: pairs.Show(p), Market: p.Platform, Swap: p.Swap,
		})
	}
	return list, err
}

// shownAs reports whether a pair is of the coin of a name, in any case, or has this short name.
func shownAs(p *market.Pair, name string) bool {
	return p.Coin() == market.CoinOfBase(name) || strings.EqualFold(p.Base, name) || strings.EqualFold(pairs.Show(p), name)
}

// prices returns the tickers of pairs, in the order of the request, each once.
func (r *reader) prices(ctx context.Context, in catalog.PairTickersIn) ([]catalog.PairTicker, error) {
	v, err := store.OrZero(r.tickers.Get(ctx))
	if err != nil {
		return nil, err
	}
	listed, err := r.pairs.Get(ctx)
	if len(v.Tickers) == 0 { // only the perpetual exchange is asked for
		listed, err = store.OrZero(listed, err)
	}
	if err != nil {
		return nil, err
	}
	known, err := store.OrZero(r.rates.Get(ctx))
	if err != nil {
		return nil, err
	}
	perps, err := r.perpTickers(ctx, in.KeyList)
	if err != nil {
		return nil, err
	}
	yuan := known.Yuan(api.Now(ctx))
	list := []catalog.PairTicker{}
	for _, key := range in.KeyList {
		t, quote, ok := tickerOf(strings.ToLower(string(key)), v, listed, perps)
		if !ok {
			continue
		}
		out := catalog.PairTicker{Key: string(key)}
		dollars, priced := v.Dollars(quote, platformOf(t.Pair))
		for _, f := range [...]struct {
			px            market.Decimal
			raw, cny, usd *string
		}{
			{t.Last, &out.LastRaw, &out.LastCNY, &out.LastUSD},
			{t.High, &out.High24hRaw, &out.High24hCNY, &out.High24hUSD},
			{t.Low, &out.Low24hRaw, &out.Low24hCNY, &out.Low24hUSD},
		} {
			if !f.px.IsPos() {
				continue
			}
			*f.raw = f.px.String()
			if priced {
				usd := f.px.Mul(dollars)
				*f.usd, *f.cny = usd.String(), yuan(usd)
			}
		}
		list = append(list, out)
	}
	return list, nil
}

// tickerOf is the ticker of a pair that is listed, and its quote coin; perps are those of
// the perpetual exchange.
func tickerOf(key string, v pairtickers.View, listed pairs.View, perps map[string]pairtickers.Ticker) (t pairtickers.Ticker, quote string, ok bool) {
	if pair, found := listed.Lookup(key); found {
		t, ok = v.Lookup(key)
		return t, pair.Quote, ok
	}
	t, ok = perps[key]
	return t, pairs.PerpQuote, ok
}

// platformOf is the platform in the key of a pair.
func platformOf(pair string) string {
	_, platform, _ := strings.Cut(pair, ":")
	return platform
}
