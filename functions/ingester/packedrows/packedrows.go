// Package packedrows keeps those rows of the series of perpetuals (see pairseries) that are being
// changed: for the centralised exchanges and for the perpetual one, each in its domain.
package packedrows

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Rows keeps those rows of a series that are being changed. They are read when they are
// first touched, written once in a while, and forgotten when they have been idle.
type Rows[T any] struct {
	series  pairseries.Series[T]
	every   time.Duration // between two writes
	rows    map[store.SeriesAt]*Row[T]
	written time.Time
}

// Row is a row of packs.
type Row[T any] struct {
	pack  pairseries.Pack[T]
	dirty bool
	idle  int // writes since it was touched
}

// New returns packs of a series, which are written once in a while.
func New[T any](series pairseries.Series[T], every time.Duration) *Rows[T] {
	return &Rows[T]{series: series, every: every, rows: map[store.SeriesAt]*Row[T]{}}
}

// idleWrites is after how many writes a row that nobody touches is forgotten.
const idleWrites = 3

// Want asks for the row of a tier that holds a time (ms).
func (p *Rows[T]) Want(r *engine.Reads, key string, t pairseries.Tier, ms int64) {
	if at := p.series.At(key, t, ms); p.rows[at] == nil {
		r.Prefetch(at, func(_ store.SeriesAt, row *store.Point) error {
			_, err := p.series.Decode(row.Body)
			return err
		})
	}
}

// Row is the row of a tier that holds a time (ms), which was asked for.
func (p *Rows[T]) Row(r *engine.Reads, key string, t pairseries.Tier, ms int64) (*Row[T], error) {
	at := p.series.At(key, t, ms)
	if row := p.rows[at]; row != nil {
		row.idle = 0
		return row, nil
	}
	row := &Row[T]{pack: pairseries.Pack[T]{}}
	if stored := r.Row(at); stored != nil {
		pack, err := p.series.Decode(stored.Body)
		if err != nil {
			return nil, fmt.Errorf("read %s at %s: %w", at.SeriesKey, at.Time.Format(time.RFC3339), err)
		}
		row.pack = pack
	}
	p.rows[at] = row
	return row, nil
}

// Set replaces the part of a row that holds a time (ms).
func (row *Row[T]) Set(start int64, part T) { row.pack[start], row.dirty = part, true }

// Each calls do with each part of a row, in no order.
func (row *Row[T]) Each(do func(*T)) {
	for _, part := range row.pack {
		do(&part)
	}
}

// Clean reports whether everything is written.
func (p *Rows[T]) Clean() bool {
	for _, row := range p.rows {
		if row.dirty {
			return false
		}
	}
	return true
}

// Changes are the rows to be written, where it is time or all of them must be.
func (p *Rows[T]) Changes(now time.Time, settle bool) (rows []store.SeriesRow) {
	if !settle && now.Sub(p.written) < p.every {
		return nil
	}
	p.written = now
	for at, row := range p.rows {
		switch {
		case row.dirty:
			rows = append(rows, p.series.Row(at, row.pack))
			row.dirty = false
		case row.idle >= idleWrites:
			delete(p.rows, at)
		}
		row.idle++
	}
	slices.SortFunc(rows, func(a, b store.SeriesRow) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Interval, b.Interval), a.Time.Compare(b.Time))
	})
	return rows
}

// Bars are packs of bars, of each tier.
type Bars [len(pairseries.Tiers)]*Rows[market.Bar]

// NewBars returns packs of the bars of a series, which are written once in a while: those of
// the finest tier, and those of the others.
func NewBars(s pairseries.Series[market.Bar], finest, others time.Duration) (b Bars) {
	for i := range b {
		b[i] = New(s, others)
	}
	b[0].every = finest
	return b
}

// Want asks for the rows of a point.
func (b Bars) Want(r *engine.Reads, key string, ms int64) {
	for i, tier := range pairseries.Tiers {
		b[i].Want(r, key, tier, ms)
	}
}

// Add takes a value at a time (ms).
func (b Bars) Add(r *engine.Reads, key string, ms int64, value market.Decimal) error {
	for i, tier := range pairseries.Tiers {
		row, err := b[i].Row(r, key, tier, ms)
		if err != nil {
			return err
		}
		start := tier.Part.StartMs(ms)
		bar := row.pack[start]
		bar.Time = start
		before := bar
		bar.Add(ms, value)
		if bar != before {
			row.Set(start, bar)
		}
	}
	return nil
}

// Clean reports whether everything is written.
func (b Bars) Clean() bool {
	return !slices.ContainsFunc(b[:], func(p *Rows[market.Bar]) bool { return !p.Clean() })
}

// Changes are the rows to be written, where it is time or all of them must be.
func (b Bars) Changes(now time.Time, settle bool) (rows []store.SeriesRow) {
	for _, p := range b {
		rows = append(rows, p.Changes(now, settle)...)
	}
	return rows
}
