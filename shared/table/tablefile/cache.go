package tablefile

import (
	"context"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"quotary/shared/table"
)

// Cache keeps columns that were read or made, up to a number of bytes: those go first that were used
// the longest time ago. What several want at once is made once.
type Cache struct {
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
	Loaded
	err   error
	bytes int
	used  int64
}

// Loaded is a column that was read or made: of figures, or of sets, a block for each of its rows' blocks.
type Loaded struct {
	Figures []table.Block
	Sets    []table.SetBlock

	file opened // that of [addresses] is the file itself
}

// addresses is the place of a column that no file has: the cache keeps files there that are open.
const addresses = -1

// parts are the rows of files with some of all columns.
func (c *Cache) parts(ctx context.Context, files []opened, all []Column, some []int) ([]*table.Part, error) {
	parts := make([]*table.Part, len(files))
	var one sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(4)
	for i := range files {
		parts[i] = files[i].part.With(make(map[int][]table.Block, len(some)), map[int][]table.SetBlock{})
		for few := range slices.Chunk(some, showAtOnce) {
			g.Go(func() error {
				loaded, err := c.load(ctx, &files[i], all, few)
				if err != nil {
					return err
				}
				one.Lock()
				defer one.Unlock()
				for k, n := range few {
					if all[n].Kind == Names {
						parts[i].Sets[n] = loaded[k].Sets
					} else {
						parts[i].Columns[n] = loaded[k].Figures
					}
				}
				return nil
			})
		}
	}
	return parts, g.Wait()
}

// load is a few of all columns of a file. Those that are not kept are read together.
func (c *Cache) load(ctx context.Context, of *opened, all []Column, few []int) ([]Loaded, error) {
	list := make([]*keptColumn, len(few))
	var missing []int
	c.mu.Lock()
	for i, n := range few {
		at := columnOf{of.key, n}
		if c.kept[at] == nil {
			c.kept[at] = &keptColumn{ready: make(chan struct{})}
			missing = append(missing, n)
		}
		list[i] = c.use(at)
	}
	c.mu.Unlock()
	file := of.file.together(all, missing)
	for _, n := range missing {
		at := columnOf{of.key, n}
		go c.read(context.WithoutCancel(ctx), at, list[slices.Index(few, n)], func(ctx context.Context) (Loaded, error) { return file.column(ctx, all[n]) })
	}
	loaded := make([]Loaded, len(few))
	for i, k := range list {
		var err error
		if loaded[i], err = k.wait(ctx); err != nil {
			return nil, err
		}
	}
	return loaded, nil
}

// use notes that what is kept is used. The lock is held.
func (c *Cache) use(at columnOf) *keptColumn {
	c.uses++
	c.kept[at].used = c.uses
	return c.kept[at]
}

// wait waits for a column.
func (k *keptColumn) wait(ctx context.Context) (Loaded, error) {
	select {
	case <-ctx.Done():
		return Loaded{}, context.Cause(ctx)
	case <-k.ready:
		return k.Loaded, k.err
	}
}

// NewCache returns a cache of so many bytes.
func NewCache(bytes int) *Cache { return &Cache{most: bytes, kept: map[columnOf]*keptColumn{}} }

// Get is column n of something that has a name, made where it is not kept. It is made to its end, also
// when nobody waits any more.
func (c *Cache) Get(ctx context.Context, name string, n int, made func(context.Context) (Loaded, error)) (Loaded, error) {
	return c.get(ctx, columnOf{name, n}, made)
}

func (c *Cache) get(ctx context.Context, of columnOf, made func(context.Context) (Loaded, error)) (Loaded, error) {
	c.mu.Lock()
	if c.kept[of] == nil {
		k := &keptColumn{ready: make(chan struct{})}
		c.kept[of] = k
		go c.read(context.WithoutCancel(ctx), of, k, made)
	}
	k := c.use(of)
	c.mu.Unlock()
	return k.wait(ctx)
}

func (c *Cache) read(ctx context.Context, of columnOf, k *keptColumn, read func(context.Context) (Loaded, error)) {
	ctx, cancel := context.WithTimeout(ctx, loadWithin)
	defer cancel()
	k.Loaded, k.err = read(ctx)
	bytes := 0
	for i := range k.Figures {
		bytes += k.Figures[i].Bytes()
	}
	for i := range k.Sets {
		bytes += k.Sets[i].Bytes()
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
func (c *Cache) shrink() {
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
func (c *Cache) columns() []int {
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
