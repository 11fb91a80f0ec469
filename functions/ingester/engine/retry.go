package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// trouble is what the stores refuse at this moment. The zero value is none.
type trouble struct {
	mu    sync.Mutex
	since map[string]time.Time // by what was tried
}

func (t *trouble) begin(what string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.since == nil {
		t.since = map[string]time.Time{}
	}
	if _, ok := t.since[what]; !ok {
		t.since[what] = now
	}
}

func (t *trouble) end(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.since, what)
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
