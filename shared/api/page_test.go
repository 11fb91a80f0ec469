package api

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/catalog"
	"quotary/shared/testing/must"
)

type row struct{ id, ms int64 }

func timeOf(r *row) int64 { return r.ms }

// TestACursorGoesOnWhereAnAnswerEnded pages through lists of which several rows have
// one time: together the pages are the list.
func TestACursorGoesOnWhereAnAnswerEnded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var list []row
		for n, ms := int64(0), int64(1000); n < int64(rapid.IntRange(0, 40).Draw(rt, "rows")); n++ {
			ms += int64(rapid.SampledFrom([]int{0, 0, 1}).Draw(rt, "later"))
			list = append(list, row{n, ms})
		}
		newest := rapid.Bool().Draw(rt, "newest first")
		if newest {
			slices.Reverse(list)
		}
		size := rapid.IntRange(1, 9).Draw(rt, "page")
		var got []int64
		for cursor, pages := catalog.Cursor(""), 0; ; pages++ {
			if pages > len(list) {
				rt.Fatal("it does not end")
			}
			from := Since(cursor)
			stored := func(yield func(row, error) bool) { // as the log reads it
				for _, f := range list {
					if !from.IsZero() && (newest && f.ms > from.UnixMilli() || !newest && f.ms < from.UnixMilli()) {
						continue
					}
					if !yield(f, nil) {
						return
					}
				}
			}
			n := 0
			next := must.Get(page(cursor, stored, timeOf, 1000, func(f *row) bool {
				got = append(got, f.id)
				n++
				return n == size
			}))(rt)
			if cursor = next; cursor == "" {
				break
			}
			if err := new(catalog.Cursor).UnmarshalText([]byte(cursor)); err != nil {
				rt.Fatalf("%s: %v", cursor, err)
			}
		}
		var want []int64
		for _, f := range list {
			want = append(want, f.id)
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("got %v, want %v", got, want)
		}
	})
}

func TestAPageReadsABoundedNumberOfRows(t *testing.T) {
	t.Parallel()
	read := 0
	endless := func(yield func(row, error) bool) {
		for n := int64(0); yield(row{n, n}, nil); n++ {
			read++
		}
	}
	next, err := page("", endless, timeOf, 100, func(*row) bool { return false })
	if err != nil || read != 100 || next != catalog.CursorAt(99, 1) {
		t.Errorf("%d rows were read, the next cursor is %s (%v)", read, next, err)
	}
}
