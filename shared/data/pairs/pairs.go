// Package pairs is the view of the pairs that trade on the centralised exchanges, and
// of which of them are followed.
package pairs

import (
	"cmp"
	"slices"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view.
const Name = "pairs"

// View is the state of all exchanges.
type View struct {
	Time  int64  `json:"time"`  // of the newest list that an exchange gave, ms
	Pairs []Pair `json:"pairs"` // by key
}

// Pair is a pair that trades.
type Pair struct {
	market.Pair
	Followed bool `json:"followed"` // trades and K-lines are kept
}

// Lookup returns the pair of a key; false for one that does not trade anywhere.
func (v View) Lookup(key string) (Pair, bool) {
	return dataset.Find(v.Pairs, key, func(p *Pair) string { return p.Key })
}

// Published is how the view is stored. Exchanges are asked once an hour.
var Published = store.ViewType[View]{Name: Name, Period: 10 * time.Second, Before: func(v *View) {
	slices.SortFunc(v.Pairs, func(a, b Pair) int { return cmp.Compare(a.Key, b.Key) })
}, After: func(v *View) {
	slices.SortFunc(v.Pairs, func(a, b Pair) int { return cmp.Compare(a.Key, b.Key) })
}}
