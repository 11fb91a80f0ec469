package reference

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/cointickers"
	"quotary/shared/data/rates"
)

// coinPrices keeps the view of the newest figures of each coin, in both currencies.
type coinPrices struct {
	engine.Defaults[*Batch]
	known   rates.View
	tickers map[string]cointickers.Ticker
	time    int64 // of the newest ticker, ms
	changed bool
}

func newCoinPrices() *coinPrices { return &coinPrices{tickers: map[string]cointickers.Ticker{}} }

// Name is that of the view.
func (p *coinPrices) Name() string { return cointickers.Name }

// Restores has its own view, and the rates.
func (p *coinPrices) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(cointickers.Published), engine.Restores(rates.Published)}
}

// Restore takes figures and rates from the views. What the rates have changed since
// is computed again.
func (p *coinPrices) Restore(views map[string][]byte) (err error) {
	if p.known, err = engine.Restored(views, rates.Published); err != nil {
		return err
	}
	v, err := engine.Restored(views, cointickers.Published)
	p.time = v.Time
	for _, t := range v.Tickers {
		p.tickers[t.Key] = t
	}
	p.convert()
	return err
}

// Apply takes figures that are newer than what is known, and converts all where a
// rate has changed.
func (p *coinPrices) Apply(b *Batch, _ *engine.Reads, _ time.Time) error {
	rated := false
	for _, day := range b.Rates {
		rated = p.known.Add(day) || rated
	}
	for i := range b.Coins {
		t := cointickers.New(&b.Coins[i], p.known)
		if have, ok := p.tickers[t.Key]; t.Time >= p.oldest() && (!ok || have.Compare(&t) < 0) {
			p.tickers[t.Key], p.changed = t, true
			p.time = max(p.time, t.Time)
		}
	}
	if rated {
		p.convert()
	}
	return nil
}

// oldest is the time of the oldest figures that are kept, ms.
func (p *coinPrices) oldest() int64 { return p.time - cointickers.MaxAge.Milliseconds() }

func (p *coinPrices) convert() {
	for key, t := range p.tickers {
		if t.Convert(p.known) {
			p.tickers[key], p.changed = t, true
		}
	}
}

// Changes returns the view when a figure has changed.
func (p *coinPrices) Changes(time.Time, bool) engine.Changes {
	if !p.changed {
		return engine.Changes{}
	}
	p.changed = false
	maps.DeleteFunc(p.tickers, func(_ string, t cointickers.Ticker) bool { return t.Time < p.oldest() })
	keepNewest(p.tickers, mostCoins, func(t cointickers.Ticker) int64 { return t.Time })
	v := cointickers.View{Time: p.time, Tickers: slices.Collect(maps.Values(p.tickers))}
	return engine.Changes{Views: []engine.View{engine.ViewOf(cointickers.Published, v)}}
}

// mostCoins is of how many coins figures and listings are kept, the newest: more than any source
// has, whatever it says of their times.
const mostCoins = 25_000

// mostDropped is how many companies, coins and indexes are kept that were dropped, the newest: many times
// what an operator has to say, and a file may have millions of lines.
const mostDropped = 25_000

// keepNewest leaves of values by key so many, those of the newest times, and of one time those
// of the first keys.
func keepNewest[V any](values map[string]V, most int, timeOf func(V) int64) {
	if len(values) <= most {
		return
	}
	keys := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		return cmp.Or(cmp.Compare(timeOf(values[b]), timeOf(values[a])), cmp.Compare(a, b))
	})
	for _, key := range keys[most:] {
		delete(values, key)
	}
}
