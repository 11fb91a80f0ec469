package exchange

import (
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/pairbooks"
	"quotary/shared/market"
)

// books keeps the view of order books. One that is lost, or of which nothing has come for
// [pairbooks.StaleAfter], stays without its levels: who asks for it learns that it is followed. It
// is dropped when it is not followed any more.
type books struct {
	engine.Defaults[*Batch]
	pace
	byPair map[string]*knownBook
	newest int64 // time of the last change, ms
}

type knownBook struct {
	pairbooks.Book
	came time.Time
}

const (
	booksEvery = pairbooks.Every // between two deliveries of a book

	// leastLevels is how many levels of a side must be known, the best: fewer are no book. All
	// that are known are kept.
	leastLevels = 100

	// bookFollowed is how long a book is held to be followed of which nothing comes: longer
	// than a connection is lost in most cases.
	bookFollowed = time.Hour
)

func newBooks() *books { return &books{byPair: map[string]*knownBook{}} }

// Name is that of the view.
func (*books) Name() string { return pairbooks.Name }

// Apply takes books. What was known at an earlier term is not restored: whole books come
// first.
func (p *books) Apply(b *Batch, _ *engine.Reads, now time.Time) error {
	for i := range b.Books {
		book := &b.Books[i]
		known := p.byPair[book.Pair]
		if known != nil && book.Time < known.Time && !book.Lost {
			continue
		}
		next := &knownBook{pairbooks.NewBook(book, now), now}
		if book.Lost && known != nil { // the exchange's clock may be behind ours
			next.Time = known.Time
		}
		p.byPair[book.Pair] = next
		p.newest, p.changed = max(p.newest, next.Time), true
	}
	return nil
}

// Changes returns the view once in a while.
func (p *books) Changes(now time.Time, settle bool) (c engine.Changes) {
	for pair, book := range p.byPair {
		switch silent := now.Sub(book.came); {
		case silent > bookFollowed:
			delete(p.byPair, pair)
			p.changed = true
		case silent > pairbooks.StaleAfter && len(book.Levels) > 0:
			book.Levels, p.changed = nil, true
		}
	}
	if !p.due(now, settle, booksEvery) {
		return c
	}
	v := pairbooks.View{Time: p.newest, Books: make(map[string]pairbooks.Book, len(p.byPair))}
	for pair, book := range p.byPair {
		v.Books[pair] = book.Book
	}
	c.Views = []engine.View{engine.ViewOf(pairbooks.Published, v)}
	return c
}

// depths takes samples of the books, the first of each bucket of [pairbooks.SampleEvery] of the
// exchange's clock. Behind a restart the bucket that is open may get another one.
type depths struct {
	engine.Defaults[*Batch]
	taken map[string]int64 // bucket of the last sample, by pair, ms
	books []market.PairBook
}

func newDepths() *depths { return &depths{taken: map[string]int64{}} }

// Name is that of the series.
func (*depths) Name() string { return pairbooks.SamplesName }

// Apply keeps the books that are samples.
func (p *depths) Apply(b *Batch, _ *engine.Reads, _ time.Time) error {
	for i := range b.Books {
		book := &b.Books[i]
		if bucket := pairbooks.SampleEvery.StartMs(book.Time); !book.Lost && bucket > p.taken[book.Pair] {
			p.taken[book.Pair] = bucket
			p.books = append(p.books, *book)
		}
	}
	return nil
}

// Changes returns a row of each sample.
func (p *depths) Changes(time.Time, bool) (c engine.Changes) {
	for i := range p.books {
		if row, ok := pairbooks.SampleRow(&p.books[i]); ok {
			c.Fine = append(c.Fine, row)
		}
	}
	p.books = nil
	return c
}
