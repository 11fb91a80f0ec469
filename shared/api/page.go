package api

import (
	"context"
	"iter"
	"time"

	"quotary/shared/catalog"
)

// Page gives the rows of a list in order of time that come behind a cursor to take, until that
// says that it has enough, or most were read. Where more may follow, the answer says where it
// goes on. At is the time of a row, ms. The list begins at the time of the cursor or before it:
// see [Since].
func Page[T any](ctx context.Context, from catalog.Cursor, list iter.Seq2[T, error], at func(*T) int64, most int, take func(*T) (enough bool)) error {
	next, err := page(from, list, at, most, take)
	if next != "" {
		SetNext(ctx, next)
	}
	return err
}

// Since is the time at which a list goes on behind a cursor; zero at the beginning.
func Since(c catalog.Cursor) time.Time {
	if ms, given := c.Place(); given > 0 {
		return time.UnixMilli(ms).UTC()
	}
	return time.Time{}
}

// page returns where more may follow, "" at the end of the list.
func page[T any](from catalog.Cursor, list iter.Seq2[T, error], at func(*T) int64, most int, take func(*T) (enough bool)) (next catalog.Cursor, err error) {
	begin, skip := from.Place()
	last, given, n, enough := begin, int64(0), 0, false
	for row, err := range list {
		if err != nil {
			return "", err
		}
		ms := at(&row)
		if ms == begin && given < skip {
			given++
			continue
		}
		if enough || n == most {
			return catalog.CursorAt(last, given), nil
		}
		if ms != last {
			last, given = ms, 0
		}
		given++
		n++
		enough = take(&row)
	}
	return "", nil
}
