package main

import (
	"time"

	"quotary/shared/lru"
)

// recent keeps what was made of rows for as long as these are not written again, so that nothing is
// read and computed twice from the same: a bounded number of values, which callers share and must
// not change.
type recent[K comparable, V any] struct {
	keep   time.Duration
	values lru.Cache[K, madeAt[V]]
}

type madeAt[V any] struct {
	at    time.Time
	value V
}

// newRecent keeps at most so many values.
func newRecent[K comparable, V any](keep time.Duration, most int) *recent[K, V] {
	return &recent[K, V]{keep: keep, values: lru.Cache[K, madeAt[V]]{Size: most}}
}

// get returns the value of a key, made anew where there is none that is recent. An error is not kept.
func (r *recent[K, V]) get(key K, now time.Time, fresh func() (V, error)) (V, error) {
	if known, ok := r.values.Get(key); ok && now.Sub(known.at) < r.keep {
		return known.value, nil
	}
	value, err := fresh()
	if err == nil {
		r.values.Set(key, madeAt[V]{now, value})
	}
	return value, err
}
