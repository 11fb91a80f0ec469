// Package contexts is the view of the current figures of all coins (mark price,
// open interest, funding, ...), as the venue wrote them.
package contexts

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view.
const Name = "contexts"

// View is the figures of all coins.
type View struct {
	Time  int64                      `json:"time"`  // of the newest figures, ms
	Perps map[string]json.RawMessage `json:"perps"` // the venue's metaAndAssetCtxs by dex; the main one is ""
	Spot  json.RawMessage            `json:"spot"`  // the venue's spotMetaAndAssetCtxs; empty where it is not known

	// Marks are the mark prices among the figures, quote units by coin: what the
	// ingester itself continues from after a restart.
	Marks map[string]string `json:"marks"`
}

// The venue is asked for figures every ten seconds.
var view = dataset.View[View]{Name: Name, Period: 5 * time.Second, Encode: Encode, Decode: Decode}

// Open returns the view as a reader keeps it in memory.
func Open(views *store.Views, clock func() time.Time) *store.View[View] {
	return view.Open(views, clock)
}

// Marks are the mark prices of all coins.
type Marks struct {
	Time int64 // of the newest figures, ms
	Px   market.Marks
}

// marks reads the same view as its mark prices.
var marks = dataset.View[Marks]{Name: Name, Period: view.Period, Decode: func(body []byte) (Marks, error) {
	v, err := Decode(body)
	if err != nil {
		return Marks{}, err
	}
	m := Marks{Time: v.Time, Px: make(market.Marks, len(v.Marks))}
	for coin, px := range v.Marks {
		if m.Px[coin], err = market.ParseDecimal(px); err != nil {
			return Marks{}, fmt.Errorf("mark price of %s: %w", coin, err)
		}
	}
	return m, nil
}}

// OpenMarks returns the mark prices of the view as a reader keeps them in memory.
func OpenMarks(views *store.Views, clock func() time.Time) *store.View[Marks] {
	return marks.Open(views, clock)
}

// Publish replaces the view.
func Publish(ctx context.Context, views *store.Views, v View) error {
	return view.Publish(ctx, views, v)
}

// Encode writes the body of the view.
func Encode(v View) []byte { return dataset.JSON(v) }

// Decode reads the body of the view.
func Decode(body []byte) (View, error) {
	v, err := dataset.FromJSON[View](body)
	v.Spot = dataset.NotNull(v.Spot)
	return v, err
}
