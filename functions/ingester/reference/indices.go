package reference

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/indices"
	"quotary/shared/store"
)

// droppedDays has a row of each day of a drop.
var droppedDays = engine.Log[*Batch]{Dataset: indices.Name, Append: func(rows []store.Row, b *Batch) []store.Row {
	return indices.AppendRows(rows, b.Indices)
}}

// storedDays are the days for who is folded from their log.
var storedDays = []engine.Fold[*Batch]{{Dataset: indices.Name, Append: func(to *Batch, row store.Row) error {
	day, err := indices.DecodeRow(row)
	if err == nil {
		to.Indices = append(to.Indices, day)
	}
	return err
}}}

// indexDays keeps the days of indexes: the rows of months, of which those are in memory
// that are being changed, and the view of the newest days.
type indexDays struct {
	engine.Defaults[*Batch]
	newest  map[string]indices.Index
	changed bool // of the view
	months  map[store.SeriesAt]*indexMonth
}

// indexMonth is a row.
type indexMonth struct {
	days  indices.Days
	dirty bool
}

func newIndexDays() *indexDays {
	return &indexDays{newest: map[string]indices.Index{}, months: map[store.SeriesAt]*indexMonth{}}
}

// Name is that of the view and of the series.
func (*indexDays) Name() string { return indices.Name }

// Folds has what was dropped. Sources are asked again.
func (*indexDays) Folds() []engine.Fold[*Batch] { return storedDays }

// Restores has its own view.
func (*indexDays) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(indices.Published)}
}

// Restore takes the newest days from the view.
func (p *indexDays) Restore(views map[string][]byte) error {
	v, err := engine.Restored(views, indices.Published)
	for _, one := range v.Indices {
		p.newest[one.Key] = one
	}
	return err
}

// Prefetch asks for the rows of the months of days.
func (p *indexDays) Prefetch(b *Batch, r *engine.Reads) {
	for i := range b.Indices {
		if at, ok := indices.At(b.Indices[i].Key, b.Indices[i].Date); ok && p.months[at] == nil {
			r.Prefetch(at, func(_ store.SeriesAt, row *store.Point) error {
				_, err := indices.Decode(row.Body)
				return err
			})
		}
	}
}

// Apply takes days that hold against what is known of them.
func (p *indexDays) Apply(b *Batch, r *engine.Reads, _ time.Time) error {
	for i := range b.Indices {
		entry := &b.Indices[i]
		at, ok := indices.At(entry.Key, entry.Date)
		if !ok {
			continue // sources and drops check dates
		}
		month, err := p.month(r, at)
		if err != nil {
			return err
		}
		var changed bool
		if month.days, changed = month.days.Add(entry.Day); changed {
			month.dirty = true
		}
		one := p.newest[entry.Key]
		one.Key = entry.Key
		if one.Add(entry.Day) {
			p.newest[entry.Key], p.changed = one, true
		}
	}
	return nil
}

// month is a row that was asked for.
func (p *indexDays) month(r *engine.Reads, at store.SeriesAt) (*indexMonth, error) {
	if month := p.months[at]; month != nil {
		return month, nil
	}
	month := new(indexMonth)
	if stored := r.Row(at); stored != nil {
		var err error
		if month.days, err = indices.Decode(stored.Body); err != nil {
			return nil, fmt.Errorf("read %s at %s: %w", at.SeriesKey, at.Time.Format(time.RFC3339), err)
		}
	}
	p.months[at] = month
	return month, nil
}

// Changes returns the rows that have changed, and the view. Rows that have not since the
// last time are forgotten.
func (p *indexDays) Changes(time.Time, bool) (c engine.Changes) {
	for at, month := range p.months {
		if !month.dirty {
			delete(p.months, at)
			continue
		}
		c.Fine = append(c.Fine, indices.Row(at, month.days))
		month.dirty = false
	}
	slices.SortFunc(c.Fine, func(a, b store.SeriesRow) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), a.Time.Compare(b.Time))
	})
	if p.changed {
		p.changed = false
		keepNewest(p.newest, mostDropped, func(one indices.Index) int64 {
			last := one.Days[len(one.Days)-1].Place
			if last.File == "" { // which a source has told
				return math.MaxInt64
			}
			return last.Time
		})
		v := indices.View{Indices: slices.Collect(maps.Values(p.newest))}
		c.Views = []engine.View{engine.ViewOf(indices.Published, v)}
	}
	return c
}
