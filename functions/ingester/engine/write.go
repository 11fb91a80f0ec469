package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
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
	views, err := p.restoredViews(ctx)
	if err != nil {
		return nil, err
	}
	for _, one := range p.Projections {
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

// restoredViews fetches the views from which the projections are restored, nil for
// those that are not there. One that cannot be read is quarantined and nil too: what comes
// makes it again, or the logs, from which the projections that restore from it are folded
// anew. So they are where it was there before, see startProgress.
func (p *Pipeline[B]) restoredViews(ctx context.Context) (map[string][]byte, error) {
	views, unreadable := map[string][]byte{}, map[string]error{}
	for _, one := range p.Projections {
		for _, view := range one.Restores() {
			if _, fetched := views[view.Name]; fetched {
				continue
			}
			if err := p.fetch(ctx, view.Name, views, unreadable); err != nil {
				return nil, err
			}
		}
	}
	for _, one := range p.Projections {
		for _, view := range one.Restores() {
			if body := views[view.Name]; body != nil && unreadable[view.Name] == nil {
				unreadable[view.Name] = view.Check(body)
			}
		}
	}
	for name, reason := range unreadable {
		if reason == nil {
			continue
		}
		row := QuarantinedRow{Dataset: "view", Key: keyPart(name), Reason: "read to restore from it: " + reason.Error()}.withBody(views[name])
		err := p.retry(ctx, "quarantine a stored view", func() error { return p.quarantine(ctx, &p.quarantined, "", row) })
		if err != nil {
			return nil, err
		}
		delete(views, name)
		for _, one := range p.Projections {
			if len(one.Folds()) > 0 && slices.ContainsFunc(one.Restores(), func(v RestoredView) bool { return v.Name == name }) {
				p.anew[one.Name()] = true
			}
		}
	}
	maps.DeleteFunc(views, func(_ string, body []byte) bool { return body == nil })
	for name := range views {
		p.views[name] = true
	}
	return views, nil
}

// fetch adds a view to views, or why it is damaged to unreadable.
func (p *Pipeline[B]) fetch(ctx context.Context, name string, views map[string][]byte, unreadable map[string]error) error {
	return p.retry(ctx, "fetch view "+name, func() error {
		body, _, _, err := p.Stores.Views.Fetch(ctx, name, "")
		if err == nil || errors.Is(err, store.ErrNoView) {
			views[name] = body
			return nil
		}
		var damaged *store.UnreadableViewError
		if errors.As(err, &damaged) {
			views[name], unreadable[name] = damaged.Packed, damaged
			return nil
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
	if p.pastRead > 0 {
		p.Stats.PastRead.Add(int64(p.pastRead))
		p.pastRead = 0
		p.join()
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
	return nil
}

// apply reads what the projections want for a batch and applies it to them. It
// reports whether anything was read.
func (p *Pipeline[B]) apply(ctx context.Context, to []Projection[B], batch B) (read bool, err error) {
	defer p.reads.reset()
	for {
		for i, one := range to {
			p.reads.asker = i
			one.Wants(batch, p.reads)
		}
		latestOf, rowsAt := p.reads.Wanted()
		if len(latestOf)+len(rowsAt)+len(p.reads.WantedLogs()) == 0 {
			break
		}
		read = true
		if err := p.readLogs(ctx); err != nil {
			return read, err
		}
		var latest map[store.SeriesKey]time.Time
		var rows map[store.SeriesAt]store.Point
		err := p.retry(ctx, "read rows", func() (err error) {
			if latest, err = p.latest(ctx, latestOf); err != nil {
				return err
			}
			if rows, err = p.Stores.Series.Load(ctx, rowsAt); err != nil {
				return err
			}
			return p.leaveUnreadable(ctx, to, rows)
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

// leaveUnreadable takes out of rows what cannot be read, and quarantines it: the logs
// make it again. The error is to be retried: what the projection that asked for it
// cannot be folded from any log for would be lost, if it were written anew.
func (p *Pipeline[B]) leaveUnreadable(ctx context.Context, to []Projection[B], rows map[store.SeriesAt]store.Point) error {
	for i, at := range p.reads.wantRows {
		point, ok := rows[at]
		if !ok {
			continue
		}
		check := p.reads.checks[i]
		reason := check.read(at, &point)
		if reason == nil {
			continue
		}
		row := quarantinedSeriesRow(at.SeriesKey, &point)
		row.Reason = "read for a projection: " + reason.Error()
		if err := p.quarantine(ctx, &p.quarantined, "", row); err != nil {
			return err
		}
		one := to[check.asker]
		if len(one.Folds()) == 0 {
			return fmt.Errorf("the stored row %s of %d cannot be read, and nothing could make it again: mend or delete it: %w", at.SeriesKey, at.Time.UnixMilli(), reason)
		}
		if !p.lostRows[at] {
			if err := p.foldAnew(ctx, one); err != nil {
				return err
			}
			p.lostRows[at] = true
		}
		delete(rows, at)
	}
	return nil
}

// readLogs reads what the projections want of logs, a few parts at a time. A row that
// cannot be read is quarantined and left out.
func (p *Pipeline[B]) readLogs(ctx context.Context) error {
	wanted, checks := p.reads.WantedLogs(), p.reads.logChecks
	if len(wanted) == 0 {
		return nil
	}
	parts := make([]store.Part, len(wanted))
	err := p.retry(ctx, "read rows of logs", func() error {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(readParallel)
		for i, at := range wanted {
			group.Go(func() (err error) {
				parts[i], err = p.Stores.Log.Part(ctx, at.Dataset, at.Subject, time.UnixMilli(at.From), logPartRows)
				return err
			})
		}
		return group.Wait()
	})
	if err != nil {
		return err
	}
	read := make(map[LogAt]LogPart, len(wanted))
	for i, at := range wanted {
		part := LogPart{Rows: parts[i].Rows[:0]}
		if next := parts[i].Next; !next.IsZero() {
			part.Next = next.UnixMilli()
		}
		for _, u := range parts[i].Unreadable {
			if err := p.quarantineScanned(ctx, QuarantinedRow{Dataset: u.Dataset, Key: keyPart(u.Key), Item: u.Item}, "a projection", u.Reason); err != nil {
				return err
			}
		}
		for _, r := range parts[i].Rows {
			if reason := checks[i](&r); reason != nil {
				if err := p.quarantineScanned(ctx, quarantinedLogRow(at.Dataset, &r), "a projection", reason); err != nil {
					return err
				}
				continue
			}
			part.Rows = append(part.Rows, r)
		}
		read[at] = part
	}
	p.reads.FillLogs(read)
	return nil
}

// readOn applies empty batches for as long as a projection asks for stored rows, for
// storedTurn and one batch more at most. It is called once a second: what is made again
// from the logs goes on where no source emits anything.
func (p *Pipeline[B]) readOn(ctx context.Context) error {
	for began := time.Now(); time.Since(began) < storedTurn; {
		read, err := p.apply(ctx, p.Projections, p.NewBatch())
		if err != nil || !read {
			return err
		}
	}
	return nil
}

// readParallel is how many reads of a kind are under way at a time.
const readParallel = 8

// latest reads the times of the newest points, a few at a time.
func (p *Pipeline[B]) latest(ctx context.Context, keys []store.SeriesKey) (map[store.SeriesKey]time.Time, error) {
	points := make([]store.Point, len(keys))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readParallel)
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
//
// The checkpoints wait until no projection holds anything back. As each has its own
// times, that may never be: then all are settled together.
func (p *Pipeline[B]) flush(ctx context.Context, settle bool) error {
	now := p.Now()
	if p.held.IsZero() {
		p.held = now
	}
	if settle = settle || now.Sub(p.held) >= heldFor; settle {
		p.held = now
	}
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
		p.publishedView(v.Name)
	}
	if !changes.Held { // else until what they stand for is written
		p.held = time.Time{}
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
