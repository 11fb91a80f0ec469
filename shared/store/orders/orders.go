// Package orders reads what the log knows of orders: the statuses that each came
// to, the newest first. Those of orders that were filled and all others are two
// datasets, of which a deployment may keep the first alone; here they are one.
package orders

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"

	"quotary/shared/store"
)

// Of names orders: those found under a subject in an index. An account is found
// by its address in [store.Main], its orders of a coin by "<address>/<coin>" in
// [store.A], an order by its id in [store.B], and by "<address>/<client order
// id>" in [store.C].
type Of struct {
	Subject string
	Index   store.Index
}

const (
	// maxPage is how many rows one request to the log reads at most: about half
	// of the megabyte that DynamoDB puts into a page.
	maxPage = 1000
	// perOrder is how many statuses are looked through for each order that is
	// asked for, and a page at least; most come to two, an order that waits for a
	// price to three.
	perOrder = 8
)

// Statuses returns the rows of what the orders came to, newest first. A request
// to the log reads about page rows. An error ends the sequence.
func Statuses(ctx context.Context, log *store.Log, of Of, page int) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		filled, stop := iter.Pull2(log.Rows(ctx, of.query(store.FilledDataset, page)))
		defer stop()
		others, stop := iter.Pull2(log.Rows(ctx, of.query(store.OrderDataset, page)))
		defer stop()
		a, faultA, moreA := filled()
		b, faultB, moreB := others()
		for moreA || moreB {
			if fault := cmp.Or(faultA, faultB); fault != nil {
				yield(store.Row{}, fault)
				return
			}
			next := a
			if fromB := !moreA || moreB && newer(b, a); fromB {
				next = b
				b, faultB, moreB = others()
			} else {
				a, faultA, moreA = filled()
			}
			if !yield(next, nil) {
				return
			}
		}
	}
}

// newer tells whether a came about after b.
func newer(a, b store.Row) bool {
	return a.Time.After(b.Time) || a.Time.Equal(b.Time) && a.Seq > b.Seq
}

// Latest returns the newest row of each order, the newest order first, limit at
// most.
func Latest(ctx context.Context, log *store.Log, of Of, limit int) ([]store.Row, error) {
	return latest(Statuses(ctx, log, of, pageFor(limit)), limit)
}

// Filled returns the rows of the orders that were filled, newest first, limit at
// most.
func Filled(ctx context.Context, log *store.Log, of Of, limit int) ([]store.Row, error) {
	return latest(log.Rows(ctx, of.query(store.FilledDataset, pageFor(limit))), limit)
}

// latest takes the first row of each order.
func latest(statuses iter.Seq2[store.Row, error], limit int) ([]store.Row, error) {
	rows := make([]store.Row, 0, min(limit, maxPage))
	known := make(map[string]bool, cap(rows))
	left := max(maxPage, perOrder*limit)
	for row, err := range statuses {
		if err != nil {
			return nil, err
		}
		oid, _, ok := strings.Cut(row.ID, "#")
		if !ok {
			return nil, fmt.Errorf("row %q of %s names no order", row.ID, row.Subject)
		}
		if !known[oid] {
			known[oid] = true
			rows = append(rows, row)
		}
		if left--; len(rows) == limit || left == 0 {
			break
		}
	}
	return rows, nil
}

// pageFor is one more than is asked for: the last millisecond of a page is known
// to be whole only when the page goes beyond it.
func pageFor(limit int) int { return min(limit+1, maxPage) }

func (of Of) query(dataset string, page int) store.Query {
	return store.Query{Dataset: dataset, Subject: of.Subject, Index: of.Index, Newest: true, PageSize: min(page, maxPage)}
}
