package feeds

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// What the feeds of addresses tell is told once, not shown in a snapshot. When a
// process takes over, the sources repeat what its predecessor had not stored for
// good, and of that those events are pushed that the predecessor had not pushed yet,
// and those of about the last second again.

// pushed is up to when the events of one address feed were pushed, by the times of
// the events. The zero value has pushed none.
type pushed struct {
	mu     sync.Mutex
	newest int64 // ms
	before int64 // events before it were pushed by an earlier run, ms
}

// next tells whether an event is to be pushed, and notes that it is.
func (p *pushed) next(ms int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ms < p.before {
		return false
	}
	p.newest = max(p.newest, ms)
	return true
}

func (p *pushed) resume(ms int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.before, p.newest = ms, max(p.newest, ms)
}

func (p *pushed) upTo() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.newest
}

// pushedNote is what is noted of both feeds, ms.
type pushedNote struct {
	Fills  int64 `json:"fills"`
	Orders int64 `json:"orders"`
}

const (
	// pushedSource names the note of pushed events among the checkpoints.
	pushedSource = "feeds-pushed"
	// pushedEvery is how often it is written, while such events are pushed.
	pushedEvery = time.Second
)

// resume reads up to when an earlier run has pushed events.
func (f *Feeds) resume(ctx context.Context) error {
	body, err := f.Series.ClaimCheckpoint(ctx, pushedSource)
	if err != nil {
		return fmt.Errorf("start the feeds: %w", err)
	}
	var to pushedNote
	if body != nil {
		if err := json.Unmarshal(body, &to); err != nil {
			f.Logger.Warn("cannot read which events were pushed: some may come again", "error", err.Error())
		}
	}
	f.fills.pushed.resume(to.Fills)
	f.orders.pushed.resume(to.Orders)
	return nil
}

// noteEvents returns what notes, whenever it is called, up to when events were
// pushed at the call before: what was handed to the hub since may not be sent yet.
func (f *Feeds) noteEvents() func(context.Context) {
	now := func() pushedNote { return pushedNote{f.fills.pushed.upTo(), f.orders.pushed.upTo()} }
	noted, last, at := now(), now(), f.Now()
	return func(ctx context.Context) {
		due := last
		last = now()
		if due == noted || f.Now().Sub(at) < pushedEvery {
			return
		}
		body, err := json.Marshal(due)
		if err == nil {
			err = f.Series.SaveCheckpoint(ctx, pushedSource, body)
		}
		if err == nil {
			noted, at = due, f.Now()
		} else if ctx.Err() == nil {
			f.Logger.Warn("cannot note which events were pushed", "error", err.Error())
		}
	}
}

// settle waits until it is known who follows whom, so that nothing is told to nobody
// at the start, but not for long: events are stored only after they were shown.
func (f *Feeds) settle(ctx context.Context) {
	if f.settled.Load() {
		return
	}
	late := time.NewTimer(time.Until(f.patient))
	defer late.Stop()
	select {
	case <-f.ready:
	case <-late.C:
	case <-ctx.Done():
	}
}
