package feeds

import (
	"context"
	"strings"
	"sync"

	"quotary/functions/ingester/source"
)

const (
	// loadsAtOnce is how many loads from the stores are under way at a time.
	loadsAtOnce = 16
	// loadsOfOne is how many of them may be of one distributor: what it asks for may be slow.
	loadsOfOne = loadsAtOnce * 3 / 4
)

// loads gives distributors their turns to load from the stores what snapshots need.
type loads struct {
	mu      sync.Mutex
	waiting map[string][]*ticket // by distributor
	turns   source.Turns[string, *ticket]
	running map[string]int // by distributor
	under   int            // all that are running
}

// ticket is a wait for a turn to load something. The lock is that of those who give turns.
type ticket struct {
	of    string        // whose it is, where [loads] give the turns
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

func newLoads() *loads { return &loads{waiting: map[string][]*ticket{}, running: map[string]int{}} }

// turn is a [turn] to load.
func (l *loads) turn(ctx context.Context, distributor string, unless <-chan struct{}) (done func(), err error) {
	t := &ticket{of: distributor, turn: make(chan struct{})}
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

// waits returns how many loads wait for their turn.
func (l *loads) waits() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return stillWaiting(l.waiting)
}

// stillWaiting counts those for whom somebody waits. The caller holds the lock of those who give
// turns.
func stillWaiting(lines map[string][]*ticket) (n int) {
	for _, line := range lines {
		for _, t := range line {
			if !t.ended {
				n++
			}
		}
	}
	return n
}

// end ends a turn, whether it has come or not.
func (l *loads) end(t *ticket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t.ended = true
	if t.given {
		l.under--
		if l.running[t.of]--; l.running[t.of] == 0 {
			delete(l.running, t.of)
		}
		l.serve()
	}
}

// serve lets loads begin. The caller holds l.mu.
func (l *loads) serve() {
	for served := true; served; {
		lines, had := map[string][]*ticket{}, map[string]int{}
		for of, list := range l.waiting {
			if n := min(len(list), loadsOfOne-l.running[of]); n > 0 {
				lines[of], had[of] = list[:n], n
			}
		}
		l.turns.Serve(lines, strings.Compare, func(t *ticket, of string) (cost int, ok bool) {
			switch {
			case t.ended:
				return 0, true
			case l.under == loadsAtOnce:
				return 0, false
			}
			l.under++
			l.running[of]++
			t.give()
			return 1, true
		})
		served = false
		for of, n := range had {
			if n -= len(lines[of]); n == 0 {
				continue
			}
			served = true
			if l.waiting[of] = l.waiting[of][n:]; len(l.waiting[of]) == 0 {
				delete(l.waiting, of)
			}
		}
	}
}
