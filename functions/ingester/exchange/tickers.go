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
	known  map[string]pairtickers.Ticker
	newest int64
}

// tickerFor is by how much the ticker of a pair may be older than the newest of its
// exchange, ms.
const tickerFor = 600_000

func newTickers() Projection {
	return engine.KeepView(pairtickers.Published, func() *tickers { return &tickers{known: map[string]pairtickers.Ticker{}} }).Every(viewEvery)
}

// Restore takes it.
func (p *tickers) Restore(v pairtickers.View) error {
	p.newest = v.Time
	for _, t := range v.Tickers {
		p.known[t.Pair] = t
	}
	return nil
}

// Apply takes what is newer than what is known.
func (p *tickers) Apply(b *Batch, _ time.Time) (changed bool) {
	for i := range b.Tickers {
		t := &b.Tickers[i]
		if t.Time < p.known[t.Pair].Time {
			continue
		}
		p.known[t.Pair] = pairtickers.Ticker{Pair: t.Pair, Time: t.Time, Last: t.Last, Open: t.Open, High: t.High, Low: t.Low, Size: t.Size, Amount: t.Amount}
		p.newest, changed = max(p.newest, t.Time), true
	}
	return changed
}

// View has what was told of lately; other tickers are forgotten.
func (p *tickers) View(time.Time) pairtickers.View {
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
	return v
}

// platformOf is the exchange in the key of a pair.
func platformOf(pair string) string {
	_, platform, _ := strings.Cut(pair, ":")
	return platform
}
