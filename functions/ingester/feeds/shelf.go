package feeds

import (
	"context"
	"sync"
	"time"
)

// shelf keeps what was loaded for topics that need more than what was heard
// since the start: a value for each key that somebody follows. The lock is that
// of the events that change the values.
type shelf[V any] struct {
	mu      *sync.Mutex
	entries map[string]*entry[V]
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
// keeps it until [shelf.release]. add puts it on the shelf under the lock, so
// that events reach it from then on; load completes it without the lock.
func (s *shelf[V]) acquire(ctx context.Context, key string, add func() V, load func(ctx context.Context, value V) error) error {
	s.mu.Lock()
	e := s.entries[key]
	mine := e == nil
	if mine {
		e = &entry[V]{value: add(), loaded: make(chan struct{})}
		s.entries[key] = e
	}
	e.users++
	s.mu.Unlock()
	if mine {
		loadCtx, cancel := context.WithTimeout(ctx, loadTimeout)
		e.err = load(loadCtx, e.value)
		cancel()
		if e.err != nil {
			s.mu.Lock()
			delete(s.entries, key)
			s.mu.Unlock()
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

// release ends the use of a value that [shelf.acquire] made ready.
func (s *shelf[V]) release(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.entries[key]; e != nil {
		e.users--
	}
}

// get is the value of a key. The caller holds the lock.
func (s *shelf[V]) get(key string) (value V, ok bool) {
	e := s.entries[key]
	if e == nil {
		return value, false
	}
	return e.value, true
}

// prune forgets the values that nobody follows or is about to.
func (s *shelf[V]) prune(watched func(key string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, e := range s.entries {
		if e.users <= 0 && !watched(key) {
			delete(s.entries, key)
		}
	}
}
