package tablefile

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/shared/table"
)

// Manifest is a version of a table: the files that it is made of. A row of a later file hides the
// one of the same address in those before it.
type Manifest struct {
	Version int64   `json:"version"`         // when it was made, ms
	Until   int64   `json:"until,omitempty"` // up to when all that happened is in it, ms, where that comes some time later; else 0
	Files   []Named `json:"files"`
	Left    []Left  `json:"left,omitempty"` // files of versions before that may still be read

	// State is an object of who publishes the table, with what is needed to make the next version; it is no part
	// of the table.
	State Named `json:"state,omitzero"`
}

// All are all objects of a version.
func (m *Manifest) All() []Named {
	if m.State == (Named{}) {
		return m.Files
	}
	return append(slices.Clip(m.Files), m.State)
}

// Named is a file of a manifest. What has once been written under a key is never changed.
type Named struct {
	Key   string `json:"key"`
	Bytes int64  `json:"bytes"`
}

// Left is a file that no version names any more.
type Left struct {
	Key   string `json:"key"`
	Since int64  `json:"since"` // the first version that did not name it, ms
}

// Objects reads ranges of files by their keys.
type Objects interface {
	Range(ctx context.Context, key string, offset, n int64) ([]byte, error)
}

// Reader answers queries about the newest version of a table that it has loaded. The first query
// loads one; from then on a newer one is loaded beside those that are answered from the one before,
// with the columns that these read. It may be used by several at once.
type Reader struct {
	columns []Column
	newest  func(context.Context) (Manifest, error)
	objects Objects
	cache   *Cache

	mu      sync.Mutex
	at      *version      // nil before the first
	loading chan struct{} // closed when a version has been loaded, or could not be; nil where none is
	failed  error         // of the last load
	after   time.Time     // before which no version is loaded, as the last could not be
}

// A version may take so long to load, and where it could not be, the next try waits.
const (
	loadWithin = 30 * time.Second
	loadPause  = time.Second
)

// version is a manifest whose files are open.
type version struct {
	Manifest
	files []opened
}

// opened is a file, and its rows without columns.
type opened struct {
	key  string
	file *File
	part *table.Part
}

// NewReader returns a reader of a table with these columns, which [table.Query] and all else name by
// their place. newest says what the newest version is; it is asked for at every query. Columns that
// were read are kept up to so many bytes.
func NewReader(columns []Column, newest func(context.Context) (Manifest, error), objects Objects, bytes int) *Reader {
	return &Reader{columns: columns, newest: newest, objects: objects, cache: NewCache(bytes)}
}

// Value is a figure; the zero value is one that is not known.
type Value struct {
	Value int64
	Known bool
}

// Row is a row of an answer.
type Row struct {
	Address table.Address
	Values  []Value    // of the columns that were asked for
	Names   [][]string // by the same places, of those that are columns of sets; nil of none
}

// add adds what a row of a part has in a column.
func (r *Row) add(p *table.Part, row, column int, kind Kind) {
	var of Value
	if kind == Names {
		for len(r.Names) < len(r.Values) {
			r.Names = append(r.Names, nil)
		}
		r.Names = append(r.Names, p.Of(row, column))
	} else if value, known := p.At(row, column); known {
		of = Value{value, true}
	}
	r.Values = append(r.Values, of)
}

// NamesAt are the names at a place of the row, of a column of sets.
func (r *Row) NamesAt(place int) []string {
	if place < len(r.Names) {
		return r.Names[place]
	}
	return nil
}

// Answer is what a query says of one version.
type Answer struct {
	Version int64 // ms
	Until   int64 // as [Manifest] has it
	Total   int   // rows that pass
	Rows    []Row
}

// Ask answers a query with some columns of its rows. All of it is of one version.
func (r *Reader) Ask(ctx context.Context, q *table.Query, show []int) (Answer, error) {
	v, err := r.current(ctx)
	if err != nil {
		return Answer{}, err
	}
	parts, err := r.with(ctx, v, append(q.Columns(), q.SetColumns()...))
	if err != nil {
		return Answer{}, err
	}
	found, err := q.Run(ctx, parts)
	if err != nil {
		return Answer{}, fmt.Errorf("ask version %d: %w", v.Version, err)
	}
	a := Answer{Version: v.Version, Until: v.Until, Total: found.Total, Rows: make([]Row, len(found.Rows))}
	for i, at := range found.Rows {
		a.Rows[i] = Row{Address: parts[at.Part].Addresses[at.Row], Values: make([]Value, 0, len(show))}
	}
	if len(found.Rows) == 0 {
		return a, nil
	}
	for some := range slices.Chunk(show, showAtOnce) {
		if parts, err = r.with(ctx, v, some); err != nil {
			return Answer{}, err
		}
		for i, at := range found.Rows {
			for _, column := range some {
				a.Rows[i].add(parts[at.Part], at.Row, column, r.columns[column].Kind)
			}
		}
	}
	return a, nil
}

// showAtOnce is how many columns an answer holds at a time for what it shows: the columns of a few rows
// are as long as those of all.
const showAtOnce = 16

// Parts are the rows of one version with some of their columns, and that version. A row of a later part hides
// the one of the same address in those before it.
func (r *Reader) Parts(ctx context.Context, columns []int) (of *Manifest, parts []*table.Part, err error) {
	v, err := r.current(ctx)
	if err != nil {
		return nil, nil, err
	}
	parts, err = r.with(ctx, v, columns)
	return &v.Manifest, parts, err
}

// current is the version that is answered from: the newest, or the one before while that loads, or
// cannot be.
func (r *Reader) current(ctx context.Context) (*version, error) {
	m, err := r.newest(ctx)
	r.mu.Lock()
	if err == nil && r.loading == nil && (r.at == nil || m.Version > r.at.Version && !time.Now().Before(r.after)) {
		r.loading = make(chan struct{})
		go r.load(context.WithoutCancel(ctx), m, r.at)
	}
	at, loading := r.at, r.loading
	r.mu.Unlock()
	switch {
	case at != nil:
		return at, nil
	case loading == nil:
		return nil, fmt.Errorf("find the newest version: %w", err)
	}
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-loading:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at == nil {
		return nil, r.failed
	}
	return r.at, nil
}

// load loads a version, and with it what was read of the one before. It ends by itself.
func (r *Reader) load(ctx context.Context, m Manifest, before *version) {
	ctx, cancel := context.WithTimeout(ctx, loadWithin)
	defer cancel()
	v, err := r.open(ctx, m, before)
	if before != nil {
		for some := range slices.Chunk(r.cache.columns(), showAtOnce) {
			if err == nil {
				_, err = r.with(ctx, v, some)
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed = err; err == nil {
		r.at = v
	} else {
		r.after = time.Now().Add(loadPause)
	}
	close(r.loading)
	r.loading = nil
}

// open opens the files of a version; those that the version before has are open already.
func (r *Reader) open(ctx context.Context, m Manifest, before *version) (*version, error) {
	v := &version{Manifest: m, files: make([]opened, len(m.Files))}
	g, ctx := errgroup.WithContext(ctx)
	for i, named := range m.Files {
		if before != nil {
			for _, had := range before.files {
				if had.key == named.Key {
					v.files[i] = opened{key: had.key, file: had.file, part: had.part.With(nil, nil)}
					v.files[i].part.Hidden = nil
				}
			}
		}
		if v.files[i].file != nil {
			continue
		}
		g.Go(func() (err error) {
			v.files[i], err = open(ctx, r.objects, named)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("load version %d: %w", m.Version, err)
	}
	for i := range v.files {
		for _, earlier := range v.files[:i] {
			v.files[i].part.HideIn(earlier.part)
		}
	}
	return v, nil
}

func open(ctx context.Context, from Objects, named Named) (opened, error) {
	f, err := OpenObject(ctx, from, named)
	if err != nil {
		return opened{}, fmt.Errorf("open %s: %w", named.Key, err)
	}
	addresses, err := f.Addresses(ctx)
	if err != nil {
		return opened{}, fmt.Errorf("read %s: %w", named.Key, err)
	}
	return opened{key: named.Key, file: f, part: table.NewPart(addresses)}, nil
}

// OpenObject opens a file of a manifest.
func OpenObject(ctx context.Context, from Objects, named Named) (*File, error) {
	return Open(ctx, ranges{from, named.Key}, named.Bytes)
}

// ranges are those of one object.
type ranges struct {
	objects Objects
	key     string
}

// Range implements [Ranges].
func (r ranges) Range(ctx context.Context, offset, n int64) ([]byte, error) {
	return r.objects.Range(ctx, r.key, offset, n)
}

// with are the parts of a version with some of their columns.
func (r *Reader) with(ctx context.Context, v *version, columns []int) ([]*table.Part, error) {
	parts, err := r.cache.parts(ctx, v.files, r.columns, columns)
	if err != nil {
		return nil, fmt.Errorf("load columns of version %d: %w", v.Version, err)
	}
	return parts, nil
}
