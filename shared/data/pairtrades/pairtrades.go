// Package pairtrades is the view of the newest trades of every followed pair of the
// centralised exchanges. Older ones are kept as K-lines alone.
package pairtrades

import (
	"cmp"
	"slices"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view.
const Name = "pairtrades"

// Most is how many trades there are of a pair.
const Most = 100

// View is the state of all pairs.
type View struct {
	Time  int64  `json:"time"`  // of the newest trade, ms
	Pairs []Pair `json:"pairs"` // by key
}

// Pair is what was traded of a pair last.
type Pair struct {
	Key    string  `json:"key"`
	Trades []Trade `json:"trades"` // oldest first
}

// Trade is a [market.PairTrade].
type Trade struct {
	ID   int64          `json:"id"`
	Time int64          `json:"time"` // ms
	Px   market.Decimal `json:"px"`
	Sz   market.Decimal `json:"sz"`     // base units
	Paid market.Decimal `json:"amount"` // quote units
	Sold bool           `json:"sold"`   // the taker sold
}

// Trades returns the trades of a pair, oldest first; none of one that is not known.
func (v View) Trades(pair string) []Trade {
	p, _ := dataset.Find(v.Pairs, pair, func(p *Pair) string { return p.Key })
	return p.Trades
}

// Published is how the view is stored.
var Published = store.ViewType[View]{Name: Name, Period: 5 * time.Second, Before: func(v *View) {
	slices.SortFunc(v.Pairs, func(a, b Pair) int { return cmp.Compare(a.Key, b.Key) })
}}
