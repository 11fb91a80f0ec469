package engine

import (
	"context"
	"errors"
	"time"

	"quotary/shared/store"
)

// write writes the log rows of a batch and applies it; the rest is written once
// a second, so that a row that changes often is written once.
func (p *Pipeline[B]) write(ctx context.Context, batch B) error {
	for _, log := range p.Logs {
		if err := p.putLog(ctx, log.Dataset, log.Append(nil, batch)); err != nil {
			return err
		}
	}
	if _, err := p.apply(ctx, p.Projections, batch); err != nil {
		return err
	}
	if p.pastRead > 0 {
		p.Stats.PastRead.Add(int64(p.pastRead))
		p.pastRead = 0
		p.join()
	}
	if p.Holds != nil {
		p.Holds(batch, p.delivered.say)
	}
	if p.Applied != nil {
		p.Applied(batch)
	}
	p.Stats.Batches.Add(1)
	p.Stats.Events.Add(int64(batch.Len()))
	return p.flushWhenDue(ctx, batch.Len())
}

func (p *Pipeline[B]) flushWhenDue(ctx context.Context, events int) error {
	p.unflushed += events
	if len(p.consumed) > 0 || p.unflushed >= flushEvents || p.Now().Sub(p.flushed) >= flushEvery {
		return p.flush(ctx, len(p.consumed) > 0)
	}
	return p.flushUrgent(ctx)
}

// flushUrgent writes the changes of the projections that have some which somebody waits
// for. The checkpoints stay: rows may be ahead of them.
func (p *Pipeline[B]) flushUrgent(ctx context.Context) error {
	now := p.Now()
	if now.Sub(p.urgent) < urgentEvery {
		return nil
	}
	for _, one := range p.Projections {
		if u, ok := one.(Urgent); ok && u.Urgent() {
			p.urgent = now
			if err := p.writeChanges(ctx, one.Changes(now, false)); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush writes what the projections changed, then the views, then the checkpoints:
// a crash between any two writes leaves rows that are ahead of the checkpoints,
// never behind. A settling flush leaves nothing unwritten.
//
// The checkpoints wait until no projection holds anything back. As each has its own
// times, that may never be: then all are settled together. So they are when a source has
// spoken of a dataset for the first time, of which readers learn when all of it is written.
func (p *Pipeline[B]) flush(ctx context.Context, settle bool) error {
	now := p.Now()
	if p.held.IsZero() {
		p.held = now
	}
	if settle = settle || p.delivered.news() || now.Sub(p.held) >= heldFor; settle {
		p.held = now
	}
	changes := p.changes(settle)
	if err := p.writeChanges(ctx, changes); err != nil {
		return err
	}
	if !changes.Held { // else until what they stand for is written
		p.held = time.Time{}
		if err := p.publishDelivered(ctx); err != nil {
			return err
		}
		if err := p.saveCheckpoints(ctx); err != nil {
			return err
		}
		for _, consumed := range p.consumed {
			close(consumed)
		}
		p.consumed = p.consumed[:0]
	}
	p.unflushed, p.flushed = 0, p.Now()
	p.Stats.Flushed.Store(p.flushed.UnixMilli())
	return nil
}

// writeChanges writes rows, and then views.
func (p *Pipeline[B]) writeChanges(ctx context.Context, changes Changes) error {
	for _, log := range changes.Log {
		if err := p.putLog(ctx, log.Dataset, log.Rows); err != nil {
			return err
		}
	}
	for _, rows := range [...][]store.SeriesRow{changes.Coarse, changes.Fine} {
		if err := p.putSeries(ctx, rows); err != nil {
			return err
		}
	}
	for _, v := range changes.Views {
		if err := p.publish(ctx, v); err != nil {
			return err
		}
	}
	return nil
}

// publish publishes a view. One that no store takes, as it is too large, is left out: its
// readers, and the next start, have the version before, and the rest of the domain goes on,
// which would wait for it for ever.
func (p *Pipeline[B]) publish(ctx context.Context, v View) error {
	invalid, err := p.retryValid(ctx, "publish view "+v.Name, func() error { return p.Stores.Views.Publish(ctx, v.Name, v.Body) })
	switch {
	case err != nil:
		return err
	case invalid == nil:
		p.unpublished.end(v.Name)
		p.publishedView(v.Name)
	case p.unpublished.begin(v.Name, p.Now()): // as long as it lasts it is said once
		p.Logger.Error("a view is not published: it cannot be stored", "view", v.Name, "error", invalid.Error())
	}
	return nil
}

// changes brings the changes of all projections together.
func (p *Pipeline[B]) changes(settle bool) (all Changes) {
	now := p.Now()
	for _, one := range p.Projections {
		c := one.Changes(now, settle)
		all.Log = append(all.Log, c.Log...)
		all.Coarse = append(all.Coarse, c.Coarse...)
		all.Fine = append(all.Fine, c.Fine...)
		all.Views = append(all.Views, c.Views...)
		all.Held = all.Held || c.Held
	}
	return all
}

func (p *Pipeline[B]) saveCheckpoints(ctx context.Context) error {
	for name, at := range p.positions {
		invalid, err := p.retryValid(ctx, "save the checkpoint "+name, func() error {
			return p.Stores.Series.SaveCheckpoint(ctx, name, at.position)
		})
		if err != nil {
			return err
		}
		if invalid != nil {
			p.fail(at.source, invalid)
		}
		delete(p.positions, name)
	}
	return p.saveProgress(ctx)
}

// fail ends a source whose checkpoint no store takes, until this process works again: it
// alone, as its domain would wait for the checkpoint for ever. Nothing of it is lost: the
// next start goes on from what was saved last.
func (p *Pipeline[B]) fail(name string, why error) {
	for _, s := range p.Sources {
		if s.Name == name && !s.Stats.Failed.Swap(true) {
			p.stop[name]()
			p.Logger.Error("a source is stopped: its checkpoint cannot be stored", "source", name, "error", why.Error())
		}
	}
}

// putLog writes log rows, and quarantines those that are invalid.
func (p *Pipeline[B]) putLog(ctx context.Context, dataset string, rows []store.Row) error {
	return p.put(ctx, "write "+dataset+" rows", len(rows), func() error { return p.Stores.Log.Put(ctx, dataset, rows) }, func(i int) QuarantinedRow {
		return quarantinedLogRow(dataset, &rows[i])
	})
}

// putSeries writes rows of series, and quarantines those that are invalid.
func (p *Pipeline[B]) putSeries(ctx context.Context, rows []store.SeriesRow) error {
	return p.put(ctx, "write series", len(rows), func() error { return p.Stores.Series.Put(ctx, rows) }, func(i int) QuarantinedRow {
		return quarantinedSeriesRow(rows[i].SeriesKey, &rows[i].Point)
	})
}

// put writes n rows until the stores have taken all but those that they say are
// invalid, and quarantines these; row describes one, but for the reason.
func (p *Pipeline[B]) put(ctx context.Context, what string, n int, write func() error, row func(i int) QuarantinedRow) error {
	if n == 0 {
		return nil
	}
	quarantined := map[int]bool{} // rows of this call, however often it is tried
	err := p.retry(ctx, what, func() error {
		err := write()
		var invalid *store.InvalidRowsError
		if !errors.As(err, &invalid) {
			return err
		}
		for _, one := range invalid.Rows {
			if quarantined[one.Index] {
				continue
			}
			q := row(one.Index)
			q.Reason = one.Reason.Error()
			if err := p.quarantine(ctx, &p.quarantined, "", q); err != nil {
				return err
			}
			quarantined[one.Index] = true
		}
		return nil
	})
	p.Stats.Rows.Add(int64(n - len(quarantined)))
	return err
}
