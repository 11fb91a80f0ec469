// Package contracts is the view of the followed perpetuals of centralised exchanges: what
// their exchanges said last of funding and of open interest.
package contracts

import (
	"cmp"
	"slices"
	"time"

	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view.
const Name = "contracts"

// View is the state of all followed perpetuals.
type View struct {
	Time      int64      `json:"time"`      // of the newest event, ms
	Contracts []Contract `json:"contracts"` // by pair
}

// Contract is what is known of a perpetual. A time of 0 is that of something which is not
// known.
type Contract struct {
	Pair market.Pair `json:"pair"`

	Rate     market.Decimal `json:"rate"`     // funding rate of the running period, a fraction
	RateTime int64          `json:"rateTime"` // when it was said, ms
	Due      int64          `json:"due"`      // when it is paid, ms
	Period   int64          `json:"period"`   // ms

	Size         market.Decimal `json:"size"`         // open interest, base units
	Value        market.Decimal `json:"value"`        // the same, US dollars
	InterestTime int64          `json:"interestTime"` // when it was said, ms
}

// Published is how the view is stored.
var Published = store.ViewType[View]{Name: Name, Period: 10 * time.Second, Before: func(v *View) {
	slices.SortFunc(v.Contracts, func(a, b Contract) int { return cmp.Compare(a.Pair.Key, b.Pair.Key) })
}}
