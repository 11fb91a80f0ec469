package lease

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"quotary/shared/backoff"
)

// Term is the time for which this process holds a lease.
type Term struct {
	// Epoch is the fencing number of the term: higher than those of all before.
	Epoch int64

	lease *Lease
	until atomic.Int64 // by the lease's clock: up to when it is valid
	lost  chan struct{}
	asked chan struct{} // closed when a process of a higher rank asks for the lease

	mu      sync.Mutex
	renewed chan struct{} // closed by the next renewal
}

// Valid reports whether the lease is held at this moment.
func (t *Term) Valid() bool { return int64(t.lease.clock()) < t.until.Load() && !t.over() }

// Lost is closed when another process has taken the lease.
func (t *Term) Lost() <-chan struct{} { return t.lost }

func (t *Term) over() bool {
	select {
	case <-t.lost:
		return true
	default:
		return false
	}
}

// Await returns nil at a moment at which the lease is valid, ErrLost when it
// never will be again, and the cause of ctx when that ends first.
func (t *Term) Await(ctx context.Context) error {
	for {
		t.mu.Lock()
		renewed := t.renewed
		t.mu.Unlock()
		if t.over() {
			return ErrLost
		}
		if t.Valid() {
			return nil
		}
		select {
		case <-renewed:
		case <-t.lost:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Confirm asks the table, at once, whether the lease is still held. The error is
// ErrLost when it is not, and another when nobody answers.
func (t *Term) Confirm(ctx context.Context) error {
	began := t.lease.clock()
	asked, err := t.lease.beat(ctx, t.Epoch)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.over():
		return ErrLost
	case errors.Is(err, ErrLost):
		close(t.lost)
		t.lease.gone()
		return ErrLost
	case err != nil:
		return err
	}
	if until := int64(began + t.lease.Timing.Term); until > t.until.Load() {
		t.until.Store(until)
	}
	close(t.renewed)
	t.renewed = make(chan struct{})
	if asked {
		t.yield()
	}
	return nil
}

// yield lets the work end. The caller holds t.mu.
func (t *Term) yield() {
	select {
	case <-t.asked:
	default:
		close(t.asked)
	}
}

// renew keeps the term until ctx ends or it is lost.
func (t *Term) renew(ctx context.Context) {
	log := t.lease.Log.With("lease", t.lease.Name, "epoch", t.Epoch)
	failing := false
	wait := t.lease.Timing.Beat
	for backoff.Sleep(ctx, jitter(wait)) == nil {
		began := t.lease.clock()
		err := t.Confirm(ctx)
		// A beat that failed is made up for soon.
		wait = max(t.lease.Timing.Beat-(t.lease.clock()-began), t.lease.Timing.Beat/4)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, ErrLost):
			log.Warn("lost the lease")
			return
		case err != nil:
			wait = t.lease.Timing.Beat / 4
			if !failing {
				log.Warn("cannot renew the lease; trying again", "error", err.Error())
			}
		case failing:
			log.Info("renewed the lease again")
		}
		failing = err != nil
	}
}
