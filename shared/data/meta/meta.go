// Package meta is the view of the venue's descriptions of its markets, each as
// the venue wrote it.
package meta

import (
	"context"
	"encoding/json"
	"time"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/store"
)

// Name of the view.
const Name = "meta"

// View is the description of all markets.
type View struct {
	Time  int64                      `json:"time"`     // when the venue described them, ms
	Perps map[string]json.RawMessage `json:"meta"`     // the venue's meta by dex; the main one is ""
	Spot  json.RawMessage            `json:"spotMeta"` // the venue's spotMeta; empty where it is not known
}

// The venue is asked for descriptions once a minute.
var view = dataset.View[View]{Name: Name, Period: 10 * time.Second, Encode: Encode, Decode: Decode}

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
func Decode(body []byte) (View, error) {
	v, err := dataset.FromJSON[View](body)
	v.Spot = dataset.NotNull(v.Spot)
	return v, err
}
