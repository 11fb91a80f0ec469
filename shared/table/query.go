package table

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Query is a question about the rows of parts. The zero value asks for no rows, and how many there
// are.
type Query struct {
	Filters   []Filter // all of which hold
	Sets      []SetFilter
	Addresses []Address // only these, where it is not nil

	Order     int  // the column that rows are ordered by; of equal ones the smaller address comes first, and what is not known last
	Ascending bool // the least first
	Offset    int  // rows that are left out before
	Limit     int  // the most rows that are given; 0 counts alone
	Unordered bool // by address alone
}

// Filter is one condition on a column.
type Filter struct {
	Column    int
	Low, High int64 // what is known passes between them, both included
	Outside   bool  // what is known passes outside
	Null      bool  // only what is not known passes, whatever the others say
}

// Known passes what is known.
func Known(column int) Filter {
	return Filter{Column: column, Low: math.MinInt64, High: math.MaxInt64}
}

// Result is the rows of a page, and how many rows pass in all.
type Result struct {
	Total int
	Rows  []Row
}

// Row is where a row is.
type Row struct{ Part, Row int }

// Columns are the columns of figures that the query reads.
func (q *Query) Columns() []int {
	var list []int
	if q.Limit > 0 && !q.Unordered {
		list = append(list, q.Order)
	}
	for i := range q.Filters {
		list = append(list, q.Filters[i].Column)
	}
	return eachOnce(list)
}

// SetColumns are the columns of sets that the query reads.
func (q *Query) SetColumns() []int {
	var list []int
	for i := range q.Sets {
		list = append(list, q.Sets[i].Column)
	}
	return eachOnce(list)
}

func eachOnce(list []int) []int {
	slices.Sort(list)
	return slices.Compact(list)
}

// task is a block to look through.
type task struct {
	part, block int
	asked       Bits  // the rows that are asked about; nil where all are
	best        int64 // the greatest key of its rows
}

// Run answers the query from all rows of the parts that no later part hides. It fails where a
// column is not loaded, or the context has ended.
func (q *Query) Run(ctx context.Context, parts []*Part) (Result, error) {
	columns, sets := q.Columns(), q.SetColumns()
	for _, p := range parts {
		if err := p.check(columns, sets); err != nil {
			return Result{}, err
		}
	}
	tasks := q.tasks(parts)
	var next atomic.Int64
	workers := make([]worker, min(len(tasks), runtime.GOMAXPROCS(0)))
	var wg sync.WaitGroup
	for i := range workers {
		w := &workers[i]
		w.query, w.parts, w.most = q, parts, q.most()
		work := func() {
			for n := next.Add(1) - 1; int(n) < len(tasks) && ctx.Err() == nil; n = next.Add(1) - 1 {
				w.look(tasks[n])
			}
		}
		if i == len(workers)-1 {
			work()
		} else {
			wg.Go(work)
		}
	}
	wg.Wait()
	return q.merge(workers), context.Cause(ctx)
}

// most is how many of the first rows are kept.
func (q *Query) most() int {
	if q.Limit == 0 {
		return 0
	}
	return q.Offset + q.Limit
}

// tasks are the blocks, the one with the best first: what comes later can then mostly not be among
// the first rows, and is counted alone.
func (q *Query) tasks(parts []*Part) []task {
	var list []task
	for n, p := range parts {
		asked := make([]Bits, p.Blocks())
		for _, a := range q.Addresses {
			if row, ok := p.Find(a); ok {
				block := &asked[row/BlockRows]
				if *block == nil {
					*block = NewBits(p.RowsOf(row / BlockRows))
				}
				block.Set(row % BlockRows)
			}
		}
		for b := range p.Blocks() {
			if q.Addresses != nil && asked[b] == nil {
				continue
			}
			t := task{part: n, block: b, asked: asked[b]}
			if q.Limit > 0 && !q.Unordered {
				t.best = q.best(&p.Columns[q.Order][b])
			}
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(x, y task) int {
		return cmp.Or(cmp.Compare(y.best, x.best), cmp.Compare(x.part, y.part), cmp.Compare(x.block, y.block))
	})
	return list
}

// worker looks through blocks. Its heap has the first rows that it has seen, the last of them on top.
type worker struct {
	query *Query
	parts []*Part
	most  int
	total int
	first firsts

	rows, other [blockWords]uint64 // bits, as [Bits] are
	counts      counters
	keys        []int64
}

// look looks through a block.
func (w *worker) look(t task) {
	p := w.parts[t.part]
	rows := Bits(w.rows[:(p.RowsOf(t.block)+wordBits-1)/wordBits])
	if t.asked == nil {
		rows.fill(p.RowsOf(t.block))
	} else {
		copy(rows, t.asked)
	}
	if p.Hidden != nil && p.Hidden[t.block] != nil {
		rows.andNot(p.Hidden[t.block])
	}
	for _, i := range w.byLeft(p, t.block) {
		w.filter(&w.query.Filters[i], &p.Columns[w.query.Filters[i].Column][t.block], rows)
	}
	for i := range w.query.Sets {
		w.set(&w.query.Sets[i], &p.Sets[w.query.Sets[i].Column][t.block], rows)
	}
	n := rows.count()
	w.total += n
	if n == 0 || w.most == 0 {
		return
	}
	w.take(t, p, rows)
}

// byLeft are the filters in an order in which those come first that leave the fewest rows, as
// a sample of the block says.
func (w *worker) byLeft(p *Part, block int) []int {
	const sample = 128
	filters := w.query.Filters
	order, left := make([]int, len(filters)), make([]int, len(filters))
	for i := range filters {
		order[i] = i
		if len(filters) == 1 {
			break
		}
		b := &p.Columns[filters[i].Column][block]
		for row := 0; row < b.rows; row += max(1, b.rows/sample) {
			if filters[i].Passes(b.At(row)) {
				left[i]++
			}
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(left[x], left[y]) })
	return order
}

// Passes reports whether a value passes; ok is false where it is not known.
func (f *Filter) Passes(v int64, ok bool) bool {
	if f.Null || !ok {
		return f.Null && !ok
	}
	return (f.Low <= v && v <= f.High) != f.Outside
}

func (w *worker) filter(f *Filter, b *Block, rows Bits) {
	switch {
	case f.Null:
		b.keepNull(rows)
	case f.Outside:
		out := Bits(w.other[:len(rows)])
		copy(out, rows)
		b.keepRange(f.Low, f.High, out)
		b.keepRange(math.MinInt64, math.MaxInt64, rows)
		rows.andNot(out)
	default:
		b.keepRange(f.Low, f.High, rows)
	}
}
