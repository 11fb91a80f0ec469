package lease

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/backoff"
)

// ErrLost means that another process has taken the lease.
var ErrLost = errors.New("another process has taken the lease")

// ErrAsked means that the lease was released because a process of a higher rank has asked
// for it.
var ErrAsked = errors.New("a process of a higher rank has asked for the lease")

// DB is the part of the DynamoDB client that a lease needs.
type DB interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
}

// Timing is how often a lease is looked at and how long it lasts.
type Timing struct {
	Beat     time.Duration // between two renewals by the holder
	Term     time.Duration // how long a renewal lasts
	Patience time.Duration // how long an observer sees no renewal before it takes over; more than Term
	Poll     time.Duration // between two looks of an observer
	Request  time.Duration // bounds one request
}

// Standard takes over within 7 s and what three requests take, survives the
// loss of three renewals, and allows for clocks of which one runs a fifth faster.
var Standard = Timing{Beat: time.Second, Term: 5 * time.Second, Patience: 6 * time.Second, Poll: 250 * time.Millisecond, Request: time.Second}

// Lease is one process's view of a lease. All fields are set before use.
type Lease struct {
	DB    DB
	Table string // holds items of any kind under the keys pk and sk
	Name  string // of the work

	// Owner names this process. A lease that is held under its name already is
	// taken at once: whoever gives a process the name of an earlier one promises
	// that the earlier one has ended.
	Owner string

	Timing Timing
	Log    *slog.Logger

	// Rank is how well this process can do the work at this moment; nil means 0. It
	// is asked several times a second and must not wait. A process of any rank may hold
	// the lease, until one of a higher rank asks for it.
	Rank func() int64

	// clock is the time since some moment; nil means the monotonic clock.
	clock func() time.Duration

	mu    sync.Mutex
	seen  record
	since time.Duration // by clock: when seen was first read
	held  bool
}

// Holder is who holds a lease, as a process last saw it.
type Holder struct {
	Owner string // "" for nobody, or while it is not known
	Epoch int64
	Held  bool // this process does
}

// Holder returns who held the lease when it was last looked at.
func (l *Lease) Holder() Holder {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Holder{l.seen.owner, l.seen.epoch, l.held}
}

// Hold waits until this process holds the lease, runs work, and releases the lease
// as soon as work returns, so that the next one need not wait. It renews
// the lease until then, also after ctx has ended, so that work can finish what
// it began.
//
// The context of work ends with ctx, or with the cause ErrLost when the lease is
// lost, or with ErrAsked when one of a higher rank asks for it; the error is one of
// these two then. Nil is returned when ctx ends before the lease is held. Hold owns
// two goroutines, which have ended when it returns.
func (l *Lease) Hold(ctx context.Context, work func(ctx context.Context, t *Term) error) error {
	if l.clock == nil {
		start := time.Now()
		l.clock = func() time.Duration { return time.Since(start) }
	}
	t := l.acquire(ctx)
	if t == nil {
		return nil
	}
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	renewing, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var renewal sync.WaitGroup
	renewal.Go(func() {
		t.renew(renewing)
		if t.over() {
			stop(ErrLost)
		}
	})
	renewal.Go(func() {
		select {
		case <-t.asked:
			l.Log.Info("a process of a higher rank asks for the lease", "lease", l.Name, "epoch", t.Epoch)
			stop(ErrAsked)
		case <-renewing.Done():
		}
	})
	err := work(working, t)
	end()
	renewal.Wait()
	l.release(context.WithoutCancel(ctx), t)
	switch {
	case t.over():
		return ErrLost
	case err == nil && errors.Is(context.Cause(working), ErrAsked):
		return ErrAsked
	}
	return err
}

func (l *Lease) rank() int64 {
	if l.Rank == nil {
		return 0
	}
	return l.Rank()
}

// acquire returns nil when ctx ends first.
func (l *Lease) acquire(ctx context.Context) *Term {
	waiting, failing := false, false
	for {
		t, err := l.look(ctx)
		switch {
		case t != nil:
			l.Log.Info("took the lease", "lease", l.Name, "owner", l.Owner, "epoch", t.Epoch)
			return t
		case ctx.Err() != nil:
			return nil
		case err != nil && !failing:
			l.Log.Warn("cannot look at the lease; trying again", "lease", l.Name, "error", err.Error())
		case err == nil && !waiting:
			waiting = true
			h := l.Holder()
			l.Log.Info("standing by", "lease", l.Name, "holder", h.Owner, "epoch", h.Epoch)
		}
		failing = err != nil
		if backoff.Sleep(ctx, jitter(l.Timing.Poll)) != nil {
			return nil
		}
	}
}

// look looks at the lease once, and takes it if it may.
func (l *Lease) look(ctx context.Context) (*Term, error) {
	r, err := l.read(ctx)
	if err != nil {
		return nil, err
	}
	if !l.available(r) {
		if rank := l.rank(); r.owner != "" && rank > r.rank && (r.asker == "" || rank > r.asked) {
			err = l.ask(ctx, r, rank)
		}
		return nil, err
	}
	began := l.clock()
	taken, err := l.claim(ctx, r)
	if err != nil {
		return nil, err
	}
	if taken == nil {
		return nil, nil // somebody was faster, or its holder is alive after all
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen, l.held = *taken, true
	t := &Term{Epoch: taken.epoch, lease: l, lost: make(chan struct{}), asked: make(chan struct{}), renewed: make(chan struct{})}
	t.until.Store(int64(began + l.Timing.Term))
	return t, nil
}

// available notes what was read and reports whether the lease may be taken.
func (l *Lease) available(r record) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock()
	if !r.alike(l.seen) {
		l.since = now
	}
	l.seen = r
	free := r.owner == "" && (r.asker == "" || r.asker == l.Owner) // else it is kept for the one that asked
	return free || r.owner == l.Owner || now-l.since >= l.Timing.Patience
}

func (l *Lease) gone() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = false
}

// release lets the next one take the lease. A failure costs the next holder its patience.
func (l *Lease) release(ctx context.Context, t *Term) {
	l.gone()
	if t.over() {
		return
	}
	if err := l.leave(ctx, t.Epoch); err != nil {
		l.Log.Warn("cannot release the lease; it ends by itself", "lease", l.Name, "epoch", t.Epoch, "error", err.Error())
		return
	}
	l.Log.Info("released the lease", "lease", l.Name, "epoch", t.Epoch)
}

// jitter returns a duration up to a tenth shorter than d, so that processes do not
// ask in step.
func jitter(d time.Duration) time.Duration { return d*9/10 + rand.N(d/10+1) }
