package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/data/fills"
	"quotary/shared/data/orders"
	"quotary/shared/market"
	"quotary/shared/store"
)

// write writes the log rows of a batch and applies it; the rest is written once
// a second, so that a row that changes often is written once.
func (p *Pipeline) write(ctx context.Context, batch *market.Events) error {
	if err := p.writeLog(ctx, batch); err != nil {
		return err
	}
	if err := p.apply(ctx, batch); err != nil {
		return err
	}
	if p.Applied != nil {
		p.Applied(batch, p.set)
	}
	p.Stats.Batches.Add(1)
	p.Stats.Fills.Add(int64(len(batch.Fills)))
	p.Stats.Trades.Store(p.set.Trades)
	p.Stats.Orders.Add(int64(len(batch.Orders)))
	p.behind++
	if len(p.consumed) > 0 || p.behind >= batchesBehind || p.Now().Sub(p.flushed) >= flushEvery {
		return p.flush(ctx, len(p.consumed) > 0)
	}
	return nil
}

// writeLog writes the rows that each event has for itself.
func (p *Pipeline) writeLog(ctx context.Context, batch *market.Events) error {
	for _, of := range [...]struct {
		dataset string
		rows    []store.Row
	}{
		{fills.Name, fills.AppendRows(make([]store.Row, 0, len(batch.Fills)), batch.Fills)},
		{orders.OtherName, orders.AppendRows(nil, batch.Orders, orders.OtherName)},
		{orders.FilledName, orders.AppendRows(nil, batch.Orders, orders.FilledName)},
	} {
		if len(of.rows) == 0 {
			continue
		}
		err := p.retry(ctx, "write "+of.dataset+" rows", func() error { return p.Stores.Log.Put(ctx, of.dataset, of.rows) })
		if err != nil {
			return err
		}
		p.Stats.Rows.Add(int64(len(of.rows)))
	}
	return nil
}

// apply reads what the projections need for the events and applies them.
func (p *Pipeline) apply(ctx context.Context, e *market.Events) error {
	for want := p.set.Need(e); !want.Empty(); want = p.set.Need(e) {
		var latest map[store.SeriesKey]time.Time
		var rows map[store.SeriesAt]store.Point
		err := p.retry(ctx, "read rows", func() (err error) {
			if latest, err = p.latest(ctx, want.Latest); err != nil {
				return err
			}
			rows, err = p.Stores.Series.Load(ctx, want.Rows)
			return err
		})
		if err != nil {
			return err
		}
		p.set.Load(want, latest, rows)
	}
	return p.set.Apply(e, p.Now())
}

// latest reads the newest points, a few at a time.
func (p *Pipeline) latest(ctx context.Context, keys []store.SeriesKey) (map[store.SeriesKey]time.Time, error) {
	points := make([]store.Point, len(keys))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for i, key := range keys {
		group.Go(func() (err error) {
			points[i], _, err = p.Stores.Series.Latest(ctx, key)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	latest := make(map[store.SeriesKey]time.Time, len(keys))
	for i, key := range keys {
		if !points[i].Time.IsZero() {
			latest[key] = points[i].Time
		}
	}
	return latest, nil
}

// flush writes what the projections changed, then the views, then the
// checkpoints, in this order: see [projection.Changes]. A settling flush leaves
// nothing unwritten.
func (p *Pipeline) flush(ctx context.Context, settle bool) error {
	changes := p.set.Changes(p.Now(), settle)
	for _, rows := range [...][]store.SeriesRow{changes.Coarse, changes.Fine} {
		if len(rows) == 0 {
			continue
		}
		if err := p.retry(ctx, "write series", func() error { return p.Stores.Series.Put(ctx, rows) }); err != nil {
			return err
		}
		p.Stats.Rows.Add(int64(len(rows)))
	}
	for _, v := range changes.Views {
		if err := p.retry(ctx, "publish view "+v.Name, func() error { return p.Stores.Views.Publish(ctx, v.Name, v.Body) }); err != nil {
			return err
		}
	}
	for source, position := range p.positions {
		if changes.Held {
			break // until what it stands for is written
		}
		err := p.retry(ctx, "save the checkpoint of "+source, func() error { return p.Stores.Series.SaveCheckpoint(ctx, source, position) })
		if err != nil {
			return err
		}
		delete(p.positions, source)
	}
	for _, consumed := range p.consumed {
		close(consumed)
	}
	p.consumed, p.behind, p.flushed = nil, 0, p.Now()
	p.Stats.Flushed.Store(p.flushed.UnixMilli())
	return nil
}

// retry calls do, each time with a valid lease, until it succeeds, ctx ends or
// the lease is lost. The stores may be away for hours: nothing is given up, the
// queues fill, and the sources wait.
func (p *Pipeline) retry(ctx context.Context, what string, do func() error) error {
	for ceiling := retryFirst; ; ceiling = min(retryCeiling, 2*ceiling) {
		if err := p.await(ctx); err != nil {
			return err
		}
		err := do()
		if err == nil {
			p.Stats.TroubleSince.Store(0)
			return nil
		}
		if ctx.Err() != nil {
			return cmp.Or(context.Cause(ctx), ctx.Err())
		}
		if errors.Is(err, store.ErrFenced) {
			return fmt.Errorf("%s: %w", what, err)
		}
		p.Stats.TroubleSince.CompareAndSwap(0, p.Now().UnixMilli())
		pause := ceiling/2 + rand.N(ceiling/2)
		p.Log.Error("the stores refuse; trying again", "what", what, "error", err.Error(), "in", pause.String())
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// await returns nil at a moment at which the pipeline is the writer.
func (p *Pipeline) await(ctx context.Context) error {
	if p.Term == nil || p.Term.Valid() {
		return nil
	}
	p.Stats.TroubleSince.CompareAndSwap(0, p.Now().UnixMilli())
	p.Log.Warn("the lease could not be renewed; waiting for it")
	return p.Term.Await(ctx)
}
