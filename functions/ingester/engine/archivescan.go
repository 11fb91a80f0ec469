package engine

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"time"

	"quotary/functions/ingester/guard"
	"quotary/shared/backoff"
	"quotary/shared/store"
	"quotary/shared/store/retention"
)

// archiveScan is a scan of the logs for the archive. Another process may go on with it.
type archiveScan struct {
	Name     string    `json:"name"` // begins the names of its files; no other scan has it
	Datasets []string  `json:"datasets"`
	Until    time.Time `json:"until"` // of before which rows are archived
	Segments int       `json:"segments"`
	Files    int       `json:"files"` // names of files that were given out, which are numbered

	// From is where another process goes on: all rows before are in files, or are not
	// to be, and the rows behind are in none but those whose names were given out since,
	// and those that are Ahead.
	From position `json:"from"`

	// Ahead are the numbers of the files that each process which has ended has made
	// behind the place where the next one went on: the first, and the one behind the last.
	Ahead [][2]int `json:"ahead,omitempty"`
}

// position is a place in a scan.
type position struct {
	Cursors map[int]string `json:"cursors"` // by segment; one that is read to its end has none
	Files   int            `json:"files"`   // names of files that were given out before

	taken int // bytes of rows that came before, since the process began
}

// partition is a day of a dataset.
type partition struct {
	dataset string
	day     time.Time
}

// pending are rows of a partition that wait for a file.
type pending struct {
	rows  []store.Row
	bytes int
	since *position // before the first of them
}

// rowOverhead is about what a row needs in memory besides its texts, in bytes.
const rowOverhead = 256

// scan archives all rows of before a day that are in no file, or goes on with the scan
// that was begun and has not ended.
//
// A page holds rows of any day, as subjects are in no order, so rows wait by day until
// there are enough for a file. The first scan of a year of days, or one that many late
// rows have come before, cannot hold enough of each: it leaves the newest days to the
// next scan. A table that is scanned twice costs less than files that are too small to
// be read well.
func (a *archiver[B]) scan(ctx context.Context, until time.Time) error {
	if s := a.state.Scan; s == nil || !slices.Equal(s.Datasets, a.names) {
		// The name sorts by time, for people.
		s = &archiveScan{Name: a.Now().UTC().Format("20060102T150405Z") + "-" + rand.Text()[:10], Datasets: a.names, Until: until, Segments: a.limits.segments}
		s.From.Cursors = map[int]string{}
		for segment := range s.Segments {
			s.From.Cursors[segment] = ""
		}
		a.state.Scan = s
	}
	s := a.state.Scan
	if s.From.Files < s.Files {
		s.Ahead = append(s.Ahead, [2]int{s.From.Files, s.Files})
	}
	a.at = s.From
	a.waiting, a.bytes = map[partition]*pending{}, 0
	a.digests, a.digested = map[string][]uint64{}, 0
	for turn := 1; len(a.at.Cursors) > 0; turn++ {
		began := time.Now()
		if err := a.turn(ctx); err != nil {
			return err
		}
		if turn%a.limits.save == 0 {
			if err := a.saveScan(ctx); err != nil {
				return err
			}
		}
		if err := backoff.Sleep(ctx, a.limits.turn-time.Since(began)); err != nil {
			return err
		}
	}
	for len(a.waiting) > 0 {
		if err := a.write(ctx, a.largest()); err != nil {
			return err
		}
	}
	a.state.Until, a.state.Scan = s.Until, nil
	if err := a.save(ctx); err != nil {
		return err
	}
	a.setArchived()
	a.Logger.Info("archived", "until", s.Until.Format(time.DateOnly), "files", s.Files)
	return nil
}

// turn reads the next page of each segment, and makes files of what has become enough.
func (a *archiver[B]) turn(ctx context.Context) error {
	segments := slices.Sorted(maps.Keys(a.at.Cursors))
	pages, err := a.pages(ctx, segments)
	if err != nil {
		return err
	}
	before, next := a.at, map[int]string{}
	for i, segment := range segments {
		for _, u := range pages[i].Unreadable {
			if err := a.quarantineScanned(ctx, QuarantinedRow{Dataset: u.Dataset, Key: keyPart(u.Key), Item: u.Item}, "the archive", u.Reason); err != nil {
				return err
			}
		}
		for dataset, rows := range pages[i].Rows {
			a.wait(dataset, rows, &before)
		}
		if pages[i].Next != "" {
			next[segment] = pages[i].Next
		}
	}
	a.at.Cursors = next
	if err := a.relieve(ctx); err != nil {
		return err
	}
	a.at.Files = a.state.Scan.Files
	return nil
}

// pages reads a page of each of the segments at once.
func (a *archiver[B]) pages(ctx context.Context, segments []int) ([]store.Page, error) {
	pages := make([]store.Page, len(segments))
	reads, ctx := guard.WithContext(ctx)
	for i, segment := range segments {
		reads.Go(func() error {
			return a.retry(ctx, fmt.Sprintf("scan segment %d of the logs for the archive", segment), func() (err error) {
				pages[i], err = a.Stores.Log.ScanUnarchived(ctx, store.Unarchived{
					Datasets: a.names, Before: a.state.Scan.Until, Segment: segment, Segments: a.state.Scan.Segments, PageSize: a.limits.page,
				}, a.at.Cursors[segment])
				return err
			})
		})
	}
	return pages, reads.Wait()
}

// wait keeps rows that were read behind a position until there are enough for a file.
func (a *archiver[B]) wait(dataset string, rows []store.Row, since *position) {
	unfinished := a.datasets[dataset].Unfinished
	for _, r := range rows {
		if unfinished != nil && unfinished(r) {
			continue
		}
		at := partition{dataset, retention.Day(r.Time)}
		p := a.waiting[at]
		if p == nil {
			p = &pending{since: since}
			a.waiting[at] = p
		}
		size := rowOverhead + len(r.Subject) + len(r.ID) + len(r.Body)
		p.rows, p.bytes = append(p.rows, r), p.bytes+size
		a.bytes += size
		a.at.taken += size
	}
}

// relieve makes files until what waits is within the limits.
func (a *archiver[B]) relieve(ctx context.Context) error {
	for len(a.waiting) > 0 {
		at := a.largest()
		switch most := a.waiting[at].bytes; {
		case most >= a.limits.file:
		case a.bytes > a.limits.bytes:
			if most < a.limits.least && a.leaveNewest() {
				continue
			}
		default:
			if at = a.oldest(); a.at.taken-a.waiting[at].since.taken <= a.limits.reach {
				return nil
			}
		}
		if err := a.write(ctx, at); err != nil {
			return err
		}
	}
	return nil
}

// leaveNewest leaves the newest day that waits, and all behind it, to the next scan.
// It reports false where only one day waits.
func (a *archiver[B]) leaveNewest() bool {
	var newest, oldest time.Time
	for at := range a.waiting {
		if at.day.After(newest) {
			newest = at.day
		}
		if oldest.IsZero() || at.day.Before(oldest) {
			oldest = at.day
		}
	}
	if newest.Equal(oldest) {
		return false
	}
	a.state.Scan.Until = newest
	for at, p := range a.waiting {
		if at.day.Equal(newest) {
			delete(a.waiting, at)
			a.bytes -= p.bytes
		}
	}
	return true
}

func (a *archiver[B]) largest() (at partition) {
	most := -1
	for one, p := range a.waiting {
		if p.bytes > most {
			at, most = one, p.bytes
		}
	}
	return at
}

// oldest is the partition that waits longest.
func (a *archiver[B]) oldest() (at partition) {
	var since *position
	for one, p := range a.waiting {
		if since == nil || p.since.taken < since.taken {
			at, since = one, p.since
		}
	}
	return at
}

// saveScan saves the state, by which another process goes on with the oldest row that
// waits.
func (a *archiver[B]) saveScan(ctx context.Context) error {
	a.state.Scan.From = a.at
	if len(a.waiting) > 0 {
		a.state.Scan.From = *a.waiting[a.oldest()].since
	}
	return a.save(ctx)
}
