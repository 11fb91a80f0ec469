package exchange

import (
	"strings"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/pairtickers"
)

// tickers keeps the view of the last 24 hours of all pairs. One that its exchange has not
// told of for a while, although it has told of others, trades no more.
type tickers struct {
	engine.Defaults[*Batch]
	pace
	known  map[string]pairtickers.Ticker
	newest int64
}

// tickerFor is by how much the ticker of a pair may be older than the newest of its
// exchange, ms.
const tickerFor = 600_000

func newTickers() *tickers { return &tickers{known: map[string]pairtickers.Ticker{}} }

// Name is that of the view.
func (*tickers) Name() string { return pairtickers.Name }

// Restores has its own view.
func (*tickers) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(pairtickers.Published)}
}

// Restore takes it.
func (p *tickers) Restore(views map[string][]byte) error {
	v, err := engine.Restored(views, pairtickers.Published)
	p.newest = v.Time
	for _, t := range v.Tickers {
		p.known[t.Pair] = t
	}
	return err
}

// Apply takes what is newer than what is known.
func (p *tickers) Apply(b *Batch, _ *engine.Reads, _ time.Time) error {
	for i := range b.Tickers {
		t := &b.Tickers[i]
		if t.Time < p.known[t.Pair].Time {
			continue
		}
		p.known[t.Pair] = pairtickers.Ticker{Pair: t.Pair, Time: t.Time, Last: t.Last, Open: t.Open, High: t.High, Low: t.Low, Size: t.Size, Amount: t.Amount}
		p.newest, p.changed = max(p.newest, t.Time), true
	}
	return nil
}

// Changes returns the view once in a while.
func (p *tickers) Changes(now time.Time, settle bool) (c engine.Changes) {
	if !p.due(now, settle, viewEvery) {
		return c
	}
	newest := map[string]int64{} // by exchange
	for pair, t := range p.known {
		newest[platformOf(pair)] = max(newest[platformOf(pair)], t.Time)
	}
	v := pairtickers.View{Time: p.newest}
	for pair, t := range p.known {
		if newest[platformOf(pair)]-t.Time > tickerFor {
			delete(p.known, pair)
			continue
		}
		v.Tickers = append(v.Tickers, t)
	}
	c.Views = []engine.View{engine.ViewOf(pairtickers.Published, v)}
	return c
}

// platformOf is the exchange in the key of a pair.
func platformOf(pair string) string {
	_, platform, _ := strings.Cut(pair, ":")
	return platform
}
