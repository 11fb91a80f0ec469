// Package pairs is the view of the pairs that trade on the centralised exchanges, and
// of which of them are followed.
package pairs

import (
	"cmp"
	"context"
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

// Exchanges are asked once an hour.
var view = dataset.View[View]{Name: Name, Period: 10 * time.Second, Encode: Encode, Decode: Decode}

// Open returns the view as a reader keeps it in memory.
func Open(views *store.Views, clock func() time.Time) *store.View[View] {
	return view.Open(views, clock)
}

// Publish replaces the view.
func Publish(ctx context.Context, views *store.Views, v View) error {
	return view.Publish(ctx, views, v)
}

// Encode writes the body of the view, and sorts its pairs.
func Encode(v View) []byte {
	slices.SortFunc(v.Pairs, func(a, b Pair) int { return cmp.Compare(a.Key, b.Key) })
	return dataset.JSON(v)
}

// Decode reads the body of the view.
func Decode(body []byte) (View, error) {
	v, err := dataset.FromJSON[View](body)
	slices.SortFunc(v.Pairs, func(a, b Pair) int { return cmp.Compare(a.Key, b.Key) })
	return v, err
}
