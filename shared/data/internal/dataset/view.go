package dataset

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"quotary/shared/store"
)

// View describes a current state that is published as one T.
type View[T any] struct {
	Name   string
	Period time.Duration // how old it may be in memory before S3 is asked again
	Encode func(T) []byte
	Decode func(body []byte) (T, error)
}

// Open returns the view as a reader keeps it in memory.
func (v View[T]) Open(views *store.Views, clock func() time.Time) *store.View[T] {
	return store.NewView(views, v.Name, v.Period, clock, v.Decode)
}

// Publish replaces the view.
func (v View[T]) Publish(ctx context.Context, views *store.Views, value T) error {
	return views.Publish(ctx, v.Name, v.Encode(value))
}

// JSON encodes texts, numbers and JSON that was checked, which always succeeds.
// Maps are written in the order of their keys.
func JSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("dataset: encode %T: %v", v, err))
	}
	return b
}

// FromJSON decodes a body.
func FromJSON[T any](body []byte) (value T, err error) {
	return value, json.Unmarshal(body, &value)
}

// NotNull is raw, or nil for a JSON null.
func NotNull(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// AppendJSON appends what [JSON] encodes.
func AppendJSON[T any](b []byte, value *T) []byte { return append(b, JSON(value)...) }

// Find returns the entry of a key among entries that are sorted by their keys; false where
// there is none.
func Find[T any](sorted []T, key string, keyOf func(*T) string) (entry T, ok bool) {
	i, ok := slices.BinarySearchFunc(sorted, key, func(e T, key string) int { return cmp.Compare(keyOf(&e), key) })
	if ok {
		entry = sorted[i]
	}
	return entry, ok
}
