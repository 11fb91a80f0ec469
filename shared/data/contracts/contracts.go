// Package contracts is the view of the followed perpetuals of centralised exchanges: what
// their exchanges said last of funding and of open interest.
package contracts

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

var view = dataset.View[View]{Name: Name, Period: 10 * time.Second, Encode: Encode, Decode: Decode}

// Open returns the view as a reader keeps it in memory.
func Open(views *store.Views, clock func() time.Time) *store.View[View] {
	return view.Open(views, clock)
}

// Publish replaces the view.
func Publish(ctx context.Context, views *store.Views, v View) error {
	return view.Publish(ctx, views, v)
}

// Encode writes the body of the view, and sorts its contracts.
func Encode(v View) []byte {
	slices.SortFunc(v.Contracts, func(a, b Contract) int { return cmp.Compare(a.Pair.Key, b.Pair.Key) })
	return dataset.JSON(v)
}

// Decode reads the body of the view.
func Decode(body []byte) (View, error) { return dataset.FromJSON[View](body) }
