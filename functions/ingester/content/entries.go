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
type entries[T any] struct {
	name   string
	schema []byte

	parse      func(line []byte, at drop.Place) (T, error)
	in         func(*Batch) *[]T
	appendRows func([]store.Row, []T) []store.Row
	decodeRow  func(store.Row) (T, error)

	key    func(*T) (id string, place drop.Place)
	held   func(T) T     // an entry as the view holds it
	view   func([]T) []T // those that the view holds of entries of different ids
	most   int           // how many the view may hold
	encode func([]T) []byte
	decode func([]byte) ([]T, error)
}

// drops load entries.
func (e *entries[T]) drops() engine.DropDataset[*Batch] {
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
func (e *entries[T]) log() engine.Log[*Batch] {
	return engine.Log[*Batch]{Dataset: e.name, Append: func(rows []store.Row, b *Batch) []store.Row {
		return e.appendRows(rows, *e.in(b))
	}}
}

// folds are the entries for who is folded from their log.
func (e *entries[T]) folds() []engine.Fold[*Batch] {
	return []engine.Fold[*Batch]{{Dataset: e.name, Append: func(to *Batch, row store.Row) error {
		one, err := e.decodeRow(row)
		if err == nil {
			all := e.in(to)
			*all = append(*all, one)
		}
		return err
	}}}
}

// entriesView keeps the view.
type entriesView[T any] struct {
	engine.Defaults[*Batch]
	*entries[T]
	byID    map[string]T
	changed bool
}

func (e *entries[T]) newView() *entriesView[T] {
	return &entriesView[T]{entries: e, byID: map[string]T{}}
}

// Name is that of the view.
func (p *entriesView[T]) Name() string { return p.name }

// Folds has the log.
func (p *entriesView[T]) Folds() []engine.Fold[*Batch] { return p.folds() }

// Restores has its own view.
func (p *entriesView[T]) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(p.name, p.decode)}
}

// Restore takes the entries from the view.
func (p *entriesView[T]) Restore(views map[string][]byte) error {
	all, err := engine.Restored(views, p.name, p.decode)
	p.keep(all)
	return err
}

// Apply takes entries of a later place than what is known.
func (p *entriesView[T]) Apply(b *Batch, _ *engine.Reads, _ time.Time) error {
	list := *p.in(b)
	for i := range list {
		id, place := p.key(&list[i])
		have, ok := p.byID[id]
		if ok {
			_, before := p.key(&have)
			ok = before.Compare(place) >= 0
		}
		if !ok {
			p.byID[id], p.changed = p.held(list[i]), true
		}
	}
	if len(p.byID) > 4*p.most { // in the middle of a large file
		p.newest()
	}
	return nil
}

// Changes returns the view when an entry has changed.
func (p *entriesView[T]) Changes(time.Time, bool) engine.Changes {
	if !p.changed {
		return engine.Changes{}
	}
	p.changed = false
	return engine.Changes{Views: []engine.View{{Name: p.name, Body: p.encode(p.newest())}}}
}

// newest are the entries that the view holds; others are forgotten.
func (p *entriesView[T]) newest() []T {
	all := p.view(slices.Collect(maps.Values(p.byID)))
	if len(p.byID) > len(all) {
		p.keep(all)
	}
	return all
}

func (p *entriesView[T]) keep(all []T) {
	clear(p.byID)
	for i := range all {
		id, _ := p.key(&all[i])
		p.byID[id] = all[i]
	}
}
