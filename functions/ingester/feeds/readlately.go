package feeds

import (
	"sync"
	"time"
)

// readFor is for how long what was read is shown: what arrived since is among what arrived lately.
const readFor = 10 * time.Second

// readLately is what was read lately of what happened: clients that come back together, as after an
// ingester has ended, share it. The zero value has read nothing.
type readLately[T any] struct {
	mu   sync.Mutex // is held while it is read
	from time.Time
	at   time.Time
	list []T
	all  bool // it reaches back to from; else there are too many
}

// since is what happened from a time on, and some before, read where what is there is too old or
// does not reach so far back. Callers must not change it.
func (r *readLately[T]) since(from, now time.Time, read func() (begin time.Time, list []T, all bool, err error)) ([]T, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.at) <= readFor && (!r.all || !from.Before(r.from)) {
		return r.list, nil
	}
	begin, list, all, err := read()
	if err != nil {
		return nil, err
	}
	r.from, r.at, r.list, r.all = begin, now, list, all
	return list, nil
}

// forget lets go of what is not shown any more, and reports whether nothing is left. What is being
// read stays.
func (r *readLately[T]) forget(now time.Time) bool {
	if !r.mu.TryLock() {
		return false
	}
	defer r.mu.Unlock()
	if now.Sub(r.at) <= readFor {
		return false
	}
	r.list, r.at = nil, time.Time{}
	return true
}
