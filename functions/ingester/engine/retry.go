package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"quotary/shared/backoff"
	"quotary/shared/store"
)

// retries are the pauses between two tries of what the stores refuse.
var retries = backoff.Backoff{Min: 100 * time.Millisecond, Max: 30 * time.Second}

// retry does something with the stores until it succeeds or ctx ends. Meanwhile
// the queues fill, and the sources wait. It gives up at once where a newer writer
// has taken over: [store.ErrFenced].
func (p *Pipeline[B]) retry(ctx context.Context, what string, do func() error) error {
	for try := 0; ; try++ {
		if err := p.await(ctx); err != nil {
			return err
		}
		err := do()
		if err == nil {
			p.trouble.end(what)
			return nil
		}
		if ctx.Err() != nil {
			return cmp.Or(context.Cause(ctx), ctx.Err())
		}
		if errors.Is(err, store.ErrFenced) {
			return fmt.Errorf("%s: %w", what, err)
		}
		p.trouble.begin(what, p.Now())
		pause := retries.Delay(try)
		p.Logger.Error("the stores refuse; trying again", "what", what, "error", err.Error(), "in", pause.String())
		if err := backoff.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// retryValid is retry for what the stores may call invalid, which is not tried again: invalid
// is what they say then.
func (p *Pipeline[B]) retryValid(ctx context.Context, what string, do func() error) (invalid, err error) {
	err = p.retry(ctx, what, func() error {
		err := do()
		if errors.Is(err, store.ErrInvalid) {
			invalid, err = err, nil
		}
		return err
	})
	return invalid, err
}

// await returns nil at a moment at which the pipeline is the writer.
func (p *Pipeline[B]) await(ctx context.Context) error {
	const what = "renew the lease"
	if p.Term == nil || p.Term.Valid() {
		return nil
	}
	p.trouble.begin(what, p.Now())
	defer p.trouble.end(what)
	p.Logger.Warn("the lease could not be renewed; waiting for it")
	return p.Term.Await(ctx)
}

// trouble is what the stores refuse at this moment, or have called invalid. The zero value
// is none.
type trouble struct {
	mu    sync.Mutex
	since map[string]time.Time // by what was tried
}

// begin notes what is refused, and reports whether it was not before.
func (t *trouble) begin(what string, now time.Time) (first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.since == nil {
		t.since = map[string]time.Time{}
	}
	_, known := t.since[what]
	if !known {
		t.since[what] = now
	}
	return !known
}

func (t *trouble) end(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.since, what)
}

// all returns all that is refused, sorted.
func (t *trouble) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.since))
}

// before returns what has been refused since a time or longer, sorted.
func (t *trouble) before(at time.Time) (what []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, since := range t.since {
		if !since.After(at) {
			what = append(what, name)
		}
	}
	slices.Sort(what)
	return what
}
