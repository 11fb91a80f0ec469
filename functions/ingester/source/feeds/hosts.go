package feeds

import (
	"context"
	"sync"
	"time"

	"quotary/shared/backoff"
)

// hosts let a client ask each host one question at a time, and pause for those that
// fail. The zero value is ready.
type hosts struct {
	pauses backoff.Backoff

	mu sync.Mutex
	by map[string]*host
}

type host struct {
	turn chan struct{} // holds a value while somebody asks

	// Of whoever has the turn.
	until    time.Time // no question before
	failures int       // in a row
}

// acquire waits for the host's turn and its pause. Whoever gets it must call release.
func (h *hosts) acquire(ctx context.Context, name string) (*host, error) {
	h.mu.Lock()
	if h.by == nil {
		h.by = map[string]*host{}
	}
	one := h.by[name]
	if one == nil {
		one = &host{turn: make(chan struct{}, 1)}
		h.by[name] = one
	}
	h.mu.Unlock()
	select {
	case one.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if err := backoff.Sleep(ctx, time.Until(one.until)); err != nil {
		<-one.turn
		return nil, err
	}
	return one, nil
}

// release gives the turn back. Of a host that failed it says how long it may not be
// asked: at least for as long as it asked for itself.
func (h *hosts) release(one *host, failed bool, retryAfter time.Duration) (pause time.Duration) {
	if failed {
		pause = max(h.pauses.Delay(min(one.failures, mostDoublings)), min(retryAfter, longestPause))
		one.until = time.Now().Add(pause)
		one.failures++
	} else {
		one.failures, one.until = 0, time.Time{}
	}
	<-one.turn
	return pause
}

// mostDoublings bounds how often a pause is doubled: it reaches its longest before.
const mostDoublings = 10
