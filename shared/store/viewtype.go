package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// ViewType describes the versions of one view, each of which is a T: how they are named,
// written and read. A dataset exports one for each of its views.
type ViewType[T any] struct {
	Name   string
	Period time.Duration // how old a version may be in memory before S3 is asked again

	// Before is called before a version is written as JSON, such as to sort it; nil is nothing.
	Before func(*T)
	// After is called after a version was read from JSON; nil is nothing.
	After func(*T)

	// Write and Read are in place of JSON, Before and After where they are not nil.
	Write func(T) []byte
	Read  func(body []byte) (T, error)
}

// Open returns the view as a reader keeps it in memory.
func (k ViewType[T]) Open(views *Views, clock func() time.Time) *View[T] {
	return NewView(views, k.Name, k.Period, clock, k.Decode)
}

// Load reads the current version from S3; the zero view where none was ever published.
func (k ViewType[T]) Load(ctx context.Context, views *Views) (version T, err error) {
	body, _, _, err := views.Fetch(ctx, k.Name, "")
	switch {
	case errors.Is(err, ErrNoView):
		return version, nil
	case err != nil:
		return version, err
	}
	return k.Decode(body)
}

// Encode writes the body of a version.
func (k ViewType[T]) Encode(version T) []byte {
	if k.Write != nil {
		return k.Write(version)
	}
	if k.Before != nil {
		k.Before(&version)
	}
	body, err := json.Marshal(version)
	if err != nil { // texts, numbers and JSON that was checked can always be written
		panic(fmt.Sprintf("store: encode view %s: %v", k.Name, err))
	}
	return body
}

// Decode reads the body of a version.
func (k ViewType[T]) Decode(body []byte) (version T, err error) {
	if k.Read != nil {
		return k.Read(body)
	}
	if err = json.Unmarshal(body, &version); err == nil && k.After != nil {
		k.After(&version)
	}
	return version, err
}
