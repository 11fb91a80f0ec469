package tablefile

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"quotary/shared/table"
)

// Files reads columns of any files, and keeps what it has read. It may be used by several at once.
type Files struct {
	columns []Column
	objects Objects
	cache   *Cache
}

// NewFiles returns a reader of files with these columns, which keeps what was read up to so many bytes.
func NewFiles(columns []Column, objects Objects, bytes int) *Files {
	return &Files{columns, objects, NewCache(bytes)}
}

const (
	// filesAtOnce is how many files are read at once, of atOnce bytes together: one that is larger is
	// read alone.
	filesAtOnce = 16
	atOnce      = 64 << 20
)

// Each calls do with the rows of files, a few of some columns at a time: the place of the file, its rows,
// and the columns that they have. It is one call at a time, in any order of the files. Nothing is
// held of a file behind its last call but what is kept anyway, however many there are.
func (f *Files) Each(ctx context.Context, named []Named, some []int, do func(file int, rows *table.Part, columns []int) error) error {
	var one sync.Mutex
	room := semaphore.NewWeighted(atOnce)
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(filesAtOnce)
	for i, of := range named {
		size := min(max(of.Bytes, 0), atOnce)
		if room.Acquire(within, size) != nil {
			break // one has failed, which says why
		}
		g.Go(func() error {
			defer room.Release(size)
			return f.each(within, of, some, func(rows *table.Part, columns []int) error {
				one.Lock()
				defer one.Unlock()
				return do(i, rows, columns)
			})
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

func (f *Files) each(ctx context.Context, of Named, some []int, do func(rows *table.Part, columns []int) error) error {
	file, err := f.cache.get(ctx, columnOf{of.Key, addresses}, func(ctx context.Context) (c Loaded, err error) {
		c.file, err = open(ctx, f.objects, of)
		return c, err
	})
	if err != nil {
		return fmt.Errorf("open files: %w", err)
	}
	for columns := range slices.Chunk(some, showAtOnce) {
		parts, err := f.cache.parts(ctx, []opened{file.file}, f.columns, columns)
		if err != nil {
			return fmt.Errorf("load columns of files: %w", err)
		}
		if err := do(parts[0], columns); err != nil {
			return err
		}
	}
	return nil
}
