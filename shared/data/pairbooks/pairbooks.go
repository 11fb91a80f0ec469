// Package pairbooks is what is kept of the order books of the pairs of centralised exchanges
// whose books are followed: a view of them as they are now, all levels that are known, and the
// series pairdepth of samples of the best ones.
//
// Levels are packed, 2 to 7 bytes each: in the view a genuine book with 1,000 levels a side has 7
// to 19 KB, and a sample with 50 a side is 0.4 to 1.1 KB. A reader of the view unpacks the book alone that it
// is asked for.
package pairbooks

import (
	"fmt"
	"time"

	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view.
const Name = "pairbooks"

// Every is how often the books are published.
const Every = 2 * time.Second

// StaleAfter is for how long a book is right of which nothing comes.
const StaleAfter = time.Minute

// View is the state of all books that are followed.
type View struct {
	Time  int64           `json:"time"`  // of the newest change, ms
	Books map[string]Book `json:"books"` // by the keys of pairs
}

// Book is what is known of a book.
type Book struct {
	Time   int64  `json:"time"`             // of its last change, as the exchange says, ms
	Came   int64  `json:"came"`             // when it last came, ms
	Levels []byte `json:"levels,omitempty"` // packed; none of one that is lost
}

// NewBook packs a book that came at a time. Nothing is known of one that is lost.
func NewBook(b *market.PairBook, came time.Time) Book {
	one := Book{Time: b.Time, Came: came.UnixMilli()}
	if !b.Lost {
		one.Levels, _ = pack(b, MaxLevels)
	}
	return one
}

// NewView is the view of books that came at a time.
func NewView(came time.Time, list ...market.PairBook) View {
	v := View{Books: make(map[string]Book, len(list))}
	for i := range list {
		v.Time = max(v.Time, list[i].Time)
		v.Books[list[i].Pair] = NewBook(&list[i], came)
	}
	return v
}

// Lookup returns the book of a pair, by which followed is true. One that is lost at now, or of
// which nothing has come for [StaleAfter], is Lost and has no levels.
func (v View) Lookup(pair string, now time.Time) (b market.PairBook, followed bool, err error) {
	one, followed := v.Books[pair]
	b = market.PairBook{Pair: pair, Time: one.Time}
	if len(one.Levels) == 0 || now.UnixMilli()-one.Came > StaleAfter.Milliseconds() {
		b.Lost = true
		return b, followed, nil
	}
	if b.Bids, b.Asks, err = unpack(one.Levels); err != nil {
		return b, followed, fmt.Errorf("read the book of %s in view %s: %w", pair, Name, err)
	}
	return b, followed, nil
}

// Published is how the view is stored.
var Published = store.ViewType[View]{Name: Name, Period: Every}
