package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"quotary/shared/catalog"
	"quotary/shared/data/books"
	"quotary/shared/data/coins"
	"quotary/shared/data/contracts"
	"quotary/shared/data/followrequests"
	"quotary/shared/data/largeorders"
	"quotary/shared/data/pairbooks"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairseries"
	"quotary/shared/data/pairtrades"
	"quotary/shared/data/rates"
	"quotary/shared/data/tickers"
	"quotary/shared/market"
	"quotary/shared/service/pairlookup"
	"quotary/shared/store"
	"quotary/shared/venue"
)

// reader answers from what is stored of perpetuals.
type reader struct {
	log       *store.Log
	large     *store.View[largeorders.View]
	series    *store.Series
	contracts *store.View[contracts.View]
	trades    *store.View[pairtrades.View]
	rates     *store.View[rates.View]
	perps     *store.View[tickers.View]
	contexts  *store.View[market.Contexts] // of the perpetual exchange
	coins     *store.View[coins.View]
	books     *store.View[pairbooks.View]
	perpBooks *store.View[books.View]
	lookup    *pairlookup.Pairs

	trends    *recent[hourOf, []market.Bar]
	maps      *recent[mapOf, catalog.LiquidationMap]
	estimates *recent[estimatesOf, catalog.EstimatedLiquidationHistory]
}

func newReader(log *store.Log, series *store.Series, views *store.Views, wanted *followrequests.Store, clock func() time.Time) *reader {
	return &reader{
		log: log, large: largeorders.Published.Open(views, clock),
		series: series, contracts: contracts.Published.Open(views, clock), trades: pairtrades.Published.Open(views, clock), rates: rates.Published.Open(views, clock),
		perps: tickers.Published.Open(views, clock), contexts: venue.PerpContexts.Open(views, clock),
		coins: coins.Published.Open(views, clock), books: pairbooks.Published.Open(views, clock), perpBooks: books.Published.Open(views, clock), lookup: pairlookup.New(series, pairs.Published.Open(views, clock), wanted),
		// Some 5 KB, 10 KB and 1 MB each.
		trends: newRecent[hourOf, []market.Bar](trendFor, 500), maps: newRecent[mapOf, catalog.LiquidationMap](mapFor, 100), estimates: newRecent[estimatesOf, catalog.EstimatedLiquidationHistory](mapFor, 10),
	}
}

// funding returns the rates of a pair, newest first.
func (r *reader) funding(ctx context.Context, in catalog.FundingRatesIn) ([]catalog.FuturesBar, error) {
	key, w := pairKey(in.Symbol), window(in.StartTime, in.EndTime, in.Limit)
	if isPerp(key) {
		bars, err := r.perpFunding(ctx, key, in.Interval.Duration(), w)
		list := rows(bars)
		slices.Reverse(list)
		return list, err
	}
	bars, err := r.pairBars(ctx, pairseries.Funding, key, in.Interval.Duration(), w)
	list := rows(bars)
	slices.Reverse(list)
	return list, err
}

// pairBars are buckets of a perpetual of an exchange, oldest first. What else an answer is made
// of is read first once they are there, so that they are not read for an answer that fails by it.
func (r *reader) pairBars(ctx context.Context, s pairseries.Series[market.Bar], key string, width time.Duration, w pairseries.Window, first ...func() error) (bars []market.Bar, err error) {
	err = r.lookup.Contracts(ctx, key, func(series *store.Series) (err error) {
		for _, read := range first {
			if err := read(); err != nil {
				return err
			}
		}
		bars, err = s.Read(ctx, series, key, width, w)
		return err
	})
	return bars, err
}

// coinFunding returns the rates of a coin, newest first.
func (r *reader) coinFunding(ctx context.Context, in catalog.CoinFundingRatesIn) ([]catalog.FuturesBar, error) {
	coin, err := r.shortName(ctx, in.Symbol)
	if err != nil {
		return nil, err
	}
	list, err := r.bars(ctx, pairseries.CoinFunding, coin, in.Interval, window(in.StartTime, in.EndTime, in.Limit))
	slices.Reverse(list)
	return list, err
}

// stablecoinInterest returns open interest of a coin, oldest first: of one that the perpetual exchange
// alone has a perpetual of, that of this one, as it is in the list of perpetuals.
func (r *reader) stablecoinInterest(ctx context.Context, in catalog.CoinInterestIn) ([]catalog.FuturesBar, error) {
	w := fromStart(in.StartTime, in.EndTime, in.Limit)
	coin, err := r.shortName(ctx, in.Symbol)
	if err != nil {
		return nil, err
	}
	v, err := store.OrZero(r.contracts.Get(ctx))
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(v.Contracts, func(c contracts.Contract) bool { return !c.Pair.Inverse && c.Pair.Coin() == coin }) {
		return r.bars(ctx, pairseries.CoinInterest, pairseries.Stable(coin), in.Interval, w)
	}
	return r.bars(ctx, pairseries.Interest, pairs.PerpCoinKey(coin), in.Interval, w)
}

// coinMarginInterest returns that in inverse perpetuals.
func (r *reader) coinMarginInterest(ctx context.Context, in catalog.CoinInterestIn) ([]catalog.FuturesBar, error) {
	coin, err := r.shortName(ctx, in.Symbol)
	if err != nil {
		return nil, err
	}
	return r.bars(ctx, pairseries.CoinInterest, pairseries.CoinMargined(coin), in.Interval, fromStart(in.StartTime, in.EndTime, in.Limit))
}

// shortName is the short name of the coin that a client names.
func (r *reader) shortName(ctx context.Context, name catalog.PairKey) (string, error) {
	known, err := store.OrZero(r.coins.Get(ctx))
	return known.ShortName(string(name)), err
}

func window(start, end *catalog.Millis, limit int64) pairseries.Window {
	return pairseries.Window{From: start.Time(), To: end.Time(), Limit: int(limit)}
}

// fromStart is the window that holds the first buckets where a start is given.
func fromStart(start, end *catalog.Millis, limit int64) pairseries.Window {
	w := window(start, end, limit)
	w.Oldest = start != nil
	return w
}

// pairKey is the key of a pair: keys are lower case everywhere, and some clients pass on
// what their user typed.
func pairKey(k catalog.PairKey) string { return strings.ToLower(string(k)) }

// bars returns buckets, oldest first.
func (r *reader) bars(ctx context.Context, s pairseries.Series[market.Bar], key string, interval catalog.FuturesInterval, w pairseries.Window) ([]catalog.FuturesBar, error) {
	bars, err := s.Read(ctx, r.series, key, interval.Duration(), w)
	return rows(bars), err
}

func rows(bars []market.Bar) []catalog.FuturesBar {
	list := make([]catalog.FuturesBar, len(bars))
	for i := range bars {
		b := &bars[i]
		list[i] = catalog.FuturesBar{Time: b.Time, Open: b.Open.String(), High: b.High.String(), Low: b.Low.String(), Close: b.Close.String()}
	}
	return list
}

// liquidations returns sums of what was liquidated of a pair, oldest first: of one that
// clients want from when on it is followed, as no exchange tells what was before.
func (r *reader) liquidations(ctx context.Context, in catalog.PairLiquidationsIn) ([]catalog.PairLiquidation, error) {
	var sums []market.Liquidated
	key, w := pairKey(in.Symbol), fromStart(in.StartTime, in.EndTime, in.Limit)
	if pair, listed, err := r.lookup.Lookup(ctx, key); err != nil || listed && !pair.Swap {
		return []catalog.PairLiquidation{}, err
	}
	err := r.lookup.SinceFollowed(ctx, key, func() (err error) {
		sums, err = pairseries.Liquidations.Read(ctx, r.series, key, in.Interval.Duration(), w)
		return err
	})
	list := make([]catalog.PairLiquidation, 0, len(sums))
	for _, s := range sums {
		list = append(list, catalog.PairLiquidation{Time: s.Time, LongUSD: s.Long.String(), ShortUSD: s.Short.String()})
	}
	return list, err
}
