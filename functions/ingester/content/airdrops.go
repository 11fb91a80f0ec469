package content

import (
	"maps"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/airdrops"
	"quotary/shared/source/drop"
	"quotary/shared/store"
)

// airdropDrops load airdrops.
var airdropDrops = engine.DropDataset[*Batch]{Name: airdrops.Name, Schema: airdrops.Schema, Append: func(to *Batch, line []byte, at drop.Place) error {
	entry, err := airdrops.Parse(line)
	if err == nil {
		to.Airdrops = append(to.Airdrops, airdrops.Airdrop{Entry: entry, Place: at})
	}
	return err
}}

// airdropLog has a row of each entry.
var airdropLog = engine.Log[*Batch]{Dataset: airdrops.Name, Append: func(rows []store.Row, b *Batch) []store.Row {
	return airdrops.AppendRows(rows, b.Airdrops)
}}

// storedAirdrops are the entries for who is folded from their log.
var storedAirdrops = []engine.Fold[*Batch]{{Dataset: airdrops.Name, Append: func(to *Batch, row store.Row) error {
	a, err := airdrops.DecodeRow(row)
	if err == nil {
		to.Airdrops = append(to.Airdrops, a)
	}
	return err
}}}

// campaigns keeps the view of airdrops: of each the entry of the last place.
type campaigns struct {
	engine.Defaults[*Batch]
	byID    map[string]airdrops.Airdrop
	changed bool
}

func newCampaigns() *campaigns { return &campaigns{byID: map[string]airdrops.Airdrop{}} }

// Name is that of the view.
func (*campaigns) Name() string { return airdrops.Name }

// Folds has the log of airdrops.
func (*campaigns) Folds() []engine.Fold[*Batch] { return storedAirdrops }

// Restores has its own view.
func (*campaigns) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(airdrops.Name, airdrops.Decode)}
}

// Restore takes the airdrops from the view.
func (p *campaigns) Restore(views map[string][]byte) error {
	v, err := engine.Restored(views, airdrops.Name, airdrops.Decode)
	p.keep(v)
	return err
}

// Apply takes entries of a later place than what is known.
func (p *campaigns) Apply(b *Batch, _ *engine.Reads, _ time.Time) error {
	for i := range b.Airdrops {
		a := &b.Airdrops[i]
		if have, ok := p.byID[a.AirdropID]; !ok || have.Place.Compare(a.Place) < 0 {
			p.byID[a.AirdropID], p.changed = a.WithoutContent(), true
		}
	}
	return nil
}

// Changes returns the view when an airdrop has changed.
func (p *campaigns) Changes(time.Time, bool) engine.Changes {
	if !p.changed {
		return engine.Changes{}
	}
	p.changed = false
	v := airdrops.NewView(slices.Collect(maps.Values(p.byID)))
	if len(p.byID) > len(v.Airdrops) {
		p.keep(v)
	}
	return engine.Changes{Views: []engine.View{{Name: airdrops.Name, Body: airdrops.Encode(v)}}}
}

// keep forgets all airdrops but those of a view.
func (p *campaigns) keep(v airdrops.View) {
	clear(p.byID)
	for i := range v.Airdrops {
		p.byID[v.Airdrops[i].AirdropID] = v.Airdrops[i]
	}
}
