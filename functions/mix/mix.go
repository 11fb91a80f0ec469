package main

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/coins"
	"quotary/shared/data/contracts"
	"quotary/shared/data/delivered"
	"quotary/shared/data/indices"
	"quotary/shared/data/pairliquidations"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairseries"
	"quotary/shared/data/pairtickers"
	"quotary/shared/data/rates"
	"quotary/shared/data/tickers"
	"quotary/shared/data/treasuries"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/retention"
)

// reader answers from what is stored of centralised exchanges, of indexes and of trusts.
type reader struct {
	series     *store.Series
	contracts  *store.View[contracts.View]
	liquidated [2]*store.View[pairliquidations.View] // of centralised exchanges, and of the perpetual one
	coins      *store.View[coins.View]
	perps      *store.View[tickers.View] // for the names of the perpetual exchange's coins
	rates      *store.View[rates.View]
	pairs      *store.View[pairtickers.View]
	indices    *store.View[indices.View]
	holdings   *store.View[treasuries.Holdings]
	known      *delivered.Reader
}

func newReader(series *store.Series, views *store.Views, clock func() time.Time) *reader {
	return &reader{
		series: series, contracts: contracts.Published.Open(views, clock), coins: coins.Published.Open(views, clock),
		perps: tickers.Published.Open(views, clock), rates: rates.Published.Open(views, clock), known: delivered.Open(views, clock),
		pairs: pairtickers.Published.Open(views, clock), indices: indices.Published.Open(views, clock), holdings: treasuries.Open(views, clock),
		liquidated: [...]*store.View[pairliquidations.View]{
			pairliquidations.Published.Open(views, clock), pairliquidations.OfPerps.Open(views, clock),
		},
	}
}

// ratioCoin is the coin whose ratio is that of the market.
const ratioCoin = "btc"

// ratioFor is how old a share may be.
const ratioFor = time.Hour

// longShort returns the ratio of accounts now, a day and a week ago. What is past is that of
// the perpetuals that have a share now: without one of them it would be that of others, and
// not comparable.
func (r *reader) longShort(ctx context.Context, _ catalog.LongShortRatioIn) (catalog.LongShortRatioNow, error) {
	var out catalog.LongShortRatioNow
	v, err := r.contracts.Get(ctx)
	if err != nil {
		return out, err
	}
	now := api.Now(ctx)
	current, err := r.shares(ctx, v, now)
	if err != nil {
		return out, err
	}
	if ratio := meanRatio(current, current); ratio != nil {
		out.Detail.Last = new(ratio.String())
	}
	before := func(ago time.Duration) (*json.Number, error) {
		shares, err := r.shares(ctx, v, now.Add(-ago))
		return meanRatio(shares, current), err
	}
	if out.Detail.LastDay, err = before(24 * time.Hour); err != nil {
		return out, err
	}
	out.Detail.LastWeek, err = before(7 * 24 * time.Hour)
	return out, err
}

// shares are those of accounts that were long at a time, by the key of each perpetual of
// bitcoin that has one.
func (r *reader) shares(ctx context.Context, v contracts.View, at time.Time) (map[string]market.Decimal, error) {
	bars := make([][]market.Bar, len(v.Contracts))
	group, ctx := errgroup.WithContext(ctx)
	for i := range v.Contracts {
		if pair := &v.Contracts[i].Pair; pair.Coin() == ratioCoin {
			group.Go(func() (err error) {
				bars[i], err = pairseries.Ratios.Read(ctx, r.series, pair.Key, time.Minute, pairseries.Window{From: at.Add(-ratioFor), To: at, Limit: 1})
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	known := map[string]market.Decimal{}
	for i := range bars {
		if len(bars[i]) > 0 {
			known[v.Contracts[i].Pair.Key] = bars[i][0].Close
		}
	}
	return known, nil
}

// meanRatio is longs for each short by the mean share of some perpetuals; nil where one of
// them has none.
func meanRatio(shares, of map[string]market.Decimal) *json.Number {
	var list []market.Decimal
	for key := range of {
		share, ok := shares[key]
		if !ok {
			return nil
		}
		list = append(list, share)
	}
	ratio, ok := market.LongShortRatio(list)
	if !ok {
		return nil
	}
	text := json.Number(ratio.String())
	return &text
}

// liquidations sums up the last hour and day.
func (r *reader) liquidations(ctx context.Context, in catalog.LiquidationSumsIn) (catalog.LiquidationSummary, error) {
	var out catalog.LiquidationSummary
	only, err := r.selection(ctx, in)
	if err != nil {
		return out, err
	}
	var all []pairliquidations.Pair
	for _, of := range r.liquidated {
		v, err := store.OrZero(of.Get(ctx))
		if err != nil {
			return out, err
		}
		all = append(all, v.Pairs...)
	}
	text, err := r.texts(ctx, in.Currency)
	if err != nil {
		return out, err
	}
	now := api.Now(ctx).Truncate(time.Minute)
	if err := r.reportSince(ctx, in, now.Add(-pairliquidations.Window)); err != nil {
		return out, err
	}
	var hour, day, mostOfPair market.Liquidated
	platforms := map[string]market.Decimal{}
	d := &out.Detail
	for i := range all {
		pair := &all[i]
		if !only(pair) {
			continue
		}
		inHour, inDay := pair.Since(now.Add(-time.Hour+time.Minute)), pair.Since(now.Add(-24*time.Hour+time.Minute))
		if inDay.Count == 0 {
			continue
		}
		if inDay.Largest.Cmp(day.Largest) > 0 || d.MaxMarket == "" {
			d.MaxMarket = pair.Platform
		}
		if inDay.Total().Cmp(mostOfPair.Total()) > 0 || d.DayPair == "" {
			mostOfPair, d.DayPair = inDay, pair.Key
		}
		platforms[pair.Platform] = platforms[pair.Platform].Add(inDay.Total())
		hour.Merge(&inHour)
		day.Merge(&inDay)
	}
	for platform, total := range platforms {
		if c := total.Cmp(platforms[d.DayMarket]); d.DayMarket == "" || c > 0 || c == 0 && platform < d.DayMarket {
			d.DayMarket = platform
		}
	}
	d.Liq1h, d.LiqLong1h, d.LiqShort1h = text(hour.Total()), text(hour.Long), text(hour.Short)
	d.Liq24h, d.LiqLong24h, d.LiqShort24h = text(day.Total()), text(day.Long), text(day.Short)
	d.MaxLiq = text(day.Largest)
	return out, nil
}

// reportSince reports since when liquidations of the exchanges that are summed up are known, where
// that is later than their day begins: none tells the past.
func (r *reader) reportSince(ctx context.Context, in catalog.LiquidationSumsIn, begin time.Time) error {
	platform := ""
	if in.Type != "1" {
		platform = strings.ToLower(string(in.MarketKey))
	}
	since, err := r.known.Since(ctx, catalog.ExchangeLiquidations, platform)
	if err == nil && since.After(begin) {
		retention.Reached(ctx, since)
	}
	return err
}

// selection returns which pairs are summed up: without a type those of the coin and of the
// exchange that are given.
func (r *reader) selection(ctx context.Context, in catalog.LiquidationSumsIn) (func(*pairliquidations.Pair) bool, error) {
	byCoin, byPlatform := in.CoinKey != "" && in.Type != "2", in.MarketKey != "" && in.Type != "1"
	switch {
	case in.Type == "1" && !byCoin:
		return nil, api.BadParameter("coinKey is missing: type 1 takes the key of a coin")
	case in.Type == "2" && !byPlatform:
		return nil, api.BadParameter("marketKey is missing: type 2 takes the key of an exchange")
	}
	coin, platform := "", strings.ToLower(string(in.MarketKey)) // some clients pass on what their user typed
	named := map[string]bool{}                                  // keys, in lower case, of pairs that the perpetual exchange names otherwise: kPEPE
	if byCoin {
		known, err := store.OrZero(r.coins.Get(ctx))
		if err != nil {
			return nil, err
		}
		perps, err := store.OrZero(r.perps.Get(ctx))
		if err != nil {
			return nil, err
		}
		coin = known.ShortName(string(in.CoinKey))
		for i := range perps.Tickers { // such as kpepe
			if pair, ok := pairs.Perp(perps.Tickers[i].Coin); ok && strings.EqualFold(pair.Base, coin) {
				coin = pair.Coin()
			}
		}
		for i := range perps.Tickers {
			if pair, ok := pairs.Perp(perps.Tickers[i].Coin); ok && pair.Coin() == coin {
				named[pair.Key] = true
			}
		}
	}
	return func(p *pairliquidations.Pair) bool {
		return (!byCoin || p.Coin == coin || named[p.Key]) && (!byPlatform || p.Platform == platform)
	}, nil
}

// texts returns what writes US dollars in a currency, empty while no rate of it is known.
func (r *reader) texts(ctx context.Context, currency string) (func(market.Decimal) string, error) {
	if currency == "usd" {
		return market.Decimal.String, nil
	}
	v, err := store.OrZero(r.rates.Get(ctx))
	if err != nil {
		return nil, err
	}
	return v.Yuan(api.Now(ctx)), nil
}
