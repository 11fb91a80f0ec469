// Package pairliquidations is what was liquidated in the last 24 hours, by pair and minute:
// a view of the followed perpetuals of centralised exchanges, and one of the perpetual
// exchange. Every sum of an hour or a day, by coin or by platform, follows from them.
package pairliquidations

import (
	"time"

	"quotary/shared/market"
	"quotary/shared/store"
)

// The names of the two views: each domain writes its own.
const (
	Name     = "pairliquidations"
	PerpName = "perpliquidations"
)

// Window is how far back the view reaches.
const Window = 24 * time.Hour

// View is what was liquidated of all pairs.
type View struct {
	Time  int64  `json:"time"`  // of the newest liquidation, ms
	Pairs []Pair `json:"pairs"` // with liquidations, by key
}

// Pair is what was liquidated of a pair.
type Pair struct {
	Key      string   `json:"key"`
	Coin     string   `json:"coin"`     // in lower case
	Platform string   `json:"platform"` // its key
	Minutes  []Minute `json:"minutes"`  // by time; those without a liquidation are left out
}

// Minute sums up the liquidations of a minute, in US dollars.
type Minute struct {
	Time    int64          `json:"t"` // when it begins, ms
	Long    market.Decimal `json:"l"` // longs that were closed
	Short   market.Decimal `json:"s"`
	Count   int64          `json:"n"`
	Largest market.Decimal `json:"m"` // of a single one
}

// Liquidated is the same as a sum.
func (m Minute) Liquidated() market.Liquidated {
	return market.Liquidated{Time: m.Time, Long: m.Long, Short: m.Short, Count: m.Count, Largest: m.Largest}
}

// NewMinute is the minute of a sum.
func NewMinute(l market.Liquidated) Minute {
	return Minute{l.Time, l.Long, l.Short, l.Count, l.Largest}
}

// Since sums up the minutes that begin at or after a time.
func (p *Pair) Since(from time.Time) (l market.Liquidated) {
	for _, m := range p.Minutes {
		if m.Time >= from.UnixMilli() {
			part := m.Liquidated()
			l.Merge(&part)
		}
	}
	return l
}

// Published and OfPerps are how the views are stored.
var (
	Published = store.ViewType[View]{Name: Name, Period: 10 * time.Second}
	OfPerps   = store.ViewType[View]{Name: PerpName, Period: 10 * time.Second}
)
