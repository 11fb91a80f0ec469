package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/store"
)

// restore claims the checkpoints of the sources, brings the projections back from
// their views, and decides which of them must be caught up. It returns where the
// sources go on.
func (p *Pipeline[B]) restore(ctx context.Context) (map[string]Position, error) {
	from, err := p.claim(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.recallQuarantined(ctx); err != nil {
		return nil, err
	}
	views := map[string][]byte{}
	for _, one := range p.Projections {
		for _, name := range one.Restores() {
			if _, fetched := views[name]; fetched {
				continue
			}
			if err := p.fetch(ctx, name, views); err != nil {
				return nil, err
			}
		}
		if err := one.Restore(views); err != nil {
			return nil, fmt.Errorf("restore %s: %w", one.Name(), err)
		}
	}
	for {
		read, err := p.apply(ctx, p.Projections, p.NewBatch())
		if err != nil {
			return nil, err
		}
		if !read {
			break
		}
	}
	return from, p.startProgress(ctx, len(from) > 0)
}

// claim reads the positions of the sources and takes them from every earlier
// writer.
func (p *Pipeline[B]) claim(ctx context.Context) (map[string]Position, error) {
	from := map[string]Position{}
	for _, s := range p.Sources {
		if s.NoCheckpoint {
			continue
		}
		err := p.retry(ctx, "claim the checkpoint of "+s.Name, func() error {
			position, err := p.Stores.Series.ClaimCheckpoint(ctx, Checkpoint(p.Domain, s.Name, ""))
			if err == nil && position != nil {
				from[s.Name] = position
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return from, nil
}

func (p *Pipeline[B]) fetch(ctx context.Context, name string, views map[string][]byte) error {
	return p.retry(ctx, "fetch view "+name, func() error {
		body, _, _, err := p.Stores.Views.Fetch(ctx, name, "")
		if errors.Is(err, store.ErrNoView) {
			return nil
		}
		if err == nil {
			views[name] = body
		}
		return err
	})
}

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
	if p.Applied != nil {
		p.Applied(batch)
	}
	p.Stats.Batches.Add(1)
	p.Stats.Events.Add(int64(batch.Len()))
	return p.flushWhenDue(ctx)
}

func (p *Pipeline[B]) flushWhenDue(ctx context.Context) error {
	p.unflushed++
	if len(p.consumed) > 0 || p.unflushed >= flushBatches || p.Now().Sub(p.flushed) >= flushEvery {
		return p.flush(ctx, len(p.consumed) > 0)
	}
	return nil
}

// apply reads what the projections want for a batch and applies it to them. It
// reports whether anything was read.
func (p *Pipeline[B]) apply(ctx context.Context, to []Projection[B], batch B) (read bool, err error) {
	defer p.reads.reset()
	for {
		for _, one := range to {
			one.Wants(batch, p.reads)
		}
		latestOf, rowsAt := p.reads.Wanted()
		if len(latestOf)+len(rowsAt) == 0 {
			break
		}
		read = true
		var latest map[store.SeriesKey]time.Time
		var rows map[store.SeriesAt]store.Point
		err := p.retry(ctx, "read rows", func() (err error) {
			if latest, err = p.latest(ctx, latestOf); err != nil {
				return err
			}
			rows, err = p.Stores.Series.Load(ctx, rowsAt)
			return err
		})
		if err != nil {
			return read, err
		}
		p.reads.Fill(latest, rows)
	}
	now := p.Now()
	for _, one := range to {
		if err := one.Apply(batch, p.reads, now); err != nil {
			return read, fmt.Errorf("apply to %s: %w", one.Name(), err)
		}
	}
	return read, nil
}

// latest reads the times of the newest points, a few at a time.
func (p *Pipeline[B]) latest(ctx context.Context, keys []store.SeriesKey) (map[store.SeriesKey]time.Time, error) {
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
		latest[key] = points[i].Time
	}
	return latest, nil
}

// flush writes what the projections changed, then the views, then the checkpoints:
// a crash between any two writes leaves rows that are ahead of the checkpoints,
// never behind. A settling flush leaves nothing unwritten.
func (p *Pipeline[B]) flush(ctx context.Context, settle bool) error {
	changes := p.changes(settle)
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
		if err := p.retry(ctx, "publish view "+v.Name, func() error { return p.Stores.Views.Publish(ctx, v.Name, v.Body) }); err != nil {
			return err
		}
	}
	if !changes.Held { // else until what they stand for is written
		if err := p.saveCheckpoints(ctx); err != nil {
			return err
		}
	}
	for _, consumed := range p.consumed {
		close(consumed)
	}
	p.consumed = p.consumed[:0]
	p.unflushed, p.flushed = 0, p.Now()
	p.Stats.Flushed.Store(p.flushed.UnixMilli())
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
	for name, position := range p.positions {
		err := p.retry(ctx, "save the checkpoint "+name, func() error { return p.Stores.Series.SaveCheckpoint(ctx, name, position) })
		if err != nil {
			return err
		}
		delete(p.positions, name)
	}
	return p.saveProgress(ctx)
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
			if err := p.quarantine(ctx, &p.quarantined, q); err != nil {
				return err
			}
			quarantined[one.Index] = true
		}
		return nil
	})
	p.Stats.Rows.Add(int64(n - len(quarantined)))
	return err
}
