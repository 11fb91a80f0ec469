package reference

import (
	"maps"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/treasuries"
	"quotary/shared/store"
)

// droppedTreasuries has a row of each entry of a drop.
var droppedTreasuries = engine.Log[*Batch]{Dataset: treasuries.Name, Append: func(rows []store.Row, b *Batch) []store.Row {
	return treasuries.AppendRows(rows, b.Treasuries)
}}

// storedTreasuries are the entries for who is folded from their log.
var storedTreasuries = []engine.Fold[*Batch]{{Dataset: treasuries.Name, Append: func(to *Batch, row store.Row) error {
	entry, err := treasuries.DecodeRow(row)
	if err == nil {
		to.Treasuries = append(to.Treasuries, entry)
	}
	return err
}}}

// treasuryFacts keeps the view of what was said of holdings: of each entry the one of the last
// place, and of each filing the newest.
type treasuryFacts struct {
	entries map[string]treasuries.Dropped
	filed   map[string]treasuries.Filed
}

// newTreasuryFacts is folded from what was dropped. Whoever has filings is asked again.
func newTreasuryFacts() Projection {
	return engine.KeepView(treasuries.Published, func() *treasuryFacts {
		return &treasuryFacts{map[string]treasuries.Dropped{}, map[string]treasuries.Filed{}}
	}).FoldedFrom(storedTreasuries)
}

// Restore takes what was said from the view.
func (p *treasuryFacts) Restore(v treasuries.View) error {
	for i := range v.Entries {
		p.entries[v.Entries[i].Identity()] = v.Entries[i]
	}
	for i := range v.Filed {
		p.filed[v.Filed[i].Identity()] = v.Filed[i]
	}
	return nil
}

// Apply takes entries and filings that are newer than what is known.
func (p *treasuryFacts) Apply(b *Batch, _ time.Time) (changed bool) {
	for i := range b.Treasuries {
		e := &b.Treasuries[i]
		if have, ok := p.entries[e.Identity()]; !ok || have.Place.Compare(e.Place) < 0 {
			p.entries[e.Identity()], changed = *e, true
		}
	}
	for i := range b.Held {
		f := &b.Held[i]
		if have, ok := p.filed[f.Identity()]; !ok || have.Compare(f) < 0 {
			p.filed[f.Identity()], changed = *f, true
		}
	}
	return changed
}

// mostHoldings is how many entries are kept, those of the newest files, and how many filings, the
// newest: many times what is known of all companies. An entry has some 300 bytes.
const mostHoldings = 50_000

// View has all that was said.
func (p *treasuryFacts) View(time.Time) treasuries.View {
	keepNewest(p.entries, mostHoldings, func(e treasuries.Dropped) int64 { return e.Place.Time })
	keepNewest(p.filed, mostHoldings, func(f treasuries.Filed) int64 {
		day, _ := time.Parse(time.DateOnly, f.Date) // the source checks it
		return day.UnixMilli()
	})
	return treasuries.View{Entries: slices.Collect(maps.Values(p.entries)), Filed: slices.Collect(maps.Values(p.filed))}
}
