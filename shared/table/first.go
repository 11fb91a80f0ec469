package table

import (
	"bytes"
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// notKnown is the key of what is not known: below that of every value.
const notKnown = math.MinInt64

// key is greater the earlier a value comes.
func (q *Query) key(v int64, ok bool) int64 {
	switch {
	case !ok:
		return notKnown
	case q.Ascending:
		return -v
	}
	return v
}

func (q *Query) best(b *Block) int64 {
	least, most, ok := b.Range()
	if q.Ascending {
		return q.key(least, ok)
	}
	return q.key(most, ok)
}

// found is a row that may be among the first.
type found struct {
	key     int64
	address Address
	row     Row
}

// compare is less than 0 where f comes before other.
func (f *found) compare(other *found) int {
	if f.key != other.key {
		return cmp.Compare(other.key, f.key)
	}
	return bytes.Compare(f.address[:], other.address[:])
}

type firsts []found

func (f firsts) Len() int           { return len(f) }
func (f firsts) Less(i, j int) bool { return f[i].compare(&f[j]) > 0 }
func (f firsts) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *firsts) Push(x any)        { *f = append(*f, x.(found)) } //nolint:forcetypeassert // firsts alone push
func (f *firsts) Pop() any {
	last := (*f)[len(*f)-1]
	*f = (*f)[:len(*f)-1]
	return last
}

// chunkWords is after how many words it is looked again which rows can still be among the first.
const chunkWords = 64

// take keeps the first rows of a block. Once it has as many as are wanted, all but few rows are
// left out by one more filter.
func (w *worker) take(t task, p *Part, rows Bits) {
	q := w.query
	if q.Unordered {
		rows.each(func(row int) { w.push(p, t, row, 0) })
		return
	}
	order := &p.Columns[q.Order][t.block]
	if w.leavesOut(t.best) {
		return
	}
	w.keepBetter(order, rows)
	key := func(row int) int64 { return q.key(order.At(row)) }
	if order.positions != nil && rows.count() > len(order.positions)/wordBits {
		keys := w.decode(order)
		key = func(row int) int64 { return keys[row] }
	}
	for from := 0; from < len(rows); from += chunkWords {
		chunk := rows[from:min(from+chunkWords, len(rows))]
		if from > 0 && order.positions == nil {
			w.keepBetter(order.from(from*wordBits), chunk)
		}
		chunk.each(func(i int) { w.push(p, t, from*wordBits+i, key(from*wordBits+i)) })
	}
}

// leavesOut reports whether no row with a key is among the first.
func (w *worker) leavesOut(key int64) bool { return len(w.first) == w.most && key < w.first[0].key }

// keepBetter clears the bits of rows that are not among the first by their key alone.
func (w *worker) keepBetter(order *Block, rows Bits) {
	if len(w.first) < w.most || w.first[0].key == notKnown {
		return
	}
	if key := w.first[0].key; w.query.Ascending {
		order.keepRange(math.MinInt64, -key, rows)
	} else {
		order.keepRange(key, math.MaxInt64, rows)
	}
}

// decode are the keys of all rows of a block that is mostly one value.
func (w *worker) decode(b *Block) []int64 {
	if w.keys == nil {
		w.keys = make([]int64, BlockRows)
	}
	keys := w.keys[:b.rows]
	common := w.query.key(b.value(b.common))
	for i := range keys {
		keys[i] = common
	}
	for i, at := range b.positions {
		keys[at] = w.query.key(b.value(b.codes.at(i)))
	}
	return keys
}

// push keeps a row if it is among the first.
func (w *worker) push(p *Part, t task, row int, key int64) {
	if w.leavesOut(key) {
		return
	}
	f := found{key: key, row: Row{Part: t.part, Row: t.block*BlockRows + row}}
	f.address = p.Addresses[f.row.Row]
	if len(w.first) < w.most {
		heap.Push(&w.first, f)
		return
	}
	if f.compare(&w.first[0]) < 0 {
		w.first[0] = f
		heap.Fix(&w.first, 0)
	}
}

// merge puts together what the workers have found.
func (q *Query) merge(workers []worker) Result {
	var r Result
	var all firsts
	for i := range workers {
		r.Total += workers[i].total
		all = append(all, workers[i].first...)
	}
	slices.SortFunc(all, func(x, y found) int { return x.compare(&y) })
	all = all[min(q.Offset, len(all)):]
	for _, f := range all[:min(q.Limit, len(all))] {
		r.Rows = append(r.Rows, f.row)
	}
	return r
}
