package engine

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"quotary/shared/archive"
	"quotary/shared/backoff"
	"quotary/shared/retention"
	"quotary/shared/store"
)

// archiver copies the rows of days that have ended to the archive, and only then has
// them expire. It archives the logs that have a retention, once a day, in one scan.
//
// # A row expires only when it is archived
//
// A row is written without an expiry. The archiver puts it into a file, reads the file
// back from S3, and writes the row again with its expiry: what no file has, never
// expires, however late the archiver is. That costs each row a second write, in the
// table and in its indexes, and the table one scan a day. The other way is to write
// the expiry with the row. It costs nothing, and loses rows whenever archiving
// stands still for longer than the margin, or a retention is shortened. Deleting rows
// in the place of marking them would cost as much, and leave readers of the archive
// without the time for which rows are in both. The guide of the deployment has what
// it comes to.
//
// # Each row is in one file
//
// The rows that have no expiry yet are in no file, but for these cases:
//
//   - The process ended after a file was made, before all of its rows were marked.
//     The file's name is saved before it is made: the next archiver marks its rows, or
//     occupies the name where there is no file, so that none can come late.
//   - A source has delivered an archived row again, which took its expiry away. So
//     before rows are put into a file, those are taken out that files of the same day
//     have. Files of the scan at hand need no look: a scan shows a row once.
//
// A row that comes after its day was archived is in a further file of that day. A row
// that its dataset cannot read is quarantined and stays in the table for ever.
type archiver[B Batch[B]] struct {
	*Pipeline[B]
	datasets map[string]*archive.Dataset // that have a retention
	names    []string                    // of these, sorted

	state archiveState
	scan  string // begins the names of the files of the scan at hand
	files int    // of that scan

	waiting map[partition]*pending
	bytes   int // of what is waiting
	most    int // of these

	pageSize int // rows that a request looks through; 0 is for the store to choose
}

// archiveState is the checkpoint of an archiver.
type archiveState struct {
	// Pending is the key of a file that there may be, with rows that are not marked.
	Pending string `json:"pending,omitempty"`

	// Until is the first day that is not archived, zero before the first scan.
	Until time.Time `json:"until,omitzero"`
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
}

// lateRows is how long after its end a day is archived.
const lateRows = 6 * time.Hour

// archiveBytes is how many bytes of rows wait for their files at most: it bounds the
// memory, and a file. Of fills it holds some 50,000.
const archiveBytes = 32 << 20

// rowOverhead is about what a row needs in memory besides its texts, in bytes.
const rowOverhead = 256

// leastExpiry is how far away an expiry lies at least. DynamoDB deletes nothing that
// expired more than five years ago.
const leastExpiry = time.Hour

// archiveCheckpoint names the checkpoint of a domain's archiver.
func archiveCheckpoint(domain string) string { return "archive/" + domain }

// archivedUntil is the first day that is not to be archived yet.
func archivedUntil(now time.Time) time.Time { return retention.Day(now.Add(-lateRows)) }

// ArchivedLogs are the names of the logs that can be archived, sorted.
func ArchivedLogs[B any](logs []Log[B]) (names []string) {
	for _, log := range logs {
		if log.Archive != nil {
			names = append(names, log.Dataset)
		}
	}
	slices.Sort(names)
	return names
}

// newArchiver returns nil where no log has a retention.
func (p *Pipeline[B]) newArchiver() *archiver[B] {
	a := &archiver[B]{Pipeline: p, datasets: map[string]*archive.Dataset{}, waiting: map[partition]*pending{}, most: archiveBytes}
	for _, log := range p.Logs {
		if _, retained := p.Retention[log.Dataset]; retained && log.Archive != nil {
			a.datasets[log.Dataset] = log.Archive
		}
	}
	if len(a.datasets) == 0 {
		return nil
	}
	a.names = slices.Sorted(maps.Keys(a.datasets))
	return a
}

// startArchive archives in the background until ctx ends.
func (p *Pipeline[B]) startArchive(ctx context.Context) {
	a := p.newArchiver()
	if a == nil {
		return
	}
	p.catchUps.Go(func() {
		if err := a.run(ctx); err != nil && ctx.Err() == nil {
			_ = enqueue(ctx, p.stored, message[B]{failed: err}) // else the pipeline has ended
		}
	})
}

// run archives each day when its time has come.
func (a *archiver[B]) run(ctx context.Context) error {
	if err := a.claim(ctx); err != nil {
		return err
	}
	for {
		if until := archivedUntil(a.Now()); until.After(a.state.Until) {
			if err := a.pass(ctx, until); err != nil {
				return err
			}
		}
		if err := backoff.Sleep(ctx, a.archiveEvery()); err != nil {
			return err
		}
	}
}

// claim reads the state, takes it from every earlier writer, and completes what that
// has left.
func (a *archiver[B]) claim(ctx context.Context) error {
	name := archiveCheckpoint(a.Domain)
	err := a.retry(ctx, "claim the checkpoint "+name, func() error {
		body, err := a.Stores.Series.ClaimCheckpoint(ctx, name)
		if err != nil || body == nil {
			return err
		}
		if err := json.Unmarshal(body, &a.state); err != nil {
			return fmt.Errorf("read the checkpoint %s: %w", name, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	a.setArchived()
	if a.state.Pending == "" {
		return nil
	}
	made := false
	err = a.retry(ctx, "look for the file "+a.state.Pending, func() error {
		err := a.Stores.Archive.Occupy(ctx, a.state.Pending)
		made = errors.Is(err, archive.ErrExists)
		if made {
			return nil
		}
		return err
	})
	if err != nil || !made {
		return err
	}
	return a.mark(ctx, archive.DatasetOf(a.state.Pending), func() iter.Seq2[store.Row, error] {
		return a.Stores.Archive.Rows(ctx, a.state.Pending)
	})
}

// pass archives all rows of before a day that are in no file.
func (a *archiver[B]) pass(ctx context.Context, until time.Time) error {
	// The name sorts by time, for people, and no other scan has it.
	a.scan, a.files = a.Now().UTC().Format("20060102T150405Z")+"-"+rand.Text()[:10], 0
	clear(a.waiting)
	a.bytes = 0
	for cursor, first := "", true; first || cursor != ""; first = false {
		var page store.Page
		err := a.retry(ctx, "scan the logs for the archive", func() (err error) {
			page, err = a.Stores.Log.ScanUnarchived(ctx, a.names, until, cursor, a.pageSize)
			return err
		})
		if err != nil {
			return err
		}
		for _, u := range page.Unreadable {
			if err := a.quarantineScanned(ctx, QuarantinedRow{Dataset: u.Dataset, Key: keyPart(u.Key), Item: u.Item}, "the archive", u.Reason); err != nil {
				return err
			}
		}
		for dataset, rows := range page.Rows {
			a.wait(dataset, rows)
		}
		for a.bytes > a.most {
			if err := a.write(ctx, a.largest()); err != nil {
				return err
			}
		}
		cursor = page.Next
	}
	for len(a.waiting) > 0 {
		if err := a.write(ctx, a.largest()); err != nil {
			return err
		}
	}
	a.state = archiveState{Until: until}
	if err := a.save(ctx); err != nil {
		return err
	}
	a.setArchived()
	a.Logger.Info("archived", "until", until.Format(time.DateOnly), "files", a.files)
	return nil
}

// wait keeps rows until there are enough for a file.
func (a *archiver[B]) wait(dataset string, rows []store.Row) {
	for _, r := range rows {
		at := partition{dataset, retention.Day(r.Time)}
		p := a.waiting[at]
		if p == nil {
			p = &pending{}
			a.waiting[at] = p
		}
		size := rowOverhead + len(r.Subject) + len(r.ID) + len(r.Body)
		p.rows, p.bytes, a.bytes = append(p.rows, r), p.bytes+size, a.bytes+size
	}
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

// write makes a file of what waits of a partition, and marks its rows.
func (a *archiver[B]) write(ctx context.Context, at partition) error {
	p := a.waiting[at]
	delete(a.waiting, at)
	a.bytes -= p.bytes
	rows, known, err := a.split(ctx, at, p.rows)
	if err != nil {
		return err
	}
	var refused []QuarantinedRow
	var reasons []error
	var file []byte
	var kept []store.Row
	err = a.retry(ctx, "encode rows for the archive", func() (err error) {
		refused, reasons = nil, nil
		file, kept, err = a.datasets[at.dataset].Encode(rows, func(i int, reason error) {
			refused, reasons = append(refused, quarantinedLogRow(at.dataset, &rows[i])), append(reasons, reason)
		})
		return err
	})
	if err != nil {
		return err
	}
	for i, row := range refused {
		if err := a.quarantineScanned(ctx, row, "the archive", reasons[i]); err != nil {
			return err
		}
	}
	if len(kept) > 0 {
		if err := a.create(ctx, at, file, kept); err != nil {
			return err
		}
	}
	return a.mark(ctx, at.dataset, func() iter.Seq2[store.Row, error] { return values(slices.Concat(kept, known)) })
}

// rowID is the key of a row within its dataset.
type rowID struct {
	subject, id string
	ms          int64
}

func idOf(r *store.Row) rowID { return rowID{r.Subject, r.ID, r.Time.UnixMilli()} }

// split tells the rows of a partition that files of other scans have from those that
// no file has. It holds no more in memory than the rows that it is given and a file.
func (a *archiver[B]) split(ctx context.Context, at partition, rows []store.Row) (unknown, known []store.Row, err error) {
	folder := archive.DayFolder(at.dataset, at.day)
	var keys []string
	err = a.retry(ctx, "list the archive", func() (err error) {
		keys, err = a.Stores.Archive.List(ctx, folder)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	keys = slices.DeleteFunc(keys, func(key string) bool { return strings.HasPrefix(key, folder+a.scan) })
	if len(keys) == 0 {
		return rows, nil, nil
	}
	found := make(map[rowID]bool, len(rows)) // whether a file has it
	for i := range rows {
		found[idOf(&rows[i])] = false
	}
	for _, key := range keys {
		err := a.retry(ctx, "read the archive", func() error {
			for r, err := range a.Stores.Archive.Rows(ctx, key) {
				if err != nil {
					return err
				}
				if _, asked := found[idOf(&r)]; asked {
					found[idOf(&r)] = true
				}
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	for _, r := range rows {
		if found[idOf(&r)] {
			known = append(known, r)
		} else {
			unknown = append(unknown, r)
		}
	}
	return unknown, known, nil
}

// create makes a file, and returns when it can be read back as the rows that it is of.
func (a *archiver[B]) create(ctx context.Context, at partition, file []byte, rows []store.Row) error {
	key := fmt.Sprintf("%s%s-%06d.parquet", archive.DayFolder(at.dataset, at.day), a.scan, a.files)
	a.files++
	a.state.Pending = key
	if err := a.save(ctx); err != nil {
		return err
	}
	err := a.retry(ctx, "write the archive", func() error {
		err := a.Stores.Archive.Create(ctx, key, file)
		if errors.Is(err, archive.ErrExists) { // an earlier try was answered by an error
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	err = a.retry(ctx, "verify the archive", func() error {
		if err := a.save(ctx); err != nil { // a newer writer may have occupied the name
			return err
		}
		return same(a.Stores.Archive.Rows(ctx, key), rows)
	})
	if err == nil {
		a.Stats.Archived.Add(int64(len(rows)))
	}
	return err
}

var errNotTheRows = errors.New("the file in the archive has not the rows that it was made of")

// same is an error unless a file has the rows, and no others.
func same(file iter.Seq2[store.Row, error], rows []store.Row) error {
	i := 0
	for r, err := range file {
		if err != nil {
			return err
		}
		if i == len(rows) || idOf(&r) != idOf(&rows[i]) || r.Seq != rows[i].Seq || r.Index != rows[i].Index || string(r.Body) != string(rows[i].Body) {
			return errNotTheRows
		}
		i++
	}
	if i != len(rows) {
		return errNotTheRows
	}
	return nil
}

// markRows is how many rows one call of the store marks.
const markRows = 1000

// mark has the rows of a dataset expire, all of which are archived. It may be
// repeated. A row whose dataset is retained for ever by now is left as it is.
func (a *archiver[B]) mark(ctx context.Context, dataset string, rows func() iter.Seq2[store.Row, error]) error {
	if _, retained := a.Retention[dataset]; !retained {
		return nil
	}
	return a.retry(ctx, "mark archived rows", func() error {
		marked := make([]store.Row, 0, markRows)
		put := func() error {
			err := a.Stores.Log.Put(ctx, dataset, marked)
			marked = marked[:0]
			var invalid *store.InvalidRowsError
			if errors.As(err, &invalid) { // too large with an expiry: they stay
				a.Logger.Warn("rows are archived and cannot expire", "dataset", dataset, "error", err.Error())
				return nil
			}
			return err
		}
		for r, err := range rows() {
			if err != nil {
				return err
			}
			r.Expires = a.Retention.Expires(dataset, r.Time)
			if least := a.Now().Add(leastExpiry); r.Expires.Before(least) {
				r.Expires = least
			}
			if marked = append(marked, r); len(marked) == markRows {
				if err := put(); err != nil {
					return err
				}
			}
		}
		return put()
	})
}

func (a *archiver[B]) save(ctx context.Context) error {
	name := archiveCheckpoint(a.Domain)
	return a.retry(ctx, "save the checkpoint "+name, func() error {
		return a.Stores.Series.SaveCheckpoint(ctx, name, encode(a.state))
	})
}

// setArchived shows how far the archive is, for the health and the metrics.
func (a *archiver[B]) setArchived() {
	if !a.state.Until.IsZero() {
		a.Stats.ArchivedUntil.Store(a.state.Until.UnixMilli())
	}
}

// values is a sequence of rows without an error.
func values(rows []store.Row) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// archiveEvery is how often the archiver looks at the clock.
func (p *Pipeline[B]) archiveEvery() time.Duration {
	if p.ArchiveEvery > 0 {
		return p.ArchiveEvery
	}
	return time.Minute
}

// archiveDue is when the next day is to be archived, ms, 0 where none ever is. A scan
// is due until it ends, and the first one since the pipeline began.
func (p *Pipeline[B]) archiveDue() int64 {
	if !slices.ContainsFunc(ArchivedLogs(p.Logs), func(dataset string) bool { _, ok := p.Retention[dataset]; return ok }) {
		return 0
	}
	until := p.Stats.ArchivedUntil.Load()
	if until == 0 {
		return p.began.Load()
	}
	return time.UnixMilli(until).Add(24*time.Hour + lateRows).UnixMilli()
}
