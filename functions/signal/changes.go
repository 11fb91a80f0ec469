package main

import (
	"context"
	"hash/fnv"
	"strconv"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/pairchanges"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairtickers"
	"quotary/shared/market"
	"quotary/shared/store"
)

// changes returns the newest sudden changes of a kind, or of all.
func (k *keeper) changes(ctx context.Context, in catalog.ChangeSignalsIn) (out catalog.ChangeSignalList, err error) {
	kind, _ := strconv.Atoi(in.Type) // one that is listed, or none
	now := api.Now(ctx)
	found, err := pairchanges.Newest(ctx, k.log, market.ChangeKind(kind), now)
	if err != nil {
		return out, err
	}
	listed, err := store.OrZero(k.pairs.Get(ctx))
	if err != nil {
		return out, err
	}
	prices, err := store.OrZero(k.tickers.Get(ctx))
	if err != nil {
		return out, err
	}
	text := market.Decimal.String
	if in.Currency == "cny" {
		known, err := store.OrZero(k.rates.Get(ctx))
		if err != nil {
			return out, err
		}
		text = known.Yuan(now)
	}
	out.List = make([]catalog.ChangeSignal, len(found))
	for i := range found {
		out.List[i] = changeSignal(&found[i], in.Currency, listed, prices, text)
	}
	return out, nil
}

// changeSignal is a change as it is shown, where text writes US dollars in a currency.
func changeSignal(c *market.PairChange, currency string, listed pairs.View, prices pairtickers.View, text func(market.Decimal) string) catalog.ChangeSignal {
	id := fnv.New64a()
	_, _ = id.Write([]byte(c.Pair + "|" + strconv.Itoa(int(c.Kind)) + "|" + strconv.FormatInt(c.Time, 10) + "|" + c.Of))
	out := catalog.ChangeSignal{
		ID: strconv.FormatUint(id.Sum64()>>11, 10), Key: c.Pair, CreatedAt: strconv.FormatInt(c.Time/1000, 10), Show: c.Pair, CurrencyStr: currency, Type: strconv.Itoa(int(c.Kind)),
	}
	pair, ok := listed.Lookup(c.Pair)
	if !ok {
		return out // nor is it known in which coin its prices are
	}
	out.Show = pairs.Show(&pair.Pair)
	ticker, traded := prices.Lookup(c.Pair)
	if degree, ok := ticker.Degree(); ok {
		out.Degree24h = degree.String()
	}
	dollars, priced := prices.Dollars(pair.Quote, pair.Platform)
	if !priced {
		return out
	}
	out.Price = text(c.Px.Mul(dollars))
	if traded {
		out.Trade = text(ticker.Amount.Mul(dollars))
	}
	return out
}
