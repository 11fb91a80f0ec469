package feeds

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"quotary/functions/ingester/feeds/hub"
	"quotary/functions/ingester/guard"
	"quotary/shared/gate/connections"
)

// removals are the connections to be removed. Each stands there once, so there
// are never more than there are connections. They are removed page by page: the
// distributors take turns, and none has all of those that are under way, so that
// connections which have much, or a slow partition, hold up no others.
type removals struct {
	wake chan struct{} // holds one

	mu      sync.Mutex
	pending map[string]bool       // by connection
	queues  map[string][]*removal // by distributor: those that wait for a turn; never empty
	turns   []string              // the distributors with a queue, the next one first
	running map[string]int        // by distributor
	under   int                   // all that are running
	failed  []*removal            // that wait for the next try
}

func newRemovals() removals {
	return removals{wake: make(chan struct{}, 1), pending: map[string]bool{}, queues: map[string][]*removal{}, running: map[string]int{}}
}

type removal struct {
	conn  hub.Conn
	key   string
	why   connections.Reason
	close bool // the client may still be there
	begun bool // the table has it as being removed
	ours  bool // by this ingester
}

func (r *removals) add(c hub.Conn, why connections.Reason, closing bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending[c.ID] {
		return
	}
	r.pending[c.ID] = true
	r.queue(&removal{conn: c, why: why, close: closing})
}

// queue puts a removal behind the others of its distributor.
func (r *removals) queue(one *removal) {
	of := one.conn.Of
	if len(r.queues[of]) == 0 {
		r.turns = append(r.turns, of)
	}
	r.queues[of] = append(r.queues[of], one)
	r.signal()
}

func (r *removals) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// next returns the removal whose turn it is, or nil where none may begin now.
func (r *removals) next() *removal {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.under == atOnce {
		return nil
	}
	for i, of := range r.turns {
		if r.running[of] == removedOfOne {
			continue
		}
		one := r.queues[of][0]
		r.turns = slices.Delete(r.turns, i, i+1)
		if r.queues[of] = r.queues[of][1:]; len(r.queues[of]) == 0 {
			delete(r.queues, of)
		} else {
			r.turns = append(r.turns, of)
		}
		r.running[of]++
		r.under++
		return one
	}
	return nil
}

// outcome is what a turn came to.
type outcome int

const (
	removedAll outcome = iota
	removedPage
	removeFailed
)

// ended takes a removal back whose turn has ended.
func (r *removals) ended(one *removal, o outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.under--
	of := one.conn.Of
	if r.running[of]--; r.running[of] == 0 {
		delete(r.running, of)
	}
	switch o {
	case removedAll:
		delete(r.pending, one.conn.ID)
	case removedPage:
		r.queue(one)
	case removeFailed:
		r.failed = append(r.failed, one)
	}
	r.signal()
}

// retry puts what has failed among those that wait for a turn.
func (r *removals) retry() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.failed {
		r.queue(one)
	}
	r.failed = nil
}

const (
	// removeAgain is the pause before what could not be removed is tried again.
	removeAgain = time.Second
	// removeWait is for one page of what a connection has.
	removeWait = 10 * time.Second
	// removedOfOne is how many connections of one distributor are removed at a time.
	removedOfOne = atOnce * 3 / 4
)

// remove removes what is pending until ctx ends. What fails is tried again.
func (f *Feeds) remove(ctx context.Context) error {
	again := time.NewTicker(removeAgain)
	defer again.Stop()
	turns, ctx := guard.WithContext(ctx)
	for {
		for r := f.removals.next(); r != nil; r = f.removals.next() {
			turns.Go(func() error { f.removals.ended(r, f.removeSome(ctx, r)); return nil })
		}
		select {
		case <-ctx.Done():
			return turns.Wait()
		case <-f.removals.wake:
		case <-again.C:
			f.removals.retry()
		}
	}
}

// removeSome removes a page of what a connection has.
func (f *Feeds) removeSome(ctx context.Context, r *removal) outcome {
	done, err := f.removePage(ctx, r)
	switch {
	case err == nil && !done:
		return removedPage
	case err == nil:
		return removedAll
	case ctx.Err() == nil:
		f.Logger.Warn("cannot remove a connection; trying again", "reason", string(r.why), "error", err.Error())
	}
	return removeFailed
}

// removePage frees a page of what a connection holds, and closes the connection behind
// the last one. It reports whether that is done, or for nobody to do.
func (f *Feeds) removePage(ctx context.Context, r *removal) (done bool, err error) {
	removing, cancel := context.WithTimeout(ctx, removeWait)
	defer cancel()
	if !r.begun {
		r.key = f.keyOf(r.conn.ID) // before the table forgets it
		var before time.Time
		if r.why == connections.ReasonIdle {
			before = f.idleBefore()
		}
		ours, others, err := f.Connections.BeginRemoval(removing, r.conn.ID, before)
		if err != nil || others {
			return others, err // somebody else does, or its client spoke at the last moment
		}
		r.begun, r.ours = true, ours
	}
	if done, err := f.Connections.RemovePage(removing, r.conn.ID); err != nil || !done || !r.ours {
		return done, err
	}
	f.Logger.Info("removed a connection", "reason", string(r.why), "key", r.key)
	if !r.close {
		return true, nil
	}
	if err := f.gatewayRate.Wait(ctx); err != nil {
		return false, err
	}
	closing, cancel := context.WithTimeout(ctx, sweepWait)
	defer cancel()
	if err := f.Gateway.Disconnect(closing, r.conn); err != nil && !errors.Is(err, hub.ErrGone) {
		// Its slot is free; the gateway ends an idle connection by itself.
		f.Logger.Warn("a removed connection could not be closed", "error", err.Error())
	}
	return true, nil
}

func (f *Feeds) keyOf(id string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.clients[id]; c != nil {
		return c.Key
	}
	return ""
}
