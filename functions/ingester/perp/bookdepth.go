package perp

import (
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/bookdepth"
	"quotary/shared/market"
	"quotary/shared/store"
)

// bookDepth samples what rests in the book of each coin, once a minute. Its rows
// are of the moment; there is nothing to fold them from.
type bookDepth struct {
	engine.Defaults[*Batch]
	last  map[string]market.Book
	taken sampler
}

// freshFor is how old a book may be to be sampled: the venue emits one that does
// not change too.
const freshFor = time.Minute

func newBookDepth() *bookDepth {
	return &bookDepth{last: map[string]market.Book{}, taken: newSampler(market.SampleTiers[:]...)}
}

// Name is that of the series.
func (p *bookDepth) Name() string { return bookdepth.Name }

// Apply keeps the last book of each coin.
func (p *bookDepth) Apply(b *Batch, _ *engine.Reads, _ time.Time) error {
	for i := range b.Books {
		book := &b.Books[i]
		if have, ok := p.last[book.Coin]; !ok || book.Time >= have.Time {
			p.last[book.Coin] = *book
		}
	}
	return nil
}

// Changes returns a row of each coin whose book is fresh and which has none of the
// minute.
func (p *bookDepth) Changes(now time.Time, _ bool) (c engine.Changes) {
	for _, coin := range sorted(p.last) {
		b := p.last[coin]
		if now.Sub(time.UnixMilli(b.Time)) > freshFor || !p.taken.missing(coin, now) {
			continue
		}
		sample := bookdepth.SampleOf(&b)
		c.Fine = p.taken.add(c.Fine, coin, now, func(i market.Interval, start int64) store.SeriesRow {
			return bookdepth.Row(i, start, &sample)
		})
	}
	return c
}
