package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"quotary/shared/catalog"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/store"
)

// indicatorPairs returns the keys of the followed pairs of a coin that an indicator covers, those
// of the perpetual exchange included.
func (r *reader) indicatorPairs(ctx context.Context, in catalog.IndicatorPairsIn) (catalog.IndicatorPairList, error) {
	list := catalog.IndicatorPairList{List: []string{}}
	known, err := store.OrZero(r.coins.Get(ctx))
	if err != nil {
		return list, err
	}
	all, err := r.pairs.Get(ctx)
	if err != nil {
		return list, err
	}
	perps, err := store.OrZero(r.perps.Get(ctx))
	if err != nil {
		return list, err
	}
	coin := known.ShortName(string(in.CoinType))
	add := func(p *market.Pair) {
		if p.Coin() == coin && all.Covers(in.IndicatorKey, p) {
			list.List = append(list.List, p.Key)
		}
	}
	for i := range all.Pairs {
		if all.Pairs[i].Followed {
			add(&all.Pairs[i].Pair)
		}
	}
	for _, p := range pairs.Perps(perps) {
		add(&p)
	}
	slices.Sort(list.List)
	return list, nil
}

// indicatorAsk is what is asked for of an indicator.
type indicatorAsk struct {
	pair   market.Pair
	period market.Period
	until  time.Time
	size   int
}

// indicator returns rows of an indicator of a pair, oldest first; none where it does not cover it.
func (r *reader) indicator(ctx context.Context, in catalog.IndicatorKlinesIn) (catalog.IndicatorKlineList, error) {
	list := catalog.IndicatorKlineList{KlineData: catalog.IndicatorKlines{
		Mapping: catalog.IndicatorOf(in.IndicatorKey).Fields, List: [][]string{}, RequestState: 1,
	}}
	ask := indicatorAsk{size: int(in.Size)}
	var err error
	if ask.period, ask.until, err = periodOf(ctx, in.Period, in.OpenTime, in.Since); err != nil {
		return list, err
	}
	all, err := store.OrZero(r.pairs.Get(ctx))
	if err != nil {
		return list, err
	}
	var ok bool
	if ask.pair, ok, err = r.pairOf(ctx, strings.ToLower(string(in.Symbol))); err != nil || !ok {
		return list, err
	}
	if in.IndicatorKey == "basis" {
		// The spot pair need not be followed: it is asked for.
		if _, ok = all.Lookup(pairs.SpotKey(&ask.pair)); !ok {
			return list, nil
		}
	} else if !all.Covers(in.IndicatorKey, &ask.pair) {
		return list, nil
	}
	rows, err := r.indicatorRows(ctx, in.IndicatorKey, &ask)
	if rows != nil {
		list.KlineData.List = rows
	}
	return list, err
}

// pairOf is the pair of a key; false for one that nobody lists.
func (r *reader) pairOf(ctx context.Context, key string) (market.Pair, bool, error) {
	if strings.HasSuffix(key, ":"+pairs.Hyperliquid) {
		v, err := store.OrZero(r.perps.Get(ctx))
		pair, _, ok := pairs.PerpOf(v, key)
		return pair, ok, err
	}
	pair, ok, err := r.lookup.Lookup(ctx, key)
	return pair.Pair, ok, err
}

// indicatorRows are the rows of an indicator that covers the pair.
func (r *reader) indicatorRows(ctx context.Context, key string, ask *indicatorAsk) ([][]string, error) {
	switch key {
	case "fundflow":
		return r.takers(ctx, ask, func(c *market.Candle) []string {
			return []string{c.AmountBuyer.Add(c.AmountBuyer).Sub(c.Amount).String()}
		})
	case "ftbs", "bsv":
		return r.takers(ctx, ask, func(c *market.Candle) []string {
			return []string{c.SizeBuyer.String(), c.Size.Sub(c.SizeBuyer).String()}
		})
	case "position":
		return newest(ctx, r, pairseries.Interest, ask, func(b *market.Bar) []string {
			return []string{seconds(b.Time), b.Open.String(), b.High.String(), b.Low.String(), b.Close.String()}
		})
	case "tvolume":
		return r.turnovers(ctx, ask)
	case "lsur":
		return newest(ctx, r, pairseries.Ratios, ask, func(b *market.Bar) []string {
			ratio := ""
			if of, ok := market.LongShortRatio([]market.Decimal{b.Close}); ok {
				ratio = of.String()
			}
			return []string{seconds(b.Time), market.ShortShare(b.Close).String(), b.Close.String(), ratio}
		})
	case "ttsi":
		return newest(ctx, r, pairseries.TopAccounts, ask, shares)
	case "ttmu":
		return newest(ctx, r, pairseries.TopPositions, ask, shares)
	case "mlr":
		ask.pair.Key = pairs.LoansKey(&ask.pair)
		return newest(ctx, r, pairseries.Loans, ask, func(b *market.Bar) []string {
			return []string{seconds(b.Time), b.Close.String()}
		})
	case "fr":
		return newest(ctx, r, pairseries.Funding, ask, func(b *market.Bar) []string {
			// What was paid is in the last millisecond before it was.
			return []string{seconds(b.Last + 1), seconds(b.Time), b.Close.String()}
		})
	case "aili":
		return newest(ctx, r, pairseries.Liquidations, ask, func(l *market.Liquidated) []string {
			return []string{seconds(l.Time), l.Short.String(), l.Long.String()}
		})
	case "basis":
		return r.basis(ctx, ask)
	case "aibst":
		return r.takerCounts(ctx, ask)
	case "aiaggtrade":
		return r.takerRuns(ctx, ask)
	}
	return nil, nil
}

// shares are a row of those that are long, and those that are short.
func shares(b *market.Bar) []string {
	return []string{seconds(b.Time), b.Close.String(), market.ShortShare(b.Close).String()}
}

// newest are rows of a series of a perpetual, once all of its past is stored.
func newest[T any](ctx context.Context, r *reader, s pairseries.Series[T], ask *indicatorAsk, row func(*T) []string) (rows [][]string, err error) {
	err = r.past(ctx, ask.pair.Key, s.Name(), func(series *store.Series) error {
		buckets, err := s.Newest(ctx, series, ask.pair.Key, ask.period, ask.until, ask.size)
		for i := range buckets {
			rows = append(rows, row(&buckets[i]))
		}
		return err
	})
	return rows, err
}

// past has read be called once what a series has of a pair is stored: of liquidations, which no
// exchange tells the past of, what there is since the pair is followed.
func (r *reader) past(ctx context.Context, key, series string, read func(*store.Series) error) error {
	if series == pairseries.Liquidations.Name() {
		return r.lookup.SinceFollowed(ctx, key, func() error { return read(r.series) })
	}
	return r.lookup.Contracts(ctx, key, read)
}

// mostMinutes is how many minutes are read at most where takers are counted in no wider K-line.
const mostMinutes = 3 * 24 * 60

// takers are rows of what takers of a pair bought and sold. Of an exchange whose K-lines do not
// say it a bucket has a row where the trades of all of its minutes were seen.
func (r *reader) takers(ctx context.Context, ask *indicatorAsk, values func(*market.Candle) []string) ([][]string, error) {
	candles, err := r.candlesWithTakers(ctx, ask)
	rows := make([][]string, 0, len(candles))
	for i := range candles {
		rows = append(rows, append([]string{seconds(candles[i].OpenTime)}, values(&candles[i])...))
	}
	return rows, err
}

func (r *reader) candlesWithTakers(ctx context.Context, ask *indicatorAsk) ([]market.Candle, error) {
	if pairs.CountsTakers(ask.pair.Platform) {
		return r.candles(ctx, ask.pair.Key, ask.period, ask.until, ask.size)
	}
	minute, err := market.NewPeriod(60, market.OpenBeijing0)
	if err != nil {
		return nil, fmt.Errorf("a period that there is: %w", err)
	}
	end := ask.period.Next(ask.until).Add(-time.Minute)
	limit := int(min(mostMinutes, (end.UnixMilli()-ask.period.Back(ask.until, ask.size))/60_000+1))
	minutes, err := r.lookup.Klines(ctx, ask.pair.Key, minute, end, limit)
	if err != nil || len(minutes) == 0 {
		return nil, err
	}
	begin := ask.period.StartMs(minutes[0].OpenTime)
	unseen := map[int64]bool{}
	if len(minutes) == limit {
		unseen[begin] = begin < minutes[0].OpenTime // a part of it may not have been read
	}
	for i := range minutes {
		if m := &minutes[i]; m.Trades == 0 && m.Size.IsPos() {
			unseen[ask.period.StartMs(m.OpenTime)] = true
		}
	}
	candles := market.Compose(minutes, ask.period.StartMs)
	candles = slices.DeleteFunc(candles, func(c market.Candle) bool { return unseen[c.OpenTime] })
	return candles[max(0, len(candles)-ask.size):], nil
}

// turnovers are rows of open interest and of what was traded, of buckets that have both.
func (r *reader) turnovers(ctx context.Context, ask *indicatorAsk) ([][]string, error) {
	candles, err := r.candles(ctx, ask.pair.Key, ask.period, ask.until, ask.size)
	if err != nil {
		return nil, err
	}
	traded := make(map[int64]string, len(candles))
	for i := range candles {
		traded[candles[i].OpenTime] = candles[i].Amount.String()
	}
	rows, err := newest(ctx, r, pairseries.Interest, ask, func(b *market.Bar) []string {
		volume, ok := traded[b.Time]
		if !ok {
			return nil
		}
		return []string{seconds(b.Time), b.Close.String(), volume}
	})
	return slices.DeleteFunc(rows, func(row []string) bool { return row == nil }), err
}

// basis are rows of how much dearer a perpetual is than spot, of buckets in which both were
// traded.
func (r *reader) basis(ctx context.Context, ask *indicatorAsk) ([][]string, error) {
	swap, err := r.candles(ctx, ask.pair.Key, ask.period, ask.until, ask.size)
	if err != nil {
		return nil, err
	}
	spot, err := r.candles(ctx, pairs.SpotKey(&ask.pair), ask.period, ask.until, ask.size)
	if err != nil {
		return nil, err
	}
	closes := make(map[int64]market.Decimal, len(spot))
	for i := range spot {
		closes[spot[i].OpenTime] = spot[i].Close
	}
	var rows [][]string
	for i := range swap {
		of, ok := closes[swap[i].OpenTime]
		if !ok || !of.IsPos() {
			continue
		}
		lead := swap[i].Close.Sub(of)
		rows = append(rows, []string{seconds(swap[i].OpenTime), lead.String(), market.Quotient(lead.String(), of.String(), rateDigits)})
	}
	return rows, nil
}

// rateDigits are the decimal places of a rate that is a quotient.
const rateDigits = 8

// seconds writes a time, ms, in seconds.
func seconds(ms int64) string { return strconv.FormatInt(ms/1000, 10) }
