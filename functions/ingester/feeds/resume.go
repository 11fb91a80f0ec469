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
	"quotary/shared/data/arrivals"
	"quotary/shared/market"
	"quotary/shared/store"
)

// The events of the feeds of addresses are sent once and are in no snapshot. When a
// process takes over, the sources repeat what its predecessor had not stored for
// good, and of that those events are published that the predecessor had not published
// yet, and those of about the last second again. After a long outage a part of them is
// read beside what happens now, and has a position of its own until all of it was.

// position is up to when the events of one feed of addresses were published, by the
// times of the events. The zero value has published none.
type position struct {
	mu     sync.Mutex
	now    progress // of what happens now
	missed progress // of what was missed before the start
}

// progress is up to when events were published, ms.
type progress struct {
	newest int64
	before int64 // events before it were published by an earlier run
}

// advance reports whether an event is to be published, and notes that it is.
func (p *progress) advance(ms int64) bool {
	if ms < p.before {
		return false
	}
	p.newest = max(p.newest, ms)
	return true
}

// advance reports whether an event is to be published, and notes that it is.
func (p *position) advance(ms int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now.advance(ms)
}

// advanceLate does so for a late event, which may be one that was missed before the start. The
// time of another says nothing of what an earlier run has published.
func (p *position) advanceLate(ms int64, beforeStart bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !beforeStart || p.missed.advance(ms)
}

func (p *position) resume(now, missed int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = progress{before: now, newest: max(p.now.newest, now)}
	p.missed = progress{before: missed, newest: max(p.missed.newest, missed)}
}

func (p *position) upTo() (now, missed int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now.newest, p.missed.newest
}

// positions is what is saved: the position of each feed of addresses, ms, by its name,
// and under missedOf(name) that of what was missed, until all of it was read.
type positions map[string]int64

func missedOf(name string) string { return name + " missed" }

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
			now, missed := r.position().upTo()
			all[name] = now
			if !f.pastIsRead() {
				all[missedOf(name)] = missed
			}
		}
	}
	return all
}

// restorePositions reads up to when an earlier run has published events.
func (f *Feeds) restorePositions(ctx context.Context) error {
	body, err := f.claim(ctx, positionSource)
	if err != nil {
		return err
	}
	if err := f.restorePlace(ctx); err != nil {
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
			now, missed := saved[name], saved[name]
			if ms, ok := saved[missedOf(name)]; ok {
				missed = ms
			}
			r.position().resume(now, missed)
		}
	}
	return nil
}

// placesAfter is how far behind the places that an earlier run has saved those of this one begin,
// where the clock says less: more than it gave since.
const placesAfter = 5 * time.Second

// restorePlace has places go on behind those of an earlier run, whatever the clock was there.
func (f *Feeds) restorePlace(ctx context.Context) error {
	body, err := f.claim(ctx, arrivals.StoredSource)
	if err != nil {
		return err
	}
	saved, err := arrivals.ParseStored(body)
	if err != nil {
		f.Logger.Warn("cannot read up to where events are stored", "error", err.Error())
	}
	present := max(market.ArrivalAt(f.Now()), market.ArrivalAt(saved.When().Add(placesAfter)))
	f.arriving.mu.Lock()
	f.arriving.present = present
	f.arriving.mu.Unlock()
	for try := 0; ; try++ { // before any is given: the next run begins behind
		err := arrivals.SaveStored(ctx, f.Series, present)
		if err == nil || errors.Is(err, store.ErrFenced) || ctx.Err() != nil {
			return err
		}
		f.Logger.Warn("cannot save from where on events arrive; trying again", "error", err.Error())
		if err := claims.Wait(ctx, try); err != nil {
			return err
		}
	}
}

// saveStored returns what saves, whenever it is called, up to which place events are stored.
func (f *Feeds) saveStored() func(context.Context) {
	var saved market.Arrival
	var at time.Time
	return func(ctx context.Context) {
		f.arriving.mu.Lock()
		stored := f.arriving.storedUpTo()
		f.arriving.mu.Unlock()
		if stored == saved || f.Now().Sub(at) < positionEvery {
			return
		}
		if err := arrivals.SaveStored(ctx, f.Series, stored); err == nil {
			saved, at = stored, f.Now()
		} else if ctx.Err() == nil {
			f.Logger.Warn("cannot save up to where events are stored", "error", err.Error())
		}
	}
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
