package main

import (
	"context"
	"strings"
	"time"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/delivered"
	"quotary/shared/data/klines"
	"quotary/shared/data/pairs"
	"quotary/shared/data/platformflows"
	"quotary/shared/data/rates"
	"quotary/shared/data/tickers"
	"quotary/shared/market"
	"quotary/shared/service/coinprices"
	"quotary/shared/store"
	"quotary/shared/store/retention"
)

// reader holds what the handlers read.
type reader struct {
	pairs  *store.View[pairs.View]
	perps  *store.View[tickers.View]
	flows  *store.View[platformflows.View]
	rates  *store.View[rates.View]
	spoken *delivered.Reader
	day    *klines.LastDay // of the perpetual exchange
	prices *coinprices.Prices
}

// dayFor is how long the last 24 hours of the perpetual exchange are kept: they are those of
// all of its coins.
const dayFor = time.Minute

func newReader(series *store.Series, views *store.Views, clock func() time.Time) *reader {
	return &reader{
		pairs: pairs.Published.Open(views, clock), perps: tickers.Published.Open(views, clock), flows: platformflows.Published.Open(views, clock), rates: rates.Published.Open(views, clock),
		spoken: delivered.Open(views, clock), day: klines.NewLastDay(series, clock, dayFor), prices: coinprices.Open(views, clock),
	}
}

// known are the platforms that have pairs, by key.
func (r *reader) known(ctx context.Context) (list []pairs.Platform, err error) {
	v, err := store.OrZero(r.pairs.Get(ctx))
	if err != nil {
		return nil, err
	}
	perps, err := store.OrZero(r.perps.Get(ctx))
	if err != nil {
		return nil, err
	}
	has := map[string]bool{pairs.Hyperliquid: len(perps.Tickers) > 0}
	for i := range v.Pairs {
		has[v.Pairs[i].Platform] = true
	}
	for _, p := range pairs.Platforms {
		if has[p.Key] {
			list = append(list, p)
		}
	}
	return list, nil
}

// list returns the platforms.
func (r *reader) list(ctx context.Context, _ catalog.PlatformListIn) ([]catalog.PlatformName, error) {
	known, err := r.known(ctx)
	list := make([]catalog.PlatformName, len(known))
	for i, p := range known {
		list[i] = catalog.PlatformName{Key: p.Key, ENName: p.EN, CNName: p.CN}
	}
	return list, err
}

// inflow returns what takers bought less what they sold, in the order of the request, each
// platform once.
func (r *reader) inflow(ctx context.Context, in catalog.PlatformTickersIn) ([]catalog.PlatformTicker, error) {
	known, err := r.known(ctx)
	if err != nil {
		return nil, err
	}
	has := map[string]bool{}
	for _, p := range known {
		has[p.Key] = true
	}
	v, err := store.OrZero(r.flows.Get(ctx))
	if err != nil {
		return nil, err
	}
	exchange, err := store.OrZero(r.rates.Get(ctx))
	if err != nil {
		return nil, err
	}
	now := api.Now(ctx)
	yuan := exchange.Yuan(now)
	list := []catalog.PlatformTicker{}
	for _, asked := range in.MarketList {
		key := strings.ToLower(string(asked)) // some clients pass on what their user typed
		if !has[key] {
			continue
		}
		has[key] = false // once
		out := catalog.PlatformTicker{MarketKey: string(asked)}
		begin := now.Truncate(time.Minute).Add(time.Minute - platformflows.Window)
		if err := r.reportSince(ctx, &v, key, begin); err != nil {
			return nil, err
		}
		net, traded := v.Platform(key).Since(begin)
		if key == pairs.Hyperliquid {
			if net, traded, err = r.perpInflow(ctx, now); err != nil {
				return nil, err
			}
		}
		if traded {
			out.FundNetInUSD, out.FundNetInCNY = net.String(), yuan(net)
		}
		list = append(list, out)
	}
	return list, nil
}

// reportSince reports since when the flows of an exchange are known, where that is later than their
// window begins.
func (r *reader) reportSince(ctx context.Context, v *platformflows.View, platform string, begin time.Time) error {
	since, err := r.spoken.Since(ctx, catalog.ExchangeTrades, platform)
	if err != nil {
		return err
	}
	if confirmed, ok := v.ConfirmedSince(platform); ok {
		since = confirmed
	}
	if since.After(begin) {
		retention.Reached(ctx, since)
	}
	return nil
}

// perpInflow is that of the perpetual exchange, of the klines of its perpetuals that have
// traded in the last 24 hours; false where none has.
func (r *reader) perpInflow(ctx context.Context, now time.Time) (net market.Decimal, traded bool, err error) {
	v, err := store.OrZero(r.perps.Get(ctx))
	if err != nil {
		return net, false, err
	}
	var coins []string
	for i := range v.Tickers {
		t := &v.Tickers[i]
		if _, ok := pairs.Perp(t.Coin); ok && now.Sub(time.UnixMilli(t.Time)) <= platformflows.Window {
			coins = append(coins, t.Coin)
		}
	}
	days, err := r.day.Candles(ctx, coins)
	for i := range days {
		bought := days[i].AmountBuyer
		net, traded = net.Add(bought).Sub(days[i].Amount.Sub(bought)), traded || !days[i].Empty()
	}
	return net, traded, err
}
