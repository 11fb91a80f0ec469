package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"maps"
	"slices"
	"time"

	"quotary/functions/ingester/archive"
	"quotary/functions/ingester/guard"
	"quotary/functions/ingester/objects"
	"quotary/shared/backoff"
	"quotary/shared/store"
	"quotary/shared/store/retention"
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
// Before the first row gets an expiry, it is published what expires when: a reader
// knows what is gone, whatever the retention is by then. See [store.Log.SaveExpiries].
//
// # Each row is in one file
//
// The rows that have no expiry yet are in no file, but for these cases:
//
//   - The process ended after a file was made, before all of its rows were marked.
//     The file's name is saved before it is made: the next archiver marks its rows, or
//     occupies the name where there is no file, so that none can come late.
//   - A source has delivered an archived row again, which took its expiry away, or a
//     read of the table was older than the expiry. So before rows are put into a file,
//     those are taken out that files of the same day have: each of these is read once,
//     and again only if it may have one of the rows. Of the scan's own files only those
//     are looked at that an earlier process made behind the place from which the scan
//     goes on: a scan shows a row once.
//
// A row that comes after its day was archived is in a further file of that day. A row
// that its dataset cannot read, or that no file can hold, is quarantined and stays in
// the table for ever.
//
// archivescan.go has what is read and when a file is made of it, archivefile.go how.
type archiver[B Batch[B]] struct {
	*Pipeline[B]
	datasets map[string]*archive.Dataset // that have a retention
	names    []string                    // of these, sorted
	limits   archiveLimits

	state archiveState

	// Of the scan at hand.
	at      position // where it goes on
	waiting map[partition]*pending
	bytes   int // of the rows that wait

	seed     maphash.Seed
	digests  map[string][]uint64 // the hashes of the rows of earlier files, by their keys
	digested int                 // rows that these are of
}

// archiveLimits bound what an archiver holds, reads and makes. Bytes are those of rows
// in memory, where a fill has some 650, and in a file 210.
type archiveLimits struct {
	bytes   int // that wait for their files at most
	file    int // of which a file is made as soon as a day of a dataset has them
	least   int // of a file, rather than which the scan leaves days to the next one
	reach   int // that a scan goes on for before it makes a smaller file of what waits
	digests int // rows of earlier files whose hashes are kept

	segments int           // of the table, of each of which a page is read at a time
	page     int           // rows that a page looks through; 0 is for the store to choose
	turn     time.Duration // that reading and archiving a page of each segment takes at least
	save     int           // such turns after which it is saved where the scan is
}

// archiving are the limits in use. Files have 4 to 32 MB of rows, 1 to 10 MB of
// Parquet, but where a day of a dataset has no more, and for rows that come late. A
// scan looks through 100,000 rows a second at most, an eighth of them in one segment:
// some 900 of the 3,000 read units that DynamoDB gives a partition each second, so that
// those who read it meanwhile have theirs. What a restart has to look through again is
// bounded by reach and save, to some 3 million rows that are archived and as many that
// are not to be.
var archiving = archiveLimits{
	bytes: 64 << 20, file: 32 << 20, least: 4 << 20, reach: 2 << 30, digests: 4 << 20,
	segments: 8, turn: 80 * time.Millisecond, save: 256,
}

// archiveState is the checkpoint of an archiver.
type archiveState struct {
	// Pending is the key of a file that there may be, with rows that are not marked.
	Pending string `json:"pending,omitempty"`

	// Until is the first day that is not archived, zero before the first scan.
	Until time.Time `json:"until,omitzero"`

	// Expiries are what rows were given, or are about to be.
	Expiries retention.Expiries `json:"expiries,omitempty"`

	// Scan is the scan that has not ended; nil is none.
	Scan *archiveScan `json:"scan,omitempty"`
}

// lateRows is how long after its end a day is archived.
const lateRows = 6 * time.Hour

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
	a := &archiver[B]{Pipeline: p, datasets: map[string]*archive.Dataset{}, limits: archiving, seed: maphash.MakeSeed()}
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
		if err := guard.Do(func() error { return a.run(ctx) }); err != nil && ctx.Err() == nil {
			_ = enqueue(ctx, p.stored, message[B]{failed: err}) // else the pipeline has ended
		}
	})
}

// run archives each day when its time has come. The error is that of ctx, or
// [store.ErrFenced]: whatever else goes wrong is tried again.
func (a *archiver[B]) run(ctx context.Context) error {
	if err := a.claim(ctx); err != nil {
		return err
	}
	for {
		if err := a.archive(ctx); err != nil {
			return err
		}
		if err := backoff.Sleep(ctx, a.archiveEvery()); err != nil {
			return err
		}
	}
}

// claim reads the state, takes it from every earlier writer, and completes the file
// that this has left.
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
		made = errors.Is(err, objects.ErrExists)
		if made {
			return nil
		}
		return err
	})
	if err != nil || !made {
		return err
	}
	if err := a.publishExpiries(ctx, archivedUntil(a.Now())); err != nil {
		return err
	}
	return a.mark(ctx, archive.DatasetOf(a.state.Pending), func() iter.Seq2[store.Row, error] {
		return a.Stores.Archive.Rows(ctx, a.state.Pending)
	})
}

// archive makes the scans that are to be made by now: one a day, and more where one
// has left days to the next.
func (a *archiver[B]) archive(ctx context.Context) error {
	for {
		until := archivedUntil(a.Now())
		if a.state.Scan == nil && !until.After(a.state.Until) {
			return nil
		}
		if err := a.publishExpiries(ctx, until); err != nil {
			return err
		}
		if err := a.scan(ctx, until); err != nil {
			return err
		}
	}
}

// publishExpiries says what the rows of before a day are given, before they are.
func (a *archiver[B]) publishExpiries(ctx context.Context, until time.Time) error {
	for _, dataset := range a.names {
		a.state.Expiries = a.state.Expiries.With(dataset, retention.Expiry{Days: a.Retention[dataset], Before: until})
	}
	if err := a.save(ctx); err != nil { // which is refused to a writer that was replaced
		return err
	}
	return a.retry(ctx, "publish what expires", func() error { return a.Stores.Log.SaveExpiries(ctx, a.Domain, a.state.Expiries) })
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
