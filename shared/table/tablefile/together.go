package tablefile

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// Columns of a file that are wanted together are read in one request where no more than gap bytes lie
// between them, up to together bytes: a request costs what some 100 KB do in time, and money.
const (
	gap      = 64 << 10
	together = 8 << 20
)

// together is the file for who wants some of all columns now.
func (f *File) together(all []Column, some []int) *File {
	if f.rows == 0 {
		return f
	}
	var spans []*span
	for _, n := range some {
		if i, ok := f.columns[all[n].Name]; ok {
			if from, size := f.extent(i); from >= 0 && size > 0 && size <= f.file.Size()-from {
				spans = append(spans, &span{from: from, to: from + size})
			}
		}
	}
	slices.SortFunc(spans, func(a, b *span) int { return cmp.Compare(a.from, b.from) })
	var joined []*span
	for _, s := range spans {
		if n := len(joined); n > 0 && s.from-joined[n-1].to <= gap && s.to-joined[n-1].from <= together {
			joined[n-1].to = max(joined[n-1].to, s.to)
			continue
		}
		joined = append(joined, s)
	}
	of := *f
	of.ranges = &spanned{f.ranges, joined}
	return &of
}

// span is bytes of a file that are read once.
type span struct {
	from, to int64
	once     sync.Once
	bytes    []byte
	err      error
}

// spanned reads what is in a span with the span.
type spanned struct {
	ranges Ranges
	spans  []*span // by where they begin
}

// Range implements [Ranges].
func (r *spanned) Range(ctx context.Context, offset, n int64) ([]byte, error) {
	for _, s := range r.spans {
		if offset < s.from || offset+n > s.to {
			continue
		}
		s.once.Do(func() { s.bytes, s.err = r.ranges.Range(ctx, s.from, s.to-s.from) })
		if s.err != nil {
			return nil, s.err
		}
		return s.bytes[offset-s.from:][:n], nil
	}
	return r.ranges.Range(ctx, offset, n)
}
