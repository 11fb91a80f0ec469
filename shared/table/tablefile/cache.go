package tablefile

import (
	"context"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"quotary/shared/table"
)

// columnCache keeps columns that were read, up to a number of bytes: those go first that were used
// the longest time ago. What several want at once is read once.
type columnCache struct {
	most int

	mu    sync.Mutex
	kept  map[columnOf]*keptColumn
	bytes int
	uses  int64
}

// columnOf names a column of a file.
type columnOf struct {
	file   string
	column int
}

type keptColumn struct {
	ready chan struct{} // closed when it was read, or could not be
	column
	err   error
	bytes int
	used  int64
}

// column is one that was read: of figures, or of sets. That of [addresses] is the file itself.
type column struct {
	figures []table.Block
	sets    []table.SetBlock
	file    opened
}

// addresses is the place of a column that no file has: the cache keeps files there that are open.
const addresses = -1

// parts are the rows of files with some of all columns.
func (c *columnCache) parts(ctx context.Context, files []opened, all []Column, some []int) ([]*table.Part, error) {
	loaded := make([][]column, len(files))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(16)
	for i := range files {
		f := &files[i]
		loaded[i] = make([]column, len(some))
		for k, n := range some {
			g.Go(func() (err error) {
				loaded[i][k], err = c.get(ctx, columnOf{f.key, n}, func(ctx context.Context) (column, error) { return f.file.column(ctx, all[n]) })
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	parts := make([]*table.Part, len(files))
	for i := range parts {
		figures, sets := make(map[int][]table.Block, len(some)), map[int][]table.SetBlock{}
		for k, n := range some {
			if all[n].Kind == Names {
				sets[n] = loaded[i][k].sets
			} else {
				figures[n] = loaded[i][k].figures
			}
		}
		parts[i] = files[i].part.With(figures, sets)
	}
	return parts, nil
}

func newColumnCache(bytes int) *columnCache {
	return &columnCache{most: bytes, kept: map[columnOf]*keptColumn{}}
}

// get is a column, read where it is not kept. The read ends by itself, also when nobody waits any more.
func (c *columnCache) get(ctx context.Context, of columnOf, read func(context.Context) (column, error)) (column, error) {
	c.mu.Lock()
	k := c.kept[of]
	if k == nil {
		k = &keptColumn{ready: make(chan struct{})}
		c.kept[of] = k
		go c.read(context.WithoutCancel(ctx), of, k, read)
	}
	c.uses++
	k.used = c.uses
	c.mu.Unlock()
	select {
	case <-ctx.Done():
		return column{}, context.Cause(ctx)
	case <-k.ready:
		return k.column, k.err
	}
}

func (c *columnCache) read(ctx context.Context, of columnOf, k *keptColumn, read func(context.Context) (column, error)) {
	ctx, cancel := context.WithTimeout(ctx, loadWithin)
	defer cancel()
	k.column, k.err = read(ctx)
	bytes := 0
	for i := range k.figures {
		bytes += k.figures[i].Bytes()
	}
	for i := range k.sets {
		bytes += k.sets[i].Bytes()
	}
	if k.file.part != nil {
		bytes += 32 * len(k.file.part.Addresses) // with what finds them
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	close(k.ready)
	if k.err != nil {
		delete(c.kept, of)
		return
	}
	k.bytes = bytes
	c.bytes += bytes
	c.shrink()
}

// shrink drops what was used the longest time ago until the rest is small enough. Who is using it
// goes on.
func (c *columnCache) shrink() {
	for c.bytes > c.most {
		var oldest *keptColumn
		var of columnOf
		for at, k := range c.kept {
			if k.bytes > 0 && (oldest == nil || k.used < oldest.used) {
				oldest, of = k, at
			}
		}
		if oldest == nil {
			return
		}
		c.bytes -= oldest.bytes
		delete(c.kept, of)
	}
}

// columns are those that are kept of any file.
func (c *columnCache) columns() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[int]bool{}
	for of := range c.kept {
		if of.column != addresses {
			all[of.column] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
