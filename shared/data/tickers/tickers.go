// Package tickers is the view of the last traded price of every coin that has
// traded.
package tickers

import (
	"cmp"
	"slices"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view.
const Name = "tickers"

// View is the state of all coins.
type View struct {
	Time    int64    `json:"time"`    // when the view was made, ms
	Tickers []Ticker `json:"tickers"` // by coin
}

// Ticker is the last trade of a coin.
type Ticker struct {
	Coin  string `json:"coin"`
	Price string `json:"price"` // quote units
	Time  int64  `json:"time"`  // ms
	Seq   int64  `json:"seq"`   // orders trades of the same ms, so that a restart does not let an earlier one overwrite it
	Tid   int64  `json:"tid"`
}

// Order is the place of the last trade among those of its coin.
func (t *Ticker) Order() market.Order { return market.Order{Time: t.Time, Seq: t.Seq, Tid: t.Tid} }

// Lookup returns the last trade of a coin; false for a coin that has not traded.
func (v View) Lookup(coin string) (Ticker, bool) {
	return dataset.Find(v.Tickers, coin, func(t *Ticker) string { return t.Coin })
}

// Published is how the view is stored.
var Published = store.ViewType[View]{Name: Name, Period: time.Second, Before: func(v *View) {
	slices.SortFunc(v.Tickers, func(a, b Ticker) int { return cmp.Compare(a.Coin, b.Coin) })
}}
