package main

import (
	"context"
	"fmt"
	"strings"

	"quotary/shared/catalog"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairtickers"
	"quotary/shared/data/tickers"
	"quotary/shared/market"
	"quotary/shared/store"
)

// perpTickers are the tickers of those keys that are pairs of the perpetual exchange: the
// last trade of each, and the highest and lowest price of its klines.
func (r *reader) perpTickers(ctx context.Context, keys []catalog.Key) (map[string]pairtickers.Ticker, error) {
	v, err := store.OrZero(r.perps.Get(ctx))
	if err != nil {
		return nil, err
	}
	var coins []string
	var lasts []tickers.Ticker
	known := map[string]pairtickers.Ticker{}
	for _, key := range keys {
		key := strings.ToLower(string(key))
		if _, seen := known[key]; seen {
			continue
		}
		if pair, last, ok := pairs.PerpOf(v, key); ok {
			coins, lasts = append(coins, pair.Symbol), append(lasts, last)
			known[key] = pairtickers.Ticker{}
		}
	}
	days, err := r.day.Candles(ctx, coins)
	if err != nil {
		return nil, err
	}
	for i := range days {
		px, err := market.ParseStored(lasts[i].Price)
		if err != nil {
			return nil, fmt.Errorf("last price of %s: %w", coins[i], err)
		}
		pair, _ := pairs.Perp(coins[i])
		t := pairtickers.Ticker{Pair: pair.Key, Time: lasts[i].Time, Last: px}
		if day := &days[i]; !day.Empty() {
			// The last trade may be newer than what is kept of the day.
			t.High, t.Low = decimalMax(day.High, px), decimalMin(day.Low, px)
		}
		known[pair.Key] = t
	}
	return known, nil
}

func decimalMax(a, b market.Decimal) market.Decimal {
	if b.Cmp(a) > 0 {
		return b
	}
	return a
}

func decimalMin(a, b market.Decimal) market.Decimal {
	if b.Cmp(a) < 0 {
		return b
	}
	return a
}
