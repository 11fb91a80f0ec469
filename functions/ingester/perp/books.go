package perp

import (
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/books"
	"quotary/shared/market"
)

// lastBooks keeps the view of the last book of each coin, however old.
type lastBooks struct {
	last map[string]*lastBook
	time int64 // of the newest, ms
}

type lastBook struct {
	book market.Book
	body books.Body // the book as the view has it; nil while it is to be written again
}

func newLastBooks() Projection {
	return engine.KeepView(books.Published, func() *lastBooks { return &lastBooks{last: map[string]*lastBook{}} })
}

// Restore takes the books from the view.
func (p *lastBooks) Restore(v books.View) error {
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
func (p *lastBooks) Apply(b *Batch, _ time.Time) (changed bool) {
	for i := range b.Books {
		book := &b.Books[i]
		have := p.last[book.Coin]
		if have == nil {
			have = new(lastBook)
			p.last[book.Coin] = have
		} else if book.Time < have.book.Time {
			continue
		}
		have.book, have.body = *book, nil
		p.time = max(p.time, book.Time)
		changed = true
	}
	return changed
}

// View has all books; those that have not changed are not encoded again.
func (p *lastBooks) View(time.Time) books.View {
	v := books.View{Time: p.time, Books: make(map[string]books.Body, len(p.last))}
	for coin, last := range p.last {
		if last.body == nil {
			last.body = books.NewBody(&last.book)
		}
		v.Books[coin] = last.body
	}
	return v
}
