// Package source holds what the adapters of all upstreams have in common.
package source

import (
	"sync/atomic"
	"time"
)

// Stats counts what a source has seen. All fields may be read at any time. The
// zero value is that of a source that has seen nothing.
type Stats struct {
	Lines      atomic.Int64 // lines, frames or answers read
	Malformed  atomic.Int64 // parts of them that could not be read
	Gaps       atomic.Int64 // events that the upstream numbered and that did not come
	Reconnects atomic.Int64 // connections made after the first
	Dropped    atomic.Int64 // subscriptions that the upstream refused, or that its limit left no room for
	LastEvent  atomic.Int64 // time of the newest event, ms
	LastSeen   atomic.Int64 // when the source last emitted anything, ms
	Backlog    atomic.Int64 // about how many bytes of what happened before are still to be read
	Crashes    atomic.Int64 // panics, after each of which it was begun again
	Crashed    atomic.Int64 // when the last one was, ms
	Failed     atomic.Bool  // it was stopped for good, as its checkpoint cannot be stored

	// LinesPerSecond is how fast the file is read that is being read; 0 while none is.
	LinesPerSecond atomic.Int64

	trouble atomic.Pointer[string] // the last error that was logged; see [Watched]
}

// Seen notes that the source emitted something at now, of which the newest event
// is of the time newest (ms, 0 for none).
func (s *Stats) Seen(now time.Time, newest int64) {
	s.LastSeen.Store(now.UnixMilli())
	for {
		had := s.LastEvent.Load()
		if had >= newest || s.LastEvent.CompareAndSwap(had, newest) {
			return
		}
	}
}
