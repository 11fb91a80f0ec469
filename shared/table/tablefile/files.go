package tablefile

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"quotary/shared/table"
)

// Files reads columns of any files, and keeps what it has read. It may be used by several at once.
type Files struct {
	columns []Column
	objects Objects
	cache   *columnCache
}

// NewFiles returns a reader of files with these columns, which keeps what was read up to so many bytes.
func NewFiles(columns []Column, objects Objects, bytes int) *Files {
	return &Files{columns, objects, newColumnCache(bytes)}
}

// Parts are the rows of files with some of their columns, in the order of the files.
func (f *Files) Parts(ctx context.Context, named []Named, columns []int) ([]*table.Part, error) {
	files := make([]opened, len(named))
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(16)
	for i, one := range named {
		g.Go(func() error {
			c, err := f.cache.get(within, columnOf{one.Key, addresses}, func(ctx context.Context) (c column, err error) {
				c.file, err = open(ctx, f.objects, one)
				return c, err
			})
			files[i] = c.file
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("open files: %w", err)
	}
	parts, err := f.cache.parts(ctx, files, f.columns, columns)
	if err != nil {
		return nil, fmt.Errorf("load columns of files: %w", err)
	}
	return parts, nil
}
