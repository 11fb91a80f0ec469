package perp

import (
	"maps"
	"slices"
	"strings"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/tickers"
	"quotary/shared/market"
)

// lastPrices keeps the view of the last trade of each coin.
type lastPrices struct {
	engine.Defaults[*Batch]
	last    map[string]tickers.Ticker
	changed bool
}

func newLastPrices() *lastPrices { return &lastPrices{last: map[string]tickers.Ticker{}} }

// Name is that of the view.
func (p *lastPrices) Name() string { return tickers.Name }

// Folds has the fills.
func (p *lastPrices) Folds() []engine.Fold[*Batch] { return storedFills }

// Restores has its own view.
func (p *lastPrices) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(tickers.Published)}
}

// Restore takes the last trades from the view.
func (p *lastPrices) Restore(views map[string][]byte) error {
	v, err := engine.Restored(views, tickers.Published)
	if err != nil {
		return err
	}
	for _, t := range v.Tickers {
		p.last[t.Coin] = t
	}
	return nil
}

// Apply keeps the last trade of each coin.
func (p *lastPrices) Apply(b *Batch, _ *engine.Reads, _ time.Time) error {
	trades := b.AllTrades()
	for i := range trades {
		p.changed = p.add(&trades[i]) || p.changed
	}
	return nil
}

// add takes a trade and reports whether it is the last of its coin.
func (p *lastPrices) add(t *market.Trade) bool {
	have, ok := p.last[t.Coin]
	if ok && have.Order().Compare(t.Order()) >= 0 {
		return false
	}
	if !ok {
		have.Coin = strings.Clone(t.Coin)
	}
	have.Price, have.Time, have.Seq, have.Tid = market.Text(t.Px), t.Time, t.Seq, t.Tid
	p.last[have.Coin] = have
	return true
}

// Changes returns the view when a price has changed.
func (p *lastPrices) Changes(now time.Time, _ bool) engine.Changes {
	if !p.changed {
		return engine.Changes{}
	}
	p.changed = false
	v := tickers.View{Time: now.UnixMilli(), Tickers: slices.Collect(maps.Values(p.last))}
	return engine.Changes{Views: []engine.View{engine.ViewOf(tickers.Published, v)}}
}
