package exchange

import (
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/pairbooks"
	"quotary/shared/market"
)

// books keeps the view of order books. One of which nothing has come for a while, as it is
// not followed any more or as changes of it are missing, is dropped: it may be wrong by now.
type books struct {
	engine.Defaults[*Batch]
	pace
	byPair map[string]knownBook
	newest int64 // time of the last change, ms
}

type knownBook struct {
	market.PairBook
	came time.Time
}

const (
	booksEvery = 5 * time.Second // between two views, and between two deliveries of a book
	bookFor    = time.Minute     // without a delivery a book is dropped
)

func newBooks() *books { return &books{byPair: map[string]knownBook{}} }

// Name is that of the view.
func (*books) Name() string { return pairbooks.Name }

// Apply takes books. What was known at an earlier term is not restored: whole books come
// first.
func (p *books) Apply(b *Batch, _ *engine.Reads, now time.Time) error {
	for _, book := range b.Books {
		if book.Time >= p.byPair[book.Pair].Time {
			p.byPair[book.Pair] = knownBook{book, now}
			p.newest, p.changed = max(p.newest, book.Time), true
		}
	}
	return nil
}

// Changes returns the view once in a while.
func (p *books) Changes(now time.Time, settle bool) (c engine.Changes) {
	for pair, book := range p.byPair {
		if now.Sub(book.came) > bookFor {
			delete(p.byPair, pair)
			p.changed = true
		}
	}
	if !p.due(now, settle, booksEvery) {
		return c
	}
	v := pairbooks.View{Time: p.newest}
	for pair, book := range p.byPair {
		v.Books = append(v.Books, pairbooks.Book{Pair: pair, Time: book.Time, Bids: bookLevels(book.Bids), Asks: bookLevels(book.Asks)})
	}
	c.Views = []engine.View{engine.ViewOf(pairbooks.Published, v)}
	return c
}

// bookLevels are the best levels of a side.
func bookLevels(side []market.PairLevel) []pairbooks.Level {
	best := make([]pairbooks.Level, min(len(side), pairbooks.Levels))
	for i := range best {
		best[i] = pairbooks.Level{side[i].Px, side[i].Sz}
	}
	return best
}
