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

	wantLatest []store.SeriesKey
	wantRows   []store.SeriesAt
	checks     []rowCheck // of wantRows
	wanted     map[any]struct{}
	asker      int // which of the projections is asked what it wants
}

// rowCheck is who asked for a row, and how it is read.
type rowCheck struct {
	asker int
	read  func(at store.SeriesAt, p *store.Point) error
}

// NewReads returns reads of which nothing is asked yet.
func NewReads() *Reads {
	return &Reads{latest: map[store.SeriesKey]time.Time{}, rows: map[store.SeriesAt]*store.Point{}, wanted: map[any]struct{}{}}
}

// Want asks for a row, with its Extra. Check reports why a stored row cannot be
// read, as Apply would: a row for which it does is never returned by Row.
func (r *Reads) Want(at store.SeriesAt, check func(at store.SeriesAt, p *store.Point) error) {
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
}

// reset forgets everything, before the next batch.
func (r *Reads) reset() {
	clear(r.latest)
	clear(r.rows)
}
