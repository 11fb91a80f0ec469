// Package mids is the view of the mid prices of all coins.
package mids

import (
	"context"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/store"
)

// Name of the view.
const Name = "mids"

// View is the state of all coins.
type View struct {
	Time int64                        `json:"time"` // of the newest price, ms
	Mids map[string]map[string]string `json:"mids"` // price in quote units by dex and coin; the main dex is ""
}

var view = dataset.View[View]{Name: Name, Period: time.Second, Encode: Encode, Decode: Decode}

// Open returns the view as a reader keeps it in memory.
func Open(views *store.Views, clock func() time.Time) *store.View[View] {
	return view.Open(views, clock)
}

// Publish replaces the view.
func Publish(ctx context.Context, views *store.Views, v View) error {
	return view.Publish(ctx, views, v)
}

// Encode writes the body of the view.
func Encode(v View) []byte { return dataset.JSON(v) }

// Decode reads the body of the view.
func Decode(body []byte) (View, error) { return dataset.FromJSON[View](body) }
