// Package readings is the view of what the indicators say of each coin, by the candles of four
// hours that have closed: see [market.Reading]. The words for it are the handler's.
package readings

import (
	"cmp"
	"slices"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view.
const Name = "readings"

// MaxAge is how far a reading may lie behind the newest of all: that of a coin whose candles have
// ended says nothing of now.
const MaxAge = 24 * time.Hour

// View is the state of all coins.
type View struct {
	Readings []Reading `json:"readings"` // by coin
}

// Reading is what is said of a coin.
type Reading struct {
	Coin   string      `json:"coin"`   // short name, in lower case: see [market.Pair.Coin]
	Pair   market.Pair `json:"pair"`   // whose candles were read: prices are in its quote units
	Closed int64       `json:"closed"` // when the last of them closed, ms
	market.Reading
}

// Lookup returns the reading of a coin; false for one of which nothing is said.
func (v View) Lookup(coin string) (Reading, bool) {
	return dataset.Find(v.Readings, coin, func(r *Reading) string { return r.Coin })
}

// Published is how the view is stored. It changes every four hours.
var Published = store.ViewType[View]{Name: Name, Period: 10 * time.Second, Before: func(v *View) {
	slices.SortFunc(v.Readings, func(a, b Reading) int { return cmp.Compare(a.Coin, b.Coin) })
}}
