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
	"quotary/shared/data/pairliquidations"
	"quotary/shared/data/pairseries"
	"quotary/shared/data/rates"
	"quotary/shared/market"
	"quotary/shared/store"
)

// reader answers from what is stored of centralised exchanges.
type reader struct {
	series     *store.Series
	contracts  *store.View[contracts.View]
	liquidated [2]*store.View[pairliquidations.View] // of centralised exchanges, and of the perpetual one
	coins      *store.View[coins.View]
	rates      *store.View[rates.View]
}

func newReader(series *store.Series, views *store.Views, clock func() time.Time) *reader {
	return &reader{
		series: series, contracts: contracts.Open(views, clock), coins: coins.Open(views, clock), rates: rates.Open(views, clock),
		liquidated: [...]*store.View[pairliquidations.View]{
			pairliquidations.Open(views, pairliquidations.Name, clock), pairliquidations.Open(views, pairliquidations.PerpName, clock),
		},
	}
}

// ratioCoin is the coin whose ratio is that of the market.
const ratioCoin = "btc"

// ratioFor is how old a share may be.
const ratioFor = time.Hour

// longShort returns the ratio of accounts now, a day and a week ago.
func (r *reader) longShort(ctx context.Context, _ catalog.LongShortRatioIn) (catalog.LongShortRatioNow, error) {
	var out catalog.LongShortRatioNow
	v, err := store.OrZero(r.contracts.Get(ctx))
	if err != nil {
		return out, err
	}
	now := api.Now(ctx)
	var ratios [3]*json.Number
	for i, ago := range [...]time.Duration{0, 24 * time.Hour, 7 * 24 * time.Hour} {
		if ratios[i], err = r.ratio(ctx, v, now.Add(-ago)); err != nil {
			return out, err
		}
	}
	out.Detail = catalog.LongShortRatioDetail{LastDay: ratios[1], LastWeek: ratios[2]}
	if ratios[0] != nil {
		out.Detail.Last = ratios[0].String()
	}
	return out, nil
}

// ratio is longs for each short at a time, by the mean share over the perpetuals of
// bitcoin; nil where it is not known.
func (r *reader) ratio(ctx context.Context, v contracts.View, at time.Time) (*json.Number, error) {
	shares := make([][]market.Bar, len(v.Contracts))
	group, ctx := errgroup.WithContext(ctx)
	for i := range v.Contracts {
		if pair := &v.Contracts[i].Pair; pair.Coin() == ratioCoin {
			group.Go(func() (err error) {
				shares[i], err = pairseries.Ratios.Read(ctx, r.series, pair.Key, time.Minute, pairseries.Window{From: at.Add(-ratioFor), To: at, Limit: 1})
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var list []market.Decimal
	for _, bars := range shares {
		for i := range bars {
			list = append(list, bars[i].Close)
		}
	}
	ratio, ok := market.LongShortRatio(list)
	if !ok {
		return nil, nil
	}
	text := json.Number(ratio.String())
	return &text, nil
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

// selection returns which pairs are summed up.
func (r *reader) selection(ctx context.Context, in catalog.LiquidationSumsIn) (func(*pairliquidations.Pair) bool, error) {
	kind := in.Type
	switch { // who names a coin or an exchange alone means it
	case kind == "" && in.CoinKey != "":
		kind = "1"
	case kind == "" && in.MarketKey != "":
		kind = "2"
	}
	switch kind {
	case "1":
		if in.CoinKey == "" {
			return nil, api.BadRequest("coinKey is missing: type 1 takes the key of a coin")
		}
		v, err := store.OrZero(r.coins.Get(ctx))
		coin := v.ShortName(string(in.CoinKey))
		return func(p *pairliquidations.Pair) bool { return p.Coin == coin }, err
	case "2":
		if in.MarketKey == "" {
			return nil, api.BadRequest("marketKey is missing: type 2 takes the key of an exchange")
		}
		platform := strings.ToLower(string(in.MarketKey)) // some clients pass on what their user typed
		return func(p *pairliquidations.Pair) bool { return p.Platform == platform }, nil
	}
	return func(*pairliquidations.Pair) bool { return true }, nil
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
