package content

import (
	"maps"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/drop"
	"quotary/shared/store"
)

// entries is a dataset of what operators load: a log of every entry, and a view of the
// newest, of each the entry of the last place.
type entries[T, V any] struct {
	name   string
	schema []byte

	parse      func(line []byte, at drop.Place) (T, error)
	in         func(*Batch) *[]T
	appendRows func([]store.Row, []T) []store.Row
	decodeRow  func(store.Row) (T, error)

	key       func(*T) (id string, place drop.Place)
	held      func(T) T   // an entry as the view holds it
	view      func([]T) V // of entries of different ids
	list      func(V) []T // those that a view holds
	most      int         // how many the view may hold
	published store.ViewType[V]
}

// drops load entries.
func (e *entries[T, V]) drops() engine.DropDataset[*Batch] {
	return engine.DropDataset[*Batch]{Name: e.name, Schema: e.schema, Append: func(to *Batch, line []byte, at drop.Place) error {
		one, err := e.parse(line, at)
		if err == nil {
			all := e.in(to)
			*all = append(*all, one)
		}
		return err
	}}
}

// log has a row of each entry.
func (e *entries[T, V]) log() engine.Log[*Batch] {
	return engine.Log[*Batch]{Dataset: e.name, Append: func(rows []store.Row, b *Batch) []store.Row {
		return e.appendRows(rows, *e.in(b))
	}}
}

// folds are the entries for who is folded from their log.
func (e *entries[T, V]) folds() []engine.Fold[*Batch] {
	return []engine.Fold[*Batch]{{Dataset: e.name, Append: func(to *Batch, row store.Row) error {
		one, err := e.decodeRow(row)
		if err == nil {
			all := e.in(to)
			*all = append(*all, one)
		}
		return err
	}}}
}

// entriesView is the state of the view.
type entriesView[T, V any] struct {
	*entries[T, V]
	byID map[string]T
}

func (e *entries[T, V]) newView() Projection {
	return engine.KeepView(e.published, func() *entriesView[T, V] { return &entriesView[T, V]{e, map[string]T{}} }).FoldedFrom(e.folds())
}

// Restore takes the entries from the view.
func (p *entriesView[T, V]) Restore(v V) error {
	p.keep(p.list(v))
	return nil
}

// Apply takes entries of a later place than what is known.
func (p *entriesView[T, V]) Apply(b *Batch, _ time.Time) (changed bool) {
	list := *p.in(b)
	for i := range list {
		id, place := p.key(&list[i])
		have, ok := p.byID[id]
		if ok {
			_, before := p.key(&have)
			ok = before.Compare(place) >= 0
		}
		if !ok {
			p.byID[id], changed = p.held(list[i]), true
		}
	}
	if len(p.byID) > 4*p.most { // in the middle of a large file
		p.View(time.Time{})
	}
	return changed
}

// View has the newest; entries that it does not hold are forgotten.
func (p *entriesView[T, V]) View(time.Time) V {
	v := p.view(slices.Collect(maps.Values(p.byID)))
	if all := p.list(v); len(p.byID) > len(all) {
		p.keep(all)
	}
	return v
}

func (p *entriesView[T, V]) keep(all []T) {
	clear(p.byID)
	for i := range all {
		id, _ := p.key(&all[i])
		p.byID[id] = all[i]
	}
}
