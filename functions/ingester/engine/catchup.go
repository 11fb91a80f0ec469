package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"quotary/functions/ingester/archive"
	"quotary/functions/ingester/guard"
	"quotary/shared/store"
)

// progress is how far a projection has been folded from the logs.
type progress struct {
	Joined bool   `json:"joined"`           // it needs nothing but what the sources emit
	Cursor string `json:"cursor,omitempty"` // where the scan of its logs goes on; "" is the beginning

	// Once the logs are scanned, the last file of the archive that was folded, "" for none.
	Scanned bool   `json:"scanned,omitempty"`
	File    string `json:"file,omitempty"`
	Again   bool   `json:"again,omitempty"` // it is scanned once more from the beginning, behind its end

	// Published is set once all views that it is restored from were there: one that is
	// missing later is lost.
	Published bool `json:"published,omitempty"`
}

// progressCheckpoint names the checkpoint of the projections of a domain: what
// each has been folded from, by name. It is one for all, so that what a domain no
// longer lists is forgotten, and is caught up if it is listed again.
func progressCheckpoint(domain string) string { return "projections/" + domain }

// startProgress finds out which projections join at once and which must be caught
// up. In a domain that has run before, that is every one that was not listed then.
func (p *Pipeline[B]) startProgress(ctx context.Context, followed bool) error {
	name := progressCheckpoint(p.Domain)
	var known map[string]progress
	err := p.retry(ctx, "claim the checkpoint "+name, func() error {
		body, err := p.Stores.Series.ClaimCheckpoint(ctx, name)
		if err != nil || body == nil {
			return err
		}
		if err := json.Unmarshal(body, &known); err != nil {
			return fmt.Errorf("read the checkpoint %s: %w", name, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	fresh := known == nil && !followed
	p.progress = map[string]progress{}
	catching := 0
	for _, one := range p.Projections {
		at, ok := known[one.Name()]
		if !ok {
			at.Joined = fresh || len(one.Folds()) == 0
		}
		published := p.published(one)
		if p.refold[one.Name()] || at.Published && !published {
			at = at.restarted()
		}
		at.Published = published
		if !at.Joined {
			catching++
		}
		p.progress[one.Name()] = at
	}
	p.join()
	p.Stats.CatchingUp.Store(int64(catching))
	p.progressDirty = !maps.Equal(known, p.progress)
	p.savedProgress = maps.Clone(p.progress)
	return p.saveProgress(ctx) // before anything is stored that it speaks of
}

func (p *Pipeline[B]) saveProgress(ctx context.Context) error {
	if !p.progressDirty {
		return nil
	}
	body, err := json.Marshal(p.progress)
	if err != nil {
		return fmt.Errorf("encode the progress of projections: %w", err)
	}
	name := progressCheckpoint(p.Domain)
	err = p.retry(ctx, "save the checkpoint "+name, func() error { return p.Stores.Series.SaveCheckpoint(ctx, name, body) })
	if p.progressDirty = err != nil; err == nil {
		p.savedProgress = maps.Clone(p.progress)
	}
	return err
}

// published reports whether a projection can be restored from views that are all there,
// and folded again without them.
func (p *Pipeline[B]) published(one Projection[B]) bool {
	return len(one.Folds()) > 0 && !slices.ContainsFunc(one.Restores(), func(v RestoredView) bool { return !p.views[v.Name] })
}

// publishedView notes that a view is there.
func (p *Pipeline[B]) publishedView(name string) {
	if p.views[name] {
		return
	}
	p.views[name] = true
	for _, one := range p.Projections {
		if at := p.progress[one.Name()]; !at.Published && p.published(one) {
			at.Published = true
			p.progress[one.Name()], p.progressDirty = at, true
		}
	}
}

// pastLeft is how many sources are still to deliver of their past.
func (p *Pipeline[B]) pastLeft() (n int64) {
	for _, s := range p.Sources {
		if s.Past {
			n++
		}
	}
	return n - p.Stats.PastRead.Load()
}

// PastRead returns what is closed once every source with a past has delivered all of it
// and its log rows are written, at once where there are none: [Status] has 0 as PastLeft
// from then on. It may be asked for before the pipeline runs.
func (p *Pipeline[B]) PastRead() <-chan struct{} { return p.past.done() }

// pastSignal is the channel of PastRead. The zero value is open.
type pastSignal struct {
	made, closed sync.Once
	channel      chan struct{}
}

func (s *pastSignal) done() chan struct{} {
	s.made.Do(func() { s.channel = make(chan struct{}) })
	return s.channel
}

func (s *pastSignal) close() { s.closed.Do(func() { close(s.done()) }) }

// join has the projections join that are caught up, once the past of all sources is
// read, and reports that it is.
func (p *Pipeline[B]) join() {
	if p.pastLeft() > 0 {
		return
	}
	p.past.close()
	for _, one := range p.Projections {
		if p.progress[one.Name()].Joined {
			one.Joined()
		}
	}
}

// restarted is the progress of a projection that has to be folded from the beginning.
func (at progress) restarted() progress {
	if at.Joined {
		return progress{}
	}
	at.Again = true
	return at
}

// foldFromStart has a projection folded once more from all that is stored, because a row
// or a view of it is lost. That is saved before anything is written in its place. Of
// the progress nothing else is saved, as its rows may not be written yet.
func (p *Pipeline[B]) foldFromStart(ctx context.Context, one Projection[B]) error {
	name := one.Name()
	if p.progress == nil { // which startProgress is about to read
		p.refold[name] = true
		return nil
	}
	saved := maps.Clone(p.savedProgress)
	saved[name] = saved[name].restarted()
	body, err := json.Marshal(saved)
	if err != nil {
		return fmt.Errorf("encode the progress of projections: %w", err)
	}
	if err := p.Stores.Series.SaveCheckpoint(ctx, progressCheckpoint(p.Domain), body); err != nil {
		return err
	}
	p.savedProgress = saved
	at := p.progress[name]
	p.progress[name] = at.restarted()
	if at.Joined {
		p.Stats.CatchingUp.Add(1)
		p.beginCatchUp(one, progress{})
	}
	return nil
}

// startCatchUp scans the logs for every projection that has not joined, and for those
// that have to be folded again, until ctx ends.
func (p *Pipeline[B]) startCatchUp(ctx context.Context) {
	p.beginCatchUp = func(one Projection[B], at progress) {
		p.Logger.Info("catching up", "projection", one.Name(), "cursor", at.Cursor)
		p.catchUps.Go(func() {
			if err := guard.Do(func() error { return p.catchUp(ctx, one, at) }); err != nil && ctx.Err() == nil {
				_ = enqueue(ctx, p.stored, message[B]{projection: one, failed: err}) // else the pipeline has ended
			}
		})
	}
	for _, one := range p.Projections {
		if at := p.progress[one.Name()]; !at.Joined {
			p.beginCatchUp(one, at)
		}
	}
}

// catchUp queues everything that a projection is folded from: the rows of the logs
// that are in no archive, in large pages, which cost the fewest requests, and then
// the files of the archive. A row that was archived before its page was read is in a
// file that is listed after it. They are folded a few rows at a time, between which the
// sources have their turn. Progress moves with the last rows of a page or a file. The
// projection gets all that the sources emit meanwhile too: what comes twice or in
// another order makes no difference.
func (p *Pipeline[B]) catchUp(ctx context.Context, to Projection[B], at progress) error {
	f := folding[B]{Pipeline: p, to: to, folds: map[string]Fold[B]{}, at: at, batch: p.NewBatch()}
	for _, fold := range to.Folds() {
		f.folds[fold.Dataset] = fold
	}
	datasets := slices.Sorted(maps.Keys(f.folds))
	for !f.at.Scanned && !f.at.Joined {
		if err := f.page(ctx, datasets); err != nil {
			return err
		}
	}
	for !f.at.Joined {
		if err := f.file(ctx, datasets); err != nil {
			return err
		}
	}
	return nil
}

// folding is a projection that is caught up.
type folding[B Batch[B]] struct {
	*Pipeline[B]
	to    Projection[B]
	folds map[string]Fold[B]
	at    progress
	batch B // rows that are not queued yet
}

// page folds the next page of the logs.
func (f *folding[B]) page(ctx context.Context, datasets []string) error {
	var page store.Page
	err := f.retry(ctx, "scan the logs for "+f.to.Name(), func() (err error) {
		if f.archives() {
			page, err = f.Stores.Log.ScanUnarchived(ctx, store.Unarchived{Datasets: datasets}, f.at.Cursor)
		} else {
			page, err = f.Stores.Log.Scan(ctx, datasets, f.at.Cursor, 0)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, u := range page.Unreadable {
		if err := f.quarantineScanned(ctx, QuarantinedRow{Dataset: u.Dataset, Key: keyPart(u.Key), Item: u.Item}, "a projection", u.Reason); err != nil {
			return err
		}
	}
	for dataset, rows := range page.Rows {
		for i := range rows {
			if err := f.fold(ctx, dataset, &rows[i]); err != nil {
				return err
			}
		}
	}
	next := f.at
	next.Cursor, next.Scanned = page.Next, page.Next == ""
	next.Joined = next.Scanned && !f.archives()
	return f.advance(ctx, next)
}

// file folds the next file of the archive.
func (f *folding[B]) file(ctx context.Context, datasets []string) error {
	key, dataset := "", ""
	for _, dataset = range datasets {
		err := f.retry(ctx, "list the archive for "+f.to.Name(), func() (err error) {
			key, err = f.Stores.Archive.Next(ctx, archive.Folder(dataset), f.at.File)
			return err
		})
		if err != nil {
			return err
		}
		if key != "" {
			break
		}
	}
	next := f.at
	next.File, next.Joined = key, key == ""
	if next.Joined {
		return f.advance(ctx, next)
	}
	err := f.retry(ctx, "read the archive for "+f.to.Name(), func() error {
		for r, err := range f.Stores.Archive.Rows(ctx, key) {
			if err != nil {
				return err
			}
			if err := f.fold(ctx, dataset, &r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return f.advance(ctx, next)
}

// archives reports whether there is an archive.
func (p *Pipeline[B]) archives() bool { return p.Stores.Archive.Objects != nil }

// fold adds a row to the batch, and queues that when it is large enough.
func (f *folding[B]) fold(ctx context.Context, dataset string, r *store.Row) error {
	if err := f.folds[dataset].Append(f.batch, *r); err != nil {
		if err := f.quarantineScanned(ctx, quarantinedLogRow(dataset, r), "a projection", err); err != nil {
			return err
		}
	}
	if f.batch.Len() < storedEvents {
		return nil
	}
	return f.advance(ctx, f.at)
}

// advance queues the batch, and how far the projection is behind it.
func (f *folding[B]) advance(ctx context.Context, at progress) error {
	err := enqueue(ctx, f.stored, message[B]{batch: f.batch, projection: f.to, progress: at})
	f.at, f.batch = at, f.NewBatch()
	return err
}

// quarantineScanned keeps a row of a log that the store or its own dataset cannot
// read. Reader is for what it was read.
func (p *Pipeline[B]) quarantineScanned(ctx context.Context, row QuarantinedRow, reader string, reason error) error {
	row.Reason = "read for " + reader + ": " + reason.Error()
	return p.retry(ctx, "quarantine a stored row", func() error { return p.quarantine(ctx, &p.scanned, scannedFolder, row) })
}

// writeCatchUp applies a page to its projection. Its progress is saved when the
// rows that come of it are written.
func (p *Pipeline[B]) writeCatchUp(ctx context.Context, m message[B]) error {
	if m.failed != nil {
		return m.failed
	}
	if _, err := p.apply(ctx, []Projection[B]{m.projection}, m.batch); err != nil {
		return err
	}
	name, at := m.projection.Name(), m.progress
	at.Again, at.Published = p.progress[name].Again, p.progress[name].Published
	if at.Joined && at.Again {
		at = progress{Published: at.Published}
		p.beginCatchUp(m.projection, at)
	}
	p.progress[name], p.progressDirty = at, true
	if at.Joined {
		if p.pastLeft() == 0 {
			m.projection.Joined()
		}
		p.Stats.CatchingUp.Add(-1)
		p.Logger.Info("caught up", "projection", name)
	}
	if p.Now().Sub(p.flushed) < flushEvery {
		return nil // rows that many folds change are written once
	}
	return p.flush(ctx, false)
}
