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
	last map[string]tickers.Ticker
}

func newLastPrices() Projection {
	return engine.KeepView(tickers.Published, noPrices).FoldedFrom(storedFills)
}

func noPrices() *lastPrices { return &lastPrices{last: map[string]tickers.Ticker{}} }

// Restore takes the last trades from the view.
func (p *lastPrices) Restore(v tickers.View) error {
	for _, t := range v.Tickers {
		p.last[t.Coin] = t
	}
	return nil
}

// Apply keeps the last trade of each coin.
func (p *lastPrices) Apply(b *Batch, _ time.Time) (changed bool) {
	trades := b.AllTrades()
	for i := range trades {
		changed = p.add(&trades[i]) || changed
	}
	return changed
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

// View has the last trades of all coins.
func (p *lastPrices) View(now time.Time) tickers.View {
	v := tickers.View{Time: now.UnixMilli(), Tickers: slices.Collect(maps.Values(p.last))}
	return v
}
