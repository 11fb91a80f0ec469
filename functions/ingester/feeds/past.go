package feeds

import (
	"context"
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
// they come through [Feeds.Tap].
func (f *Feeds) Past(ctx context.Context, e *market.Events, until int64) {
	if len(e.Fills)+len(e.Orders) == 0 {
		return
	}
	f.awaitConnections(ctx)
	since := f.connectedSince.Load()
	var missed market.Events
	for i := range e.Fills {
		if at := e.Fills[i].Time; since <= at && at <= until {
			missed.Fills = append(missed.Fills, e.Fills[i])
		}
	}
	missed.Orders = ordersBetween(e.Orders, since, until)
	f.publishLate(&missed, true)
}

// publishLate publishes late events.
func (f *Feeds) publishLate(e *market.Events, beforeStart bool) {
	if len(e.Fills)+len(e.Orders) == 0 {
		return
	}
	for _, c := range f.late {
		c.consumeLate(e, beforeStart)
	}
}

// ordersBetween are those of two times, both inclusive, ms.
func ordersBetween(list []market.OrderStatus, from, to int64) (between []market.OrderStatus) {
	for i := range list {
		if at := list[i].Time; from <= at && at <= to {
			between = append(between, list[i])
		}
	}
	return between
}
