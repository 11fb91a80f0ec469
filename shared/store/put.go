package store

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"quotary/shared/aws/batch"
)

// puts are the items of one call of Put.
type puts struct {
	items []item
	rows  []int // of each item, its index in the rows of the call

	mu      sync.Mutex
	invalid []InvalidRow
}

// encodeAll makes the items of rows. Of rows with the same key the last one is
// taken: a request may not name a key twice.
func encodeAll[R any](rows []R, encode func(R) (item, error)) *puts {
	p := &puts{items: make([]item, 0, len(rows)), rows: make([]int, 0, len(rows))}
	at := make(map[rowKey]int, len(rows))
	for row, r := range rows {
		it, err := encode(r)
		if err == nil {
			err = validate(it)
		}
		if err != nil {
			p.refuse(row, err)
			continue
		}
		k := keyOf(it)
		if i, double := at[k]; double {
			p.items[i], p.rows[i] = it, row
			continue
		}
		at[k] = len(p.items)
		p.items, p.rows = append(p.items, it), append(p.rows, row)
	}
	return p
}

func (p *puts) refuse(row int, reason error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.invalid = append(p.invalid, InvalidRow{row, reason})
}

// err reports the rows that were refused.
func (p *puts) err() error {
	if len(p.invalid) == 0 {
		return nil
	}
	slices.SortFunc(p.invalid, func(a, b InvalidRow) int { return cmp.Compare(a.Index, b.Index) })
	return &InvalidRowsError{p.invalid}
}

// parallelPuts is how many requests for one item run at a time, of one call.
const parallelPuts = 16

// putEach writes the items, each with a request of its own, which batches have no conditions for. The error is as that of
// putAll.
func (p *puts) putEach(ctx context.Context, parallel int, put func(context.Context, item) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(cmp.Or(max(parallel, 0), parallelPuts))
	for i, it := range p.items {
		g.Go(func() error {
			err := batch.WhileThrottled(ctx, pauses, func() error { return put(ctx, it) })
			if refused(err) {
				p.refuse(p.rows[i], err)
				return nil
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return p.err()
}

// cut takes the items of some rows out, given by their index.
func (p *puts) cut(of func(row int) bool) *puts {
	var taken, left puts
	for i, row := range p.rows {
		to := &left
		if of(row) {
			to = &taken
		}
		to.items, to.rows = append(to.items, p.items[i]), append(to.rows, row)
	}
	if len(taken.rows) > 0 {
		p.items, p.rows = left.items, left.rows
	}
	return &taken
}

// putAll writes the items, 25 a request and `parallel` requests at a time. What
// DynamoDB leaves unprocessed is tried again until ctx ends. The error is an
// [*InvalidRowsError] when all that can be written is; after any other, any part
// of the items may have been written.
func (p *puts) putAll(ctx context.Context, db Rows, table string, parallel int) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(orDefault(parallel))
	for from := 0; from < len(p.items); from += batch.MaxPut {
		to := min(from+batch.MaxPut, len(p.items))
		g.Go(func() error { return p.putBatch(ctx, db, table, from, to) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return p.err()
}

// putBatch writes the items from `from` to `to`, exclusive. A batch that DynamoDB
// refuses as invalid, which it does as a whole, is written one by one, to find
// the rows that it means.
func (p *puts) putBatch(ctx context.Context, db Rows, table string, from, to int) error {
	err := batch.Put(ctx, db, table, p.items[from:to], untilContextEnds)
	switch {
	case !refused(err):
		return err
	case to-from == 1:
		p.refuse(p.rows[from], err)
		return nil
	}
	for i := from; i < to; i++ {
		if err := p.putBatch(ctx, db, table, i, i+1); err != nil {
			return err
		}
	}
	return nil
}
