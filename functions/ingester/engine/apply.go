package engine

import (
	"context"
	"fmt"
	"time"

	"quotary/functions/ingester/guard"
	"quotary/shared/store"
)

// apply reads what the projections want for a batch and applies it to them. It
// reports whether anything was read.
func (p *Pipeline[B]) apply(ctx context.Context, to []Projection[B], batch B) (read bool, err error) {
	defer p.reads.reset()
	for {
		for i, one := range to {
			p.reads.asker = i
			one.Prefetch(batch, p.reads)
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
// cannot be folded from any log for would be lost, if it were written again.
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
			if err := p.foldFromStart(ctx, one); err != nil {
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
	parts, since := make([]store.Part, len(wanted)), make([]time.Time, len(wanted))
	err := p.retry(ctx, "read rows of logs", func() error {
		group, ctx := guard.WithContext(ctx)
		group.SetLimit(readParallel)
		for i, at := range wanted {
			group.Go(func() (err error) {
				if parts[i], err = p.Stores.Log.Part(ctx, at.Dataset, at.Subject, time.UnixMilli(at.From), logPartRows); err != nil {
					return err
				}
				since[i], err = p.Stores.Log.Since(ctx, at.Dataset)
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
		if !since[i].IsZero() {
			part.Since = since[i].UnixMilli()
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
	group, ctx := guard.WithContext(ctx)
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
