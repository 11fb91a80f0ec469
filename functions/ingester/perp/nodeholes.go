package perp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/data/fills"
	"quotary/shared/data/ledgers"
	"quotary/shared/data/payments"
	"quotary/shared/market"
	"quotary/shared/store"
)

// nodeHoles are the hours in which a node's files lack blocks, until the venue's hours have filled them. They are saved
// before what lies behind a hole is delivered.
type nodeHoles struct {
	series *store.Series

	mu   sync.Mutex // is held over requests, of which there are few
	read bool
	left []string // in the order of time
}

// holesSaved names them among the checkpoints.
const holesSaved = Name + "/holes"

// note adds hours.
func (h *nodeHoles) note(ctx context.Context, hours []string) error {
	return h.change(ctx, func(left []string) []string { return hyperliquid.AddHours(left, hours) })
}

// filled takes an hour out.
func (h *nodeHoles) filled(ctx context.Context, hour string) error {
	return h.change(ctx, func(left []string) []string {
		return slices.DeleteFunc(slices.Clone(left), func(one string) bool { return one == hour })
	})
}

// all are those that are left, which are a copy.
func (h *nodeHoles) all(ctx context.Context) (hours []string, err error) {
	err = h.change(ctx, func(left []string) []string {
		hours = slices.Clone(left)
		return left
	})
	return hours, err
}

func (h *nodeHoles) change(ctx context.Context, to func(left []string) []string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.read {
		body, err := h.series.ClaimCheckpoint(ctx, holesSaved)
		if err != nil {
			return fmt.Errorf("read in which hours blocks are missing: %w", err)
		}
		if body != nil {
			if err := json.Unmarshal(body, &h.left); err != nil {
				return fmt.Errorf("read in which hours blocks are missing: %w", err)
			}
		}
		h.left, h.read = hyperliquid.AddHours(h.left, nil), true
	}
	left := to(h.left)
	if slices.Equal(left, h.left) {
		return nil
	}
	body, err := json.Marshal(left)
	if err == nil {
		err = h.series.SaveCheckpoint(ctx, holesSaved, body)
	}
	if err != nil {
		return fmt.Errorf("save in which hours blocks are missing: %w", err)
	}
	h.left = left
	return nil
}

// holesSource reads the venue's hours that fill holes of a node's files. Of these only what is not stored is delivered, as
// what a node tells of its past; the feeds, nil for none, push it where the hour is not old.
func (c Config) holesSource(h *hyperliquid.Hours, feeds *Feeds) engine.Source[*Batch] {
	return engine.Source[*Batch]{
		Name: "hours", Stats: h.Stats, NoCheckpoint: true, Background: true,
		Follow: func(ctx context.Context, _ engine.Position, sink engine.Sink[*Batch]) error {
			deliver := func(ctx context.Context, d hyperliquid.HoursDelivery) error {
				if err := c.leaveMissing(ctx, &d.Events); err != nil || d.Events.Len() == 0 {
					return err
				}
				if feeds != nil {
					if err := feeds.Hour(ctx, &d.Events, d.Old); err != nil {
						return source.OfSink(err)
					}
				}
				return source.OfSink(sink(ctx, engine.Delivery[*Batch]{Batch: &Batch{Events: d.Events, Stored: true, Past: true}}))
			}
			return h.Fill(ctx, c.holes.all, deliver, func(ctx context.Context, hour string) error {
				if err := sink.Store(ctx, engine.Delivery[*Batch]{}); err != nil {
					return source.OfSink(err)
				}
				return c.holes.filled(ctx, hour)
			})
		},
	}
}

// leaveMissing leaves of events those that are not stored; of the fills of a time without the node those, too, that only a public
// trade has told of, which keep the place at which they arrived.
func (c Config) leaveMissing(ctx context.Context, e *market.Events) (err error) {
	if e.Fills, err = fills.Unconfirmed(ctx, c.Stores.Log, e.Fills); err != nil {
		return err
	}
	for i := range e.Fills {
		e.Fills[i].Arrived.Again = true
	}
	var stored []store.StoredArrival
	if stored, err = ledgers.Arrivals(ctx, c.Stores.Log, e.Ledgers); err != nil {
		return err
	}
	e.Ledgers = notThere(e.Ledgers, stored)
	missing, err := payments.Missing(ctx, c.Stores.Log, e.Payments)
	if missing == 0 { // else all of them: a row has those of an event
		e.Payments, e.Funding = nil, nil
	}
	return err
}

func notThere[T any](list []T, stored []store.StoredArrival) []T {
	var missing []T
	for i := range list {
		if !stored[i].Stored {
			missing = append(missing, list[i])
		}
	}
	return missing
}
