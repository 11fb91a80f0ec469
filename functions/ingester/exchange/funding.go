package exchange

import (
	"maps"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/packedrows"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
)

// fundings keeps the series of funding rates: of each pair what the exchange expects and,
// at the end of each period, what it paid for it, and of each coin likewise the rates of all
// followed perpetuals, weighted by what was traded of them in 24 hours, each for eight hours.
// What they expect is weighted once a minute.
type fundings struct {
	engine.Defaults[*Batch]
	perpetuals
	pairs, coinRates packedrows.Bars
	rates            sums[market.WeightedRate]
	amounts          map[string]market.Decimal // traded in 24 hours, US dollars, by followed pair
	weighted         bool                      // rates of coins were made that are not written
	held             bool                      // what a checkpoint is behind is in memory only
}

func newFundings() *fundings {
	return &fundings{pairs: packedrows.NewBars(pairseries.Funding, pointsEvery, pointsEvery), coinRates: packedrows.NewBars(pairseries.CoinFunding, pointsEvery, pointsEvery), amounts: map[string]market.Decimal{}}
}

// Name is that of the series of pairs.
func (*fundings) Name() string { return pairseries.Funding.Name() }

// Restores has the pairs.
func (*fundings) Restores() []engine.RestoredView { return []engine.RestoredView{restoredPairs} }

// Restore takes them.
func (f *fundings) Restore(views map[string][]byte) error { return f.restorePairs(views) }

// Prefetch asks for the rows of rates.
func (f *fundings) Prefetch(b *Batch, r *engine.Reads) {
	for i := range b.Fundings {
		one := &b.Fundings[i]
		f.pairs.Want(r, one.Pair, one.At())
	}
	if end, ok := f.rates.ended(b.Newest()); ok {
		for coin := range f.byCoin {
			f.coinRates.Want(r, coin, end)
		}
	}
	for i := range b.PastRates {
		f.coinRates.Want(r, b.PastRates[i].Coin, b.PastRates[i].Time)
	}
}

// Apply takes rates, after the minute that they end.
func (f *fundings) Apply(b *Batch, r *engine.Reads, _ time.Time) error {
	newest := b.Newest()
	if end, ok := f.rates.ended(newest); ok {
		f.weighted = true
		for _, coin := range f.coins() {
			rate, ok := market.WeighRates(f.rates.at(end, f.byCoin[coin]))
			if !ok {
				continue
			}
			// Before the last millisecond of the minute, at which what was paid stands.
			if err := f.coinRates.Add(r, coin, end-1, rate); err != nil {
				return err
			}
		}
	}
	f.rates.advance(newest)
	if f.list(b.Listings) {
		maps.DeleteFunc(f.amounts, func(key string, _ market.Decimal) bool { _, followed := f.byKey[key]; return !followed })
	}
	for i := range b.Tickers {
		t := &b.Tickers[i]
		if _, ok := f.byKey[t.Pair]; ok {
			f.amounts[t.Pair] = t.Amount
		}
	}
	for i := range b.Fundings {
		one := &b.Fundings[i]
		if err := f.pairs.Add(r, one.Pair, one.At(), one.Rate); err != nil {
			return err
		}
		f.held = f.held || one.Paid
		if amount, ok := f.amounts[one.Pair]; ok && !one.Paid {
			f.rates.add(one.Pair, one.Time, market.WeightedRate{Rate: one.Rate, Period: one.Period, Weight: amount})
		}
	}
	for _, past := range b.PastRates {
		if err := f.coinRates.Add(r, past.Coin, past.Time, past.Rate); err != nil {
			return err
		}
		f.held = true
	}
	return nil
}

// Changes returns the rows once a minute, those of coins when their rates are made.
func (f *fundings) Changes(now time.Time, settle bool) engine.Changes {
	rows := append(f.pairs.Changes(now, settle), f.coinRates.Changes(now, settle || f.weighted)...)
	f.weighted = false
	f.held = f.held && (!f.pairs.Clean() || !f.coinRates.Clean())
	return engine.Changes{Fine: rows, Held: f.held}
}
