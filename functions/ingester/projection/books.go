package projection

import (
	"time"

	"quotary/shared/data/bookdepth"
	"quotary/shared/data/books"
	"quotary/shared/market"
	"quotary/shared/store"
)

// lastBooks keeps the last book of each coin, and samples what rests in it.
type lastBooks struct {
	last    map[string]*lastBook
	time    int64 // of the newest, ms
	changed bool
	depth   sampler
}

type lastBook struct {
	book market.Book
	body books.Body // the book as the view has it; nil while it is to be written anew
}

// freshFor is how old a book may be to be sampled: the venue sends one that does
// not change too.
const freshFor = time.Minute

func newBooks() lastBooks {
	return lastBooks{last: map[string]*lastBook{}, depth: newSampler()}
}

func (p *lastBooks) apply(b *market.Book) {
	have := p.last[b.Coin]
	if have == nil {
		have = new(lastBook)
		p.last[b.Coin] = have
	} else if b.Time < have.book.Time {
		return
	}
	have.book, have.body = *b, nil
	p.time = max(p.time, b.Time)
	p.changed = true
}

// samples appends a row of each coin whose book is fresh, once a minute.
func (p *lastBooks) samples(rows []store.SeriesRow, now time.Time) []store.SeriesRow {
	for _, coin := range sortedCoins(p.last) {
		b := &p.last[coin].book
		if now.Sub(time.UnixMilli(b.Time)) > freshFor || !p.depth.due(coin, now) {
			continue
		}
		sample := bookdepth.SampleOf(b)
		rows = p.depth.add(rows, coin, now, func(i market.Interval, start int64) store.SeriesRow {
			return bookdepth.Row(i, start, &sample)
		})
	}
	return rows
}

// body writes the view; books that have not changed are not encoded again.
func (p *lastBooks) body() []byte {
	p.changed = false
	v := books.View{Time: p.time, Books: make(map[string]books.Body, len(p.last))}
	for coin, last := range p.last {
		if last.body == nil {
			last.body = books.NewBody(&last.book)
		}
		v.Books[coin] = last.body
	}
	return books.Encode(v)
}

func (p *lastBooks) restore(bodies map[string][]byte) error {
	v, err := restore(bodies, books.Name, books.Decode)
	if err != nil {
		return err
	}
	p.time = v.Time
	for coin, body := range v.Books {
		b, _, err := v.Of(coin)
		if err != nil {
			return err
		}
		p.last[coin] = &lastBook{b, body}
	}
	return nil
}
