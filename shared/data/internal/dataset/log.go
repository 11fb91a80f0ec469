// Package dataset is what the packages of shared/data have in common: each of
// them describes its rows or its view by a [Log], a [Series] or a [store.ViewType] of one
// type, which composes keys, encodes, decodes and reads for it.
package dataset

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"time"

	"quotary/shared/store"
)

// Log describes a dataset of immutable rows, each of which is a T.
type Log[T any] struct {
	Name   string // of the dataset
	Row    func(*T) store.Row
	Decode func(store.Row) (T, error)
}

// Query selects rows of one subject.
type Query struct {
	Subject  string
	Index    store.Index
	From, To time.Time // both inclusive; zero is open
	Newest   bool      // from the newest row to the oldest
	Limit    int       // rows at most; 0 is all of them
	Expect   int       // rows that the caller probably takes, where that is less than Limit
}

// maxPage is how many rows one request to the log reads at most: about half of
// the megabyte that DynamoDB puts into a page.
const maxPage = 1000

// AppendRows appends the row of each value to rows.
func (l Log[T]) AppendRows(rows []store.Row, values []T) []store.Row {
	for i := range values {
		rows = append(rows, l.Row(&values[i]))
	}
	return rows
}

// Read returns the values that q selects, read page by page as the caller asks
// for them. An error ends the sequence.
func (l Log[T]) Read(ctx context.Context, log *store.Log, q Query) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		n := 0
		for row, err := range log.Rows(ctx, l.query(q)) {
			if err != nil {
				yield(none, err)
				return
			}
			value, err := l.Decode(row)
			if err != nil {
				yield(none, fmt.Errorf("read %s row %s of %s: %w", l.Name, row.ID, row.Subject, err))
				return
			}
			if !yield(value, nil) {
				return
			}
			if n++; n == q.Limit {
				return
			}
		}
	}
}

// Count is how many values q selects, at most so many, counted in the store; q.Limit is
// of no meaning.
func (l Log[T]) Count(ctx context.Context, log *store.Log, q Query, most int) (int, error) {
	return log.Count(ctx, l.query(q), most)
}

// query asks for pages of one row more than is expected to be taken: the last
// millisecond of a page is known to be complete only when the page goes beyond it.
func (l Log[T]) query(q Query) store.Query {
	page := maxPage
	if expect := cmp.Or(q.Expect, q.Limit); expect > 0 {
		page = min(expect+1, maxPage)
	}
	return store.Query{Dataset: l.Name, Subject: q.Subject, Index: q.Index, From: q.From, To: q.To, Newest: q.Newest, PageSize: page}
}
