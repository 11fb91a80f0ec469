package engine

import (
	"time"

	"quotary/shared/store"
)

// Reads are the stored rows that the projections asked for before a batch is
// applied, absence included.
type Reads struct {
	latest map[store.SeriesKey]time.Time // zero where the series is empty
	rows   map[store.SeriesAt]*store.Point
	logs   map[LogAt]LogPart

	wantLatest []store.SeriesKey
	wantRows   []store.SeriesAt
	checks     []rowCheck // of wantRows
	wantLogs   []LogAt
	logChecks  []func(*store.Row) error // of wantLogs
	wanted     map[any]struct{}
	asker      int // which of the projections is asked what it wants
}

// rowCheck is who asked for a row, and how it is read.
type rowCheck struct {
	asker int
	read  func(at store.SeriesAt, p *store.Point) error
}

// LogAt is a place in the rows of a subject in a log: before those from a time on.
type LogAt struct {
	Dataset, Subject string
	From             int64 // ms, inclusive; 0 is the beginning
}

// LogPart is what stands at a place, oldest first.
type LogPart struct {
	Rows []store.Row
	Next int64 // from where the rows behind these go on, ms; 0 where there are none

	// Since is the ms of before which rows of the log have expired, or may at any time;
	// 0 where none has.
	Since int64
}

// What is read of logs for one batch at most, so that no state that is made again holds
// up what happens now: so many parts, each of about so many rows.
const (
	logParts    = 16
	logPartRows = 500
)

// NewReads returns reads of which nothing is asked yet.
func NewReads() *Reads {
	return &Reads{latest: map[store.SeriesKey]time.Time{}, rows: map[store.SeriesAt]*store.Point{}, logs: map[LogAt]LogPart{}, wanted: map[any]struct{}{}}
}

// Prefetch asks for a row, with its Extra. Check reports why a stored row cannot be
// read, as Apply would: a row for which it does is never returned by Row.
func (r *Reads) Prefetch(at store.SeriesAt, check func(at store.SeriesAt, p *store.Point) error) {
	if _, read := r.rows[at]; !read && r.first(at) {
		r.wantRows, r.checks = append(r.wantRows, at), append(r.checks, rowCheck{r.asker, check})
	}
}

// Latest is the time of the newest row of a series, zero where it has none; ok is
// false while that is not read, and asks for it.
func (r *Reads) Latest(k store.SeriesKey) (t time.Time, ok bool) {
	if t, ok = r.latest[k]; !ok && r.first(k) {
		r.wantLatest = append(r.wantLatest, k)
	}
	return t, ok
}

// PrefetchLog asks for what stands at a place in a log. Check reports why a stored row
// cannot be read, as Apply would: a row for which it does is never returned by Log. It
// reports false where as much as may be is read for this batch: the caller asks again
// with the next one, which comes within a second, if need be without events, for as long
// as anybody asks for anything.
func (r *Reads) PrefetchLog(at LogAt, check func(*store.Row) error) bool {
	if _, read := r.logs[at]; read {
		return true
	}
	if _, asked := r.wanted[at]; asked {
		return true
	}
	if len(r.logs)+len(r.wantLogs) >= logParts {
		return false
	}
	r.wanted[at] = struct{}{}
	r.wantLogs, r.logChecks = append(r.wantLogs, at), append(r.logChecks, check)
	return true
}

// Log is what stands at a place that was asked for; ok is false while it is not read.
func (r *Reads) Log(at LogAt) (part LogPart, ok bool) {
	part, ok = r.logs[at]
	return part, ok
}

// WantedLogs returns which parts of logs were asked for and are not read yet.
func (r *Reads) WantedLogs() []LogAt { return r.wantLogs }

// FillLogs takes what was read of every part that was wanted.
func (r *Reads) FillLogs(parts map[LogAt]LogPart) {
	for _, at := range r.wantLogs {
		r.logs[at] = parts[at]
		delete(r.wanted, at)
	}
	r.wantLogs, r.logChecks = nil, nil
}

func (r *Reads) first(key any) bool {
	if _, ok := r.wanted[key]; ok {
		return false
	}
	r.wanted[key] = struct{}{}
	return true
}

// Row is a row that was asked for, nil where there is none.
func (r *Reads) Row(at store.SeriesAt) *store.Point { return r.rows[at] }

// Wanted returns what was asked for and is not read yet.
func (r *Reads) Wanted() (latest []store.SeriesKey, rows []store.SeriesAt) {
	return r.wantLatest, r.wantRows
}

// Fill takes what was read of everything that was wanted: what is missing in
// latest or rows does not exist.
func (r *Reads) Fill(latest map[store.SeriesKey]time.Time, rows map[store.SeriesAt]store.Point) {
	for _, k := range r.wantLatest {
		r.latest[k] = latest[k]
	}
	for _, at := range r.wantRows {
		r.rows[at] = nil
		if p, ok := rows[at]; ok {
			r.rows[at] = &p
		}
	}
	r.wantLatest, r.wantRows, r.checks = nil, nil, nil
	clear(r.wanted)
	for _, at := range r.wantLogs {
		r.wanted[at] = struct{}{}
	}
}

// reset forgets everything, before the next batch.
func (r *Reads) reset() {
	clear(r.latest)
	clear(r.rows)
	clear(r.logs)
}
