package feeds

import (
	"context"
	"strings"
	"sync"

	"quotary/functions/ingester/source"
)

// loadsAtOnce is how many loads from the stores are under way at a time.
const loadsAtOnce = 16

// loads gives distributors their turns to load from the stores what snapshots need.
type loads struct {
	mu      sync.Mutex
	waiting map[string][]*ticket // by distributor
	turns   source.Turns[string, *ticket]
	running int
}

// ticket is a wait for a turn to load something. The lock is that of those who give turns.
type ticket struct {
	turn  chan struct{} // closed when the turn has come
	given bool          // it has
	ended bool          // nobody waits any longer
}

// wait waits for the turn, until it is not needed or ctx ends.
func (t *ticket) wait(ctx context.Context, unless <-chan struct{}) error {
	select {
	case <-t.turn:
	case <-unless:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// give lets the turn come.
func (t *ticket) give() {
	t.given = true
	close(t.turn)
}

func newLoads() *loads { return &loads{waiting: map[string][]*ticket{}} }

// turn is a [turn] to load.
func (l *loads) turn(ctx context.Context, distributor string, unless <-chan struct{}) (done func(), err error) {
	t := &ticket{turn: make(chan struct{})}
	l.mu.Lock()
	l.waiting[distributor] = append(l.waiting[distributor], t)
	l.serve()
	l.mu.Unlock()
	if err := t.wait(ctx, unless); err != nil {
		l.end(t)
		return nil, err
	}
	return func() { l.end(t) }, nil
}

// end ends a turn, whether it has come or not.
func (l *loads) end(t *ticket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t.ended = true
	if t.given {
		l.running--
		l.serve()
	}
}

// serve lets loads begin. The caller holds l.mu.
func (l *loads) serve() {
	l.turns.Serve(l.waiting, strings.Compare, func(t *ticket, _ string) (cost int, ok bool) {
		switch {
		case t.ended:
			return 0, true
		case l.running == loadsAtOnce:
			return 0, false
		}
		l.running++
		t.give()
		return 1, true
	})
}
