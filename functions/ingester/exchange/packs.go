package exchange

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

// packs keeps those rows of a series that are being changed. They are read when they are
// first touched, written once in a while, and forgotten when they have been idle.
type packs[T any] struct {
	series  pairseries.Series[T]
	every   time.Duration // between two writes
	rows    map[store.SeriesAt]*packRow[T]
	written time.Time
}

type packRow[T any] struct {
	pack  pairseries.Pack[T]
	dirty bool
	idle  int // writes since it was touched
}

func newPacks[T any](series pairseries.Series[T], every time.Duration) *packs[T] {
	return &packs[T]{series: series, every: every, rows: map[store.SeriesAt]*packRow[T]{}}
}

// idleWrites is after how many writes a row that nobody touches is forgotten.
const idleWrites = 3

// want asks for the row of a tier that holds a time (ms).
func (p *packs[T]) want(r *engine.Reads, key string, t pairseries.Tier, ms int64) {
	if at := p.series.At(key, t, ms); p.rows[at] == nil {
		r.Want(at, func(_ store.SeriesAt, row *store.Point) error {
			_, err := p.series.Decode(row.Body)
			return err
		})
	}
}

// row is the row of a tier that holds a time (ms), which was asked for.
func (p *packs[T]) row(r *engine.Reads, key string, t pairseries.Tier, ms int64) (*packRow[T], error) {
	at := p.series.At(key, t, ms)
	if row := p.rows[at]; row != nil {
		row.idle = 0
		return row, nil
	}
	row := &packRow[T]{pack: pairseries.Pack[T]{}}
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

// set replaces the part of a row that holds a time (ms).
func (row *packRow[T]) set(start int64, part T) { row.pack[start], row.dirty = part, true }

// clean reports whether everything is written.
func (p *packs[T]) clean() bool {
	for _, row := range p.rows {
		if row.dirty {
			return false
		}
	}
	return true
}

// changes are the rows to be written, where it is time or all of them must be.
func (p *packs[T]) changes(now time.Time, settle bool) (rows []store.SeriesRow) {
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

// bars are packs of bars.
type bars struct{ *packs[market.Bar] }

// pointsEvery is between two writes of rows of values that change all the time.
const pointsEvery = time.Minute

func newBars(s pairseries.Series[market.Bar]) bars { return bars{newPacks(s, pointsEvery)} }

// want asks for the rows of a point.
func (b bars) want(r *engine.Reads, key string, ms int64) {
	for _, tier := range pairseries.Tiers {
		b.packs.want(r, key, tier, ms)
	}
}

// add takes a value at a time (ms).
func (b bars) add(r *engine.Reads, key string, ms int64, value market.Decimal) error {
	for _, tier := range pairseries.Tiers {
		row, err := b.row(r, key, tier, ms)
		if err != nil {
			return err
		}
		start := tier.Part.StartMs(ms)
		bar := row.pack[start]
		bar.Time = start
		before := bar
		bar.Add(ms, value)
		if bar != before {
			row.set(start, bar)
		}
	}
	return nil
}
