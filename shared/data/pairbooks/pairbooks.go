// Package pairbooks is the view of the order books of the pairs of centralised exchanges
// whose books are followed: the best levels of both sides as they are now.
package pairbooks

import (
	"cmp"
	"slices"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view.
const Name = "pairbooks"

// Levels is how many there are of a side at most.
const Levels = 100

// View is the state of all books.
type View struct {
	Time  int64  `json:"time"`  // of the newest change, ms
	Books []Book `json:"books"` // by pair
}

// Book is a [market.PairBook].
type Book struct {
	Pair string  `json:"pair"` // its key
	Time int64   `json:"time"` // of the exchange, ms
	Bids []Level `json:"bids"` // highest price first
	Asks []Level `json:"asks"` // lowest price first
}

// Level is the price, quote units per base unit, and what rests there, base units.
type Level [2]market.Decimal

// Lookup returns the book of a pair; false for one that is not followed.
func (v View) Lookup(pair string) (Book, bool) {
	return dataset.Find(v.Books, pair, func(b *Book) string { return b.Pair })
}

// Published is how the view is stored.
var Published = store.ViewType[View]{Name: Name, Period: 5 * time.Second, Before: func(v *View) {
	slices.SortFunc(v.Books, func(a, b Book) int { return cmp.Compare(a.Pair, b.Pair) })
}}
