package feeds

import (
	"context"
	"math"
	"time"

	"quotary/shared/market"
)

// What happened before the start is stored when PastRead is closed. Until then a part of
// it, missed in a long outage, is read beside what happens now: snapshots that show it
// wait, and it is published as late.

// awaitPast begins the subscriptions that wait for the past when that is read, or when
// it takes longer than they may wait.
func (f *Feeds) awaitPast(ctx context.Context) error {
	if f.PastRead != nil {
		late := time.NewTimer(f.PastMost)
		defer late.Stop()
		select {
		case <-f.PastRead:
		case <-late.C:
		case <-ctx.Done():
			return nil
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pastWaited = true
	for _, c := range f.clients {
		for _, begin := range c.waiting {
			begin()
		}
		c.waiting = nil
	}
	return nil
}

// pastIsRead reports whether what happened before the start is stored.
func (c *Config) pastIsRead() bool {
	if c.PastRead == nil {
		return true
	}
	select {
	case <-c.PastRead:
		return true
	default:
		return false
	}
}

// Past takes events that were missed before the start, up to a time (ms): from then on
// they come through [Feeds.Tap] too, and whichever has one first publishes it.
func (f *Feeds) Past(ctx context.Context, e *market.Events, until int64) {
	if len(e.Fills)+len(e.Orders)+len(e.Ledgers) == 0 {
		return
	}
	f.awaitConnections(ctx)
	f.arriving.mu.Lock()
	since := f.connectedSince.Load() // as in publish
	fresh, late := f.arriving.arrive(e, max(until+1, f.Now().Add(-freshFor).UnixMilli()))
	for _, c := range f.consumers {
		c.consume(&fresh)
	}
	f.keepLate(&late)
	f.publishLate(between(&late, since, until), true)
	f.publishLate(between(&late, max(since, until+1), math.MaxInt64), false)
	f.arriving.mu.Unlock()
	if err := f.noteLate(ctx, func() error { return f.arriving.noteLate(ctx, e) }); err != nil {
		f.Logger.Warn("it is not noted that events are late", "error", err.Error()) // ctx has ended
	}
}

// keepLate gives late events to those who show them to who comes later too.
func (f *Feeds) keepLate(e *market.Events) {
	if len(e.Fills)+len(e.Provisional) == 0 {
		return
	}
	for _, c := range f.lateKept {
		c.consumeLate(e, false)
	}
}

// publishLate publishes late events to who was connected when they happened.
func (f *Feeds) publishLate(e *market.Events, beforeStart bool) {
	if len(e.Fills)+len(e.Provisional)+len(e.Orders) == 0 {
		return
	}
	for _, c := range f.late {
		c.consumeLate(e, beforeStart)
	}
}

// between are the fills and orders of two times, both inclusive, ms.
func between(e *market.Events, from, to int64) *market.Events {
	within := func(ms int64) bool { return from <= ms && ms <= to }
	all := market.Events{}
	for i := range e.Fills {
		if within(e.Fills[i].Time) {
			all.Fills = append(all.Fills, e.Fills[i])
		}
	}
	for i := range e.Provisional {
		if within(e.Provisional[i].Time) {
			all.Provisional = append(all.Provisional, e.Provisional[i])
		}
	}
	for i := range e.Orders {
		if within(e.Orders[i].Time) {
			all.Orders = append(all.Orders, e.Orders[i])
		}
	}
	return &all
}
