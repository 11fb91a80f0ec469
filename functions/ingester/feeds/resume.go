package feeds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"quotary/shared/backoff"
	"quotary/shared/store"
)

// The events of the feeds of addresses are sent once and are in no snapshot. When a
// process takes over, the sources repeat what its predecessor had not stored for
// good, and of that those events are published that the predecessor had not published
// yet, and those of about the last second again.

// position is up to when the events of one feed of addresses were published, by the
// times of the events. The zero value has published none.
type position struct {
	mu     sync.Mutex
	newest int64 // ms
	before int64 // events before it were published by an earlier run, ms
}

// advance reports whether an event is to be published, and notes that it is.
func (p *position) advance(ms int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ms < p.before {
		return false
	}
	p.newest = max(p.newest, ms)
	return true
}

func (p *position) resume(ms int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.before, p.newest = ms, max(p.newest, ms)
}

func (p *position) upTo() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.newest
}

// positions is what is saved: the position of each feed of addresses, ms.
type positions map[string]int64

const (
	// positionSource names the positions among the checkpoints.
	positionSource = "feeds-published"
	// positionEvery is how often they are saved, while such events are published.
	positionEvery = time.Second
)

func (f *Feeds) positions() positions {
	all := positions{}
	for name, p := range f.publishers {
		if r, ok := p.(resumer); ok {
			all[name] = r.position().upTo()
		}
	}
	return all
}

// resume reads up to when an earlier run has published events.
func (f *Feeds) resume(ctx context.Context) error {
	body, err := f.claim(ctx, positionSource)
	if err != nil {
		return err
	}
	var saved positions
	if body != nil {
		if err := json.Unmarshal(body, &saved); err != nil {
			f.Logger.Warn("cannot read which events were published: some may come again", "error", err.Error())
		}
	}
	for name, p := range f.publishers {
		if r, ok := p.(resumer); ok {
			r.position().resume(saved[name])
		}
	}
	return nil
}

// claims are the pauses between two tries to claim a checkpoint.
var claims = backoff.Backoff{Min: 100 * time.Millisecond, Max: 10 * time.Second}

// claim takes a checkpoint from an earlier run. It tries until ctx ends, unless a
// newer writer has taken over: [store.ErrFenced].
func (f *Feeds) claim(ctx context.Context, name string) ([]byte, error) {
	for try := 0; ; try++ {
		body, err := f.Series.ClaimCheckpoint(ctx, name)
		if err == nil {
			return body, nil
		}
		if errors.Is(err, store.ErrFenced) {
			return nil, fmt.Errorf("start the feeds: %w", err)
		}
		if ctx.Err() == nil {
			f.Logger.Warn("cannot start the feeds; trying again", "error", err.Error())
		}
		if err := claims.Wait(ctx, try); err != nil {
			return nil, fmt.Errorf("start the feeds: %w", err)
		}
	}
}

// savePositions returns what saves, whenever it is called, up to when events were
// published at the call before: what the hub was given since may not be sent yet.
func (f *Feeds) savePositions() func(context.Context) {
	saved, last, at := f.positions(), f.positions(), f.Now()
	return func(ctx context.Context) {
		next := last
		last = f.positions()
		if maps.Equal(next, saved) || f.Now().Sub(at) < positionEvery {
			return
		}
		body, err := json.Marshal(next)
		if err == nil {
			err = f.Series.SaveCheckpoint(ctx, positionSource, body)
		}
		if err == nil {
			saved, at = next, f.Now()
		} else if ctx.Err() == nil {
			f.Logger.Warn("cannot save which events were published", "error", err.Error())
		}
	}
}
