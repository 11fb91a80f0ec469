package main

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"quotary/shared/api"
	"quotary/shared/data/contracts"
	"quotary/shared/data/funding"
	"quotary/shared/data/klines"
	"quotary/shared/data/pairbooks"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairseries"
	"quotary/shared/data/pairtrades"
	"quotary/shared/market"
	"quotary/shared/store"
)

// The perpetual exchange is a platform too. What is shown of it comes from the datasets of
// the perpetual family.

// isPerp reports whether a key is of a pair of the perpetual exchange.
func isPerp(key string) bool { return strings.HasSuffix(key, ":"+pairs.Hyperliquid) }

// coinOf is the coin of a pair of the perpetual exchange, empty for one that has not traded.
func (r *reader) coinOf(ctx context.Context, key string) (string, error) {
	v, err := r.perps.Get(ctx)
	pair, _, _ := pairs.PerpOf(v, key)
	return pair.Symbol, err
}

// perpFunding are buckets of what the exchange expected of a pair's funding and of what it
// paid for each hour, which is at its end: oldest first.
func (r *reader) perpFunding(ctx context.Context, key string, width time.Duration, w pairseries.Window) ([]market.Bar, error) {
	coin, err := r.coinOf(ctx, key)
	if err != nil || coin == "" {
		return nil, err
	}
	bars, err := pairseries.Funding.Read(ctx, r.series, key, width, w)
	if err != nil {
		return nil, err
	}
	ms := width.Milliseconds()
	buckets := make(map[int64]market.Bar, len(bars))
	for _, bar := range bars {
		buckets[bar.Time] = bar
	}
	add := func(at int64, text string) error {
		rate, err := market.ParseDecimal(text)
		bar := buckets[at/ms*ms]
		bar.Time = at / ms * ms
		bar.Add(at, rate)
		buckets[bar.Time] = bar
		return err
	}
	from, to := w.From, w.To
	if !from.IsZero() {
		from = time.UnixMilli((from.UnixMilli()+ms-1)/ms*ms + 1)
	}
	if !to.IsZero() {
		to = time.UnixMilli(to.UnixMilli()/ms*ms + ms + 1)
	}
	// As many hours as Limit buckets have. Where some are missing these make more buckets,
	// of which the oldest may be cut: it falls out.
	hours, err := funding.Newest(ctx, r.series, coin, from, to, w.Limit*int(max(1, width/time.Hour)))
	if err != nil {
		return nil, err
	}
	for i := range hours {
		paid := market.PairFunding{Time: market.Hour1.StartMs(hours[i].Time), Paid: true}
		if err := add(paid.At(), hours[i].Rate); err != nil {
			return nil, err // of no row: they are checked when they are read
		}
	}
	// Rows are a minute behind.
	at, rate, err := r.expected(ctx, coin)
	if err != nil {
		return nil, err
	}
	if open := at / ms * ms; rate != "" && (w.From.IsZero() || open >= w.From.UnixMilli()) && (w.To.IsZero() || open <= w.To.UnixMilli()) {
		if err := add(at, rate); err != nil {
			return nil, err // as above
		}
	}
	bars = slices.SortedFunc(maps.Values(buckets), func(a, b market.Bar) int { return cmp.Compare(a.Time, b.Time) })
	return bars[max(0, len(bars)-w.Limit):], nil
}

// expected is the rate that the exchange expects of the running hour, and when it said so, ms;
// empty where it has said nothing in this hour.
func (r *reader) expected(ctx context.Context, coin string) (at int64, rate string, err error) {
	v, err := store.OrZero(r.contexts.Get(ctx))
	if err != nil || market.Hour1.StartMs(v.Time) != market.Hour1.StartMs(api.Now(ctx).UnixMilli()) {
		return 0, "", err
	}
	for i := range v.Coins {
		if v.Coins[i].Coin == coin {
			return v.Time, v.Coins[i].Funding, nil
		}
	}
	return 0, "", nil
}

// perpBook is the book of a pair as it is now, of which the exchange shows the best 20 levels a
// side; false for one of which none has come. It has no levels where that is too long ago.
func (r *reader) perpBook(ctx context.Context, key string) (b market.PairBook, followed bool, err error) {
	coin, err := r.coinOf(ctx, key)
	if err != nil || coin == "" {
		return b, false, err
	}
	v, err := r.perpBooks.Get(ctx)
	if err != nil {
		return b, false, err
	}
	last, followed, err := v.Lookup(coin)
	if api.Now(ctx).UnixMilli()-last.Time > pairbooks.StaleAfter.Milliseconds() {
		return market.PairBook{Pair: key, Time: last.Time, Lost: true}, followed, err
	}
	return last.OfPair(key), followed, err
}

// perpTrades are the newest trades of a pair, oldest first.
func (r *reader) perpTrades(ctx context.Context, key string, most int) ([]pairtrades.Trade, error) {
	coin, err := r.coinOf(ctx, key)
	if err != nil || coin == "" {
		return nil, err
	}
	trades, err := klines.LatestTrades(ctx, r.series, coin, most)
	list := make([]pairtrades.Trade, len(trades))
	for i, t := range trades {
		list[i] = pairtrades.Trade{ID: t.Order.Tid, Time: t.Order.Time, Px: t.Px, Sz: t.Sz, Paid: market.Notional(t.Px, t.Sz), Sold: !t.Bought}
	}
	return list, err
}

// perpContracts are the perpetuals of the perpetual exchange that are open, with their open
// interest.
func (r *reader) perpContracts(ctx context.Context) ([]contracts.Contract, error) {
	v, err := store.OrZero(r.contexts.Get(ctx))
	list := make([]contracts.Contract, 0, len(v.Coins))
	for i := range v.Coins {
		one := &v.Coins[i]
		if pair, ok := pairs.Perp(one.Coin); ok && one.Interest.IsPos() {
			list = append(list, contracts.Contract{Pair: pair, Size: one.Interest, Value: market.Notional(one.Mark, one.Interest), InterestTime: v.Time})
		}
	}
	return list, err
}
