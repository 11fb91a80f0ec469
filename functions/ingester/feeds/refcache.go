package feeds

import (
	"quotary/functions/ingester/guard"

	"context"
	"sync"
	"time"
)

// refCache is a reference cache: it keeps what was loaded for topics that need more
// than what was received since the start, a value for each key that somebody follows.
// The lock is that of the events that change the values. Where pastIsRead is set, a
// value that was loaded before that is true is incomplete until [refCache.complete].
//
// A value is needed whole only until it was shown to who asked for it. Values that are
// [sheddable] together take [snapshotRoom] at most: those that nobody has asked for the longest
// are shed, and loaded again for the next who asks.
type refCache[V any] struct {
	mu         *sync.Mutex
	entries    map[string]*entry[V]
	pastIsRead func() bool
	turn       turn

	whole room[*entry[V]] // the values that can be shed, by when they were asked for
}

// sheddable is a value that can be less than what was loaded. The lock is held.
type sheddable interface {
	// size is what the value takes, bytes.
	size() int
	// shed leaves what tells a new event from one that was there.
	shed()
}

// snapshotRoom is what the values of a cache take in memory, bytes: the last 500 fills of 200
// accounts, each of which is shown within moments after it was loaded.
const snapshotRoom = 64 << 20

// turn waits until something may be loaded for a distributor, or until unless is closed, which
// it is when that is not needed any longer. done ends the turn.
type turn func(ctx context.Context, distributor string, unless <-chan struct{}) (done func(), err error)

func newRefCache[V any](mu *sync.Mutex, turn turn) refCache[V] {
	return refCache[V]{mu: mu, entries: map[string]*entry[V]{}, turn: turn, whole: room[*entry[V]]{most: snapshotRoom}}
}

type entry[V any] struct {
	value      V
	incomplete bool          // a part of what happened before the start may be missing
	partial    bool          // it was shed, or could not be loaded
	begun      bool          // load has
	loaded     chan struct{} // closed when load has ended
	err        error         // of load
	users      int           // between acquire and release

	place place[*entry[V]] // among those in whole
}

// loadTimeout bounds the reading of one value.
const loadTimeout = 10 * time.Second

// acquire makes the value of a key ready, once for all who ask at a time, when the first of
// their distributors has its turn, and keeps it until [refCache.release]. add makes it under the lock, so that
// events reach it from then on; load completes it without the lock.
func (r *refCache[V]) acquire(ctx context.Context, distributor, key string, add func() V, load func(ctx context.Context, value V) error) error {
	r.mu.Lock()
	e := r.entries[key]
	if e == nil || e.partial {
		users := 0
		if e != nil { // they release the new one
			users = e.users
		}
		e = &entry[V]{value: add(), incomplete: r.pastIsRead != nil && !r.pastIsRead(), loaded: make(chan struct{}), users: users}
		r.entries[key] = e
	}
	e.users++
	begun := e.begun
	r.mu.Unlock()
	if !begun {
		done, err := r.turn(ctx, distributor, e.loaded)
		if err != nil {
			r.giveUp(e)
			return err
		}
		if r.begin(e) {
			defer done()
			e.err = r.load(ctx, e, load)
			r.mu.Lock()
			if e.err != nil { // events reach it all the same
				r.shed(e)
			}
			close(e.loaded)
			r.keep(e)
			r.mu.Unlock()
			return e.err
		}
		done() // another loads it
	}
	select {
	case <-e.loaded:
		return e.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// begin reports whether it was this call that begins to load a value.
func (r *refCache[V]) begin(e *entry[V]) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.begun {
		return false
	}
	e.begun = true
	return true
}

// keep notes that a value was asked for, and sheds others where it leaves them no room. The
// caller holds the lock.
func (r *refCache[V]) keep(e *entry[V]) {
	if v, ok := any(e.value).(sheddable); ok && !e.partial {
		r.whole.use(&e.place, e, v.size())
		r.makeRoom()
	}
}

// makeRoom sheds values where all of them take too much. The caller holds the lock.
func (r *refCache[V]) makeRoom() {
	for oldest := range r.whole.excess() {
		if oldest.users <= 0 { // else it is about to be shown
			r.shed(oldest)
		}
	}
}

// shed makes a value partial. The caller holds the lock.
func (r *refCache[V]) shed(e *entry[V]) {
	r.whole.leave(&e.place)
	e.partial = true
	if v, ok := any(e.value).(sheddable); ok {
		v.shed()
	}
}

// giveUp leaves a value to the next who asks, which nobody else waits for.
func (r *refCache[V]) giveUp(e *entry[V]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.users == 1 && !e.begun {
		r.shed(e)
	}
}

// load completes a value, once more where the past was read meanwhile: what it adds
// twice must be there once.
func (r *refCache[V]) load(ctx context.Context, e *entry[V], load func(ctx context.Context, value V) error) error {
	for {
		incomplete := r.pastIsRead != nil && !r.pastIsRead()
		loadCtx, cancel := context.WithTimeout(ctx, loadTimeout)
		err := load(loadCtx, e.value)
		cancel()
		if err != nil {
			return err
		}
		r.mu.Lock()
		e.incomplete = incomplete
		r.mu.Unlock()
		if !incomplete || !r.pastIsRead() {
			return nil
		}
	}
}

// complete loads the values again that are incomplete, when the past is read, and shows
// each to completed under the lock. add makes one again of which there is a part.
func (r *refCache[V]) complete(ctx context.Context, add func(key string) V, load func(ctx context.Context, key string, value V) error, completed func(key string, value V)) error {
	r.mu.Lock()
	missing := map[string]*entry[V]{}
	for key, e := range r.entries {
		if e.incomplete {
			missing[key] = e
		}
	}
	r.mu.Unlock()
	var group guard.Group
	group.SetLimit(atOnce)
	for key, e := range missing {
		group.Go(func() error {
			r.mu.Lock()
			if e.partial {
				e.value, e.partial = add(key), false
			}
			r.mu.Unlock()
			if err := r.load(ctx, e, func(ctx context.Context, value V) error { return load(ctx, key, value) }); err != nil {
				return err
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			completed(key, e.value)
			if r.entries[key] == e {
				r.keep(e)
			}
			return nil
		})
	}
	return group.Wait()
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

// changed notes that the value of a key has. The caller holds the lock.
func (r *refCache[V]) changed(key string) {
	if e := r.entries[key]; e != nil {
		if v, ok := any(e.value).(sheddable); ok {
			r.whole.resize(&e.place, v.size())
			r.makeRoom()
		}
	}
}

// shown is the value of a key once it is loaded. The caller holds the lock.
func (r *refCache[V]) shown(key string) (value V, ok bool) {
	if e := r.entries[key]; e != nil {
		select {
		case <-e.loaded:
			return e.value, true
		default:
		}
	}
	return value, false
}

// incomplete reports whether a part of a value may be missing. The caller holds the
// lock.
func (r *refCache[V]) incomplete(key string) bool {
	e := r.entries[key]
	return e != nil && (e.incomplete || e.partial)
}

// prune forgets the values that nobody follows or is about to.
func (r *refCache[V]) prune(watched func(key string) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, e := range r.entries {
		if e.users <= 0 && !watched(key) {
			r.whole.leave(&e.place)
			delete(r.entries, key)
		}
	}
}
