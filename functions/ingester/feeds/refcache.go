package feeds

import (
	"context"
	"sync"
	"time"
)

// refCache is a reference cache: it keeps what was loaded for topics that need more
// than what was received since the start, a value for each key that somebody follows.
// The lock is that of the events that change the values.
type refCache[V any] struct {
	mu      *sync.Mutex
	entries map[string]*entry[V]
}

func newRefCache[V any](mu *sync.Mutex) refCache[V] {
	return refCache[V]{mu, map[string]*entry[V]{}}
}

type entry[V any] struct {
	value  V
	loaded chan struct{} // closed when load has ended
	err    error         // of load
	users  int           // between acquire and release
}

// loadTimeout bounds the reading of one value.
const loadTimeout = 10 * time.Second

// acquire makes the value of a key ready, once for all who ask at a time, and
// keeps it until [refCache.release]. add makes it under the lock, so that
// events reach it from then on; load completes it without the lock.
func (r *refCache[V]) acquire(ctx context.Context, key string, add func() V, load func(ctx context.Context, value V) error) error {
	r.mu.Lock()
	e := r.entries[key]
	mine := e == nil
	if mine {
		e = &entry[V]{value: add(), loaded: make(chan struct{})}
		r.entries[key] = e
	}
	e.users++
	r.mu.Unlock()
	if mine {
		loadCtx, cancel := context.WithTimeout(ctx, loadTimeout)
		e.err = load(loadCtx, e.value)
		cancel()
		if e.err != nil {
			r.mu.Lock()
			delete(r.entries, key)
			r.mu.Unlock()
		}
		close(e.loaded)
		return e.err
	}
	select {
	case <-e.loaded:
		return e.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// release ends the use of a value that [refCache.acquire] made ready.
func (r *refCache[V]) release(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.entries[key]; e != nil {
		e.users--
	}
}

// get is the value of a key. The caller holds the lock.
func (r *refCache[V]) get(key string) (value V, ok bool) {
	e := r.entries[key]
	if e == nil {
		return value, false
	}
	return e.value, true
}

// prune forgets the values that nobody follows or is about to.
func (r *refCache[V]) prune(watched func(key string) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, e := range r.entries {
		if e.users <= 0 && !watched(key) {
			delete(r.entries, key)
		}
	}
}
