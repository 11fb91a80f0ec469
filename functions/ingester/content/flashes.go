package content

import (
	"maps"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/flashes"
	"quotary/shared/source/drop"
	"quotary/shared/store"
)

// flashDrops load flashes.
var flashDrops = engine.DropDataset[*Batch]{Name: flashes.Name, Schema: flashes.Schema, Append: func(to *Batch, line []byte, at drop.Place) error {
	entry, err := flashes.Parse(line)
	if err == nil {
		to.Flashes = append(to.Flashes, flashes.Flash{Entry: entry, Place: at})
	}
	return err
}}

// flashLog has a row of each state of a flash.
var flashLog = engine.Log[*Batch]{Dataset: flashes.Name, Append: func(rows []store.Row, b *Batch) []store.Row {
	return flashes.AppendRows(rows, b.Flashes)
}}

// storedFlashes are the flashes for who is folded from their log.
var storedFlashes = []engine.Fold[*Batch]{{Dataset: flashes.Name, Append: func(to *Batch, row store.Row) error {
	f, err := flashes.DecodeRow(row)
	if err == nil {
		to.Flashes = append(to.Flashes, f)
	}
	return err
}}}

// latestFlashes keeps the view of the newest flashes: of each its state of the last place.
type latestFlashes struct {
	engine.Defaults[*Batch]
	byID    map[int64]flashes.Flash
	changed bool
}

func newLatestFlashes() *latestFlashes { return &latestFlashes{byID: map[int64]flashes.Flash{}} }

// Name is that of the view.
func (*latestFlashes) Name() string { return flashes.Name }

// Folds has the log of flashes.
func (*latestFlashes) Folds() []engine.Fold[*Batch] { return storedFlashes }

// Restores has its own view.
func (*latestFlashes) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(flashes.Name, flashes.Decode)}
}

// Restore takes the flashes from the view.
func (p *latestFlashes) Restore(views map[string][]byte) error {
	v, err := engine.Restored(views, flashes.Name, flashes.Decode)
	p.keep(v)
	return err
}

// Apply takes states of a later place than what is known.
func (p *latestFlashes) Apply(b *Batch, _ *engine.Reads, _ time.Time) error {
	for i := range b.Flashes {
		f := &b.Flashes[i]
		if have, ok := p.byID[f.ID]; !ok || have.Place.Compare(f.Place) < 0 {
			p.byID[f.ID], p.changed = *f, true
		}
	}
	if len(p.byID) > 10*flashes.Listed { // in the middle of a large file
		p.view()
	}
	return nil
}

// view is the newest flashes; others are forgotten.
func (p *latestFlashes) view() flashes.View {
	v := flashes.NewView(slices.Collect(maps.Values(p.byID)))
	if len(p.byID) > len(v.Flashes) {
		p.keep(v)
	}
	return v
}

// Changes returns the view when a flash has changed.
func (p *latestFlashes) Changes(time.Time, bool) engine.Changes {
	if !p.changed {
		return engine.Changes{}
	}
	p.changed = false
	return engine.Changes{Views: []engine.View{{Name: flashes.Name, Body: flashes.Encode(p.view())}}}
}

// keep forgets all flashes but those of a view.
func (p *latestFlashes) keep(v flashes.View) {
	clear(p.byID)
	for i := range v.Flashes {
		p.byID[v.Flashes[i].ID] = v.Flashes[i]
	}
}
