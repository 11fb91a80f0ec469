package perp

import (
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/meta"
	"quotary/shared/market"
)

// descriptions keeps the view of the venue's description of its markets.
type descriptions struct {
	engine.Defaults[*Batch]
	last    market.Meta
	changed bool
}

func newDescriptions() *descriptions { return new(descriptions) }

// Name is that of the view.
func (p *descriptions) Name() string { return meta.Name }

// Restores has its own view.
func (p *descriptions) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(meta.Published)}
}

// Restore takes the time of the description from the view.
func (p *descriptions) Restore(views map[string][]byte) error {
	v, err := engine.Restored(views, meta.Published)
	p.last.Time = v.Time
	return err
}

// Apply takes a newer description.
func (p *descriptions) Apply(b *Batch, _ *engine.Reads, _ time.Time) error {
	if b.Meta != nil && b.Meta.Time >= p.last.Time {
		p.last, p.changed = *b.Meta, true
	}
	return nil
}

// Changes returns the view when there is a new one.
func (p *descriptions) Changes(time.Time, bool) engine.Changes {
	if !p.changed {
		return engine.Changes{}
	}
	p.changed = false
	return engine.Changes{Views: []engine.View{engine.ViewOf(meta.Published, meta.View{Time: p.last.Time, Perps: p.last.Perps, Spot: p.last.Spot})}}
}
