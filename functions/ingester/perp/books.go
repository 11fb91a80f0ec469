package perp

import (
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/books"
	"quotary/shared/market"
)

// lastBooks keeps the view of the last book of each coin, however old.
type lastBooks struct {
	engine.Defaults[*Batch]
	last    map[string]*lastBook
	time    int64 // of the newest, ms
	changed bool
}

type lastBook struct {
	book market.Book
	body books.Body // the book as the view has it; nil while it is to be written again
}

func newLastBooks() *lastBooks { return &lastBooks{last: map[string]*lastBook{}} }

// Name is that of the view.
func (p *lastBooks) Name() string { return books.Name }

// Restores has its own view.
func (p *lastBooks) Restores() []engine.RestoredView {
	return []engine.RestoredView{{Name: books.Name, Check: func(body []byte) error {
		return newLastBooks().Restore(map[string][]byte{books.Name: body})
	}}}
}

// Restore takes the books from the view.
func (p *lastBooks) Restore(views map[string][]byte) error {
	v, err := engine.Restored(views, books.Published)
	if err != nil {
		return err
	}
	p.time = v.Time
	for coin, body := range v.Books {
		b, _, err := v.Lookup(coin)
		if err != nil {
			return err
		}
		p.last[coin] = &lastBook{b, body}
	}
	return nil
}

// Apply replaces the books of coins by newer ones.
func (p *lastBooks) Apply(batch *Batch, _ *engine.Reads, _ time.Time) error {
	for i := range batch.Books {
		b := &batch.Books[i]
		have := p.last[b.Coin]
		if have == nil {
			have = new(lastBook)
			p.last[b.Coin] = have
		} else if b.Time < have.book.Time {
			continue
		}
		have.book, have.body = *b, nil
		p.time = max(p.time, b.Time)
		p.changed = true
	}
	return nil
}

// Changes returns the view when there is a new book; books that have not changed
// are not encoded again.
func (p *lastBooks) Changes(time.Time, bool) engine.Changes {
	if !p.changed {
		return engine.Changes{}
	}
	p.changed = false
	v := books.View{Time: p.time, Books: make(map[string]books.Body, len(p.last))}
	for coin, last := range p.last {
		if last.body == nil {
			last.body = books.NewBody(&last.book)
		}
		v.Books[coin] = last.body
	}
	return engine.Changes{Views: []engine.View{engine.ViewOf(books.Published, v)}}
}
