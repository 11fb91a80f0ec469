package engine

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"strconv"
	"strings"

	"quotary/functions/ingester/archive"
	"quotary/functions/ingester/objects"
	"quotary/shared/store"
)

// write makes a file of what waits of a partition, and marks its rows.
func (a *archiver[B]) write(ctx context.Context, at partition) error {
	p := a.waiting[at]
	// What cannot be read is left out first: it waits in every scan, and is no reason
	// to look at files.
	file, readable, err := a.encode(ctx, at.dataset, p.rows)
	if err != nil {
		return err
	}
	rows, known, err := a.split(ctx, at, readable)
	if err != nil {
		return err
	}
	if len(known) > 0 && len(rows) > 0 {
		if file, rows, err = a.encode(ctx, at.dataset, rows); err != nil {
			return err
		}
	}
	if len(rows) > 0 {
		if err := a.create(ctx, at, file, rows); err != nil {
			return err
		}
	}
	if err := a.mark(ctx, at.dataset, func() iter.Seq2[store.Row, error] { return values(slices.Concat(rows, known)) }); err != nil {
		return err
	}
	a.state.Pending = ""
	delete(a.waiting, at) // not before: a process that takes over reads them again
	a.bytes -= p.bytes
	return nil
}

// encode makes a file of rows, and quarantines those that cannot be in any. What is
// wrong with none of them alone is tried again, as a release may mend it.
func (a *archiver[B]) encode(ctx context.Context, dataset string, rows []store.Row) (file []byte, kept []store.Row, err error) {
	refused := map[int]error{}
	err = a.retry(ctx, "encode rows for the archive", func() (err error) {
		file, kept, err = a.datasets[dataset].Encode(rows, func(i int, reason error) { refused[i] = reason })
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	for i, reason := range refused {
		if err := a.quarantineScanned(ctx, quarantinedLogRow(dataset, &rows[i]), "the archive", reason); err != nil {
			return nil, nil, err
		}
	}
	return file, kept, nil
}

// rowID is the key of a row within its dataset.
type rowID struct {
	subject, id string
	ms          int64
}

func idOf(r *store.Row) rowID { return rowID{r.Subject, r.ID, r.Time.UnixMilli()} }

// split tells the rows of a partition that earlier files have from those that no file
// has. It holds no more in memory than the rows that it is given, a file and digests.
func (a *archiver[B]) split(ctx context.Context, at partition, rows []store.Row) (unknown, known []store.Row, err error) {
	if len(rows) == 0 {
		return nil, nil, nil
	}
	var keys []string
	err = a.retry(ctx, "list the archive", func() (err error) {
		keys, err = a.Stores.Archive.List(ctx, archive.DayFolder(at.dataset, at.day))
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	keys = slices.DeleteFunc(keys, a.hasNoneBehind)
	if len(keys) == 0 {
		return rows, nil, nil
	}
	found := make(map[rowID]bool, len(rows)) // whether a file has it
	asked := make(map[uint64]bool, len(rows))
	for i := range rows {
		id := idOf(&rows[i])
		found[id], asked[maphash.Comparable(a.seed, id)] = false, true
	}
	for _, key := range keys {
		digest, read := a.digests[key]
		if read && !slices.ContainsFunc(digest, func(hash uint64) bool { return asked[hash] }) {
			continue
		}
		err := a.retry(ctx, "read the archive", func() (err error) {
			digest, err = a.find(ctx, key, found)
			return err
		})
		if err != nil {
			return nil, nil, err
		}
		if !read {
			a.keepDigest(key, digest)
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

// find notes which rows a file has, and returns the hashes of all that it has.
func (a *archiver[B]) find(ctx context.Context, key string, found map[rowID]bool) (digest []uint64, err error) {
	for r, err := range a.Stores.Archive.Rows(ctx, key) {
		if err != nil {
			return nil, err
		}
		id := idOf(&r)
		digest = append(digest, maphash.Comparable(a.seed, id))
		if _, asked := found[id]; asked {
			found[id] = true
		}
	}
	return digest, nil
}

// keepDigest forgets the others where there is no room: a day that is archived again
// after so many rows has its files read for each new one.
func (a *archiver[B]) keepDigest(key string, digest []uint64) {
	if a.digested+len(digest) > a.limits.digests {
		clear(a.digests)
		a.digested = 0
	}
	a.digests[key] = digest
	a.digested += len(digest)
}

// hasNoneBehind reports whether a file is of the scan at hand, and has no row that this
// process has still to meet in it, as it is not ahead: this process made it itself, or
// all of its rows came before the place from which another one went on.
func (a *archiver[B]) hasNoneBehind(key string) bool {
	name, _ := strings.CutSuffix(key[strings.LastIndexByte(key, '/')+1:], ".parquet")
	number, ours := strings.CutPrefix(name, a.state.Scan.Name+"-")
	n, err := strconv.Atoi(number)
	return ours && err == nil && !slices.ContainsFunc(a.state.Scan.Ahead, func(files [2]int) bool { return files[0] <= n && n < files[1] })
}

// create makes a file, and returns when it can be read back as the rows that it is of.
func (a *archiver[B]) create(ctx context.Context, at partition, file []byte, rows []store.Row) error {
	key := fmt.Sprintf("%s%s-%06d.parquet", archive.DayFolder(at.dataset, at.day), a.state.Scan.Name, a.state.Scan.Files)
	a.state.Scan.Files++
	a.state.Pending = key
	if err := a.saveScan(ctx); err != nil {
		return err
	}
	err := a.retry(ctx, "write the archive", func() error {
		err := a.Stores.Archive.Create(ctx, key, file)
		if errors.Is(err, objects.ErrExists) { // an earlier try was answered by an error
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
