package exchange

import (
	"strings"

	"quotary/shared/catalog"
	"quotary/shared/market"
)

// holds says of which datasets a batch holds something, platform by platform.
func holds(b *Batch, say func(catalog.Need)) {
	for i := range b.Listings {
		say(catalog.ExchangePairs.On(b.Listings[i].Platform))
	}
	sayOf(say, b.Tickers, func(t *market.PairTicker) string { return t.Pair }, catalog.ExchangeTickers)
	sayOf(say, b.Trades, func(t *market.PairTrade) string { return t.Pair }, catalog.ExchangeTrades)
	sayOf(say, b.Runs, func(r *Run) string { return r.Pair }, catalog.ExchangeKlines)
	sayOf(say, b.Fundings, func(f *market.PairFunding) string { return f.Pair }, catalog.ExchangeFunding)
	for i := range b.Fundings {
		if !b.Fundings[i].Paid { // it was pushed, as liquidations are: where none has come there is none
			sayOf(say, b.Fundings[i:i+1], func(f *market.PairFunding) string { return f.Pair }, catalog.ExchangeLiquidations)
		}
	}
	sayOf(say, b.Interests, func(i *market.PairInterest) string { return i.Pair }, catalog.ExchangeInterest)
	sayOf(say, b.Ratios, func(r *market.PairRatio) string { return r.Pair }, catalog.ExchangeRatios)
	sayOf(say, b.Books, func(b *market.PairBook) string { return b.Pair }, catalog.ExchangeBooks)
	sayOf(say, b.Liquidations, func(l *market.PairLiquidation) string { return l.Pair }, catalog.ExchangeLiquidations)
}

// sayOf says datasets of the platforms of pairs, whose events come platform by platform.
func sayOf[T any](say func(catalog.Need), events []T, pair func(*T) string, datasets ...*catalog.Dataset) {
	said := ""
	for i := range events {
		_, platform, _ := strings.Cut(pair(&events[i]), ":")
		if platform == said {
			continue
		}
		said = platform
		for _, d := range datasets {
			say(d.On(platform))
		}
	}
}

// brings are the parts of a venue's platform of datasets.
func (v venue) brings(datasets ...*catalog.Dataset) (needs []catalog.Need) {
	for _, d := range datasets {
		needs = append(needs, d.On(v.Platform))
	}
	return needs
}

// pushed are the datasets that a venue pushes something of, and those that it is asked for.
func (v venue) pushed() []catalog.Need {
	if v.Swap {
		return v.brings(catalog.ExchangeTrades, catalog.ExchangeFunding, catalog.ExchangeInterest, catalog.ExchangeRatios, catalog.ExchangeLiquidations)
	}
	return v.brings(catalog.ExchangeTrades)
}

func (v venue) polled() (needs []catalog.Need) {
	if _, ok := v.Venue.(Tickers); ok {
		needs = v.brings(catalog.ExchangeTickers)
	}
	if _, ok := v.Venue.(Contracts); ok {
		needs = append(needs, v.brings(catalog.ExchangeInterest)...)
	}
	return needs
}
