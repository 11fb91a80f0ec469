package perp

import (
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/meta"
	"quotary/shared/market"
)

// descriptions keeps the view of the venue's description of its markets.
type descriptions struct {
	last market.Meta
}

func newDescriptions() Projection {
	return engine.KeepView(meta.Published, func() *descriptions { return new(descriptions) })
}

// Restore takes the time of the description from the view.
func (p *descriptions) Restore(v meta.View) error {
	p.last.Time = v.Time
	return nil
}

// Apply takes a newer description.
func (p *descriptions) Apply(b *Batch, _ time.Time) (changed bool) {
	if b.Meta != nil && b.Meta.Time >= p.last.Time {
		p.last, changed = *b.Meta, true
	}
	return changed
}

// View has the last description.
func (p *descriptions) View(time.Time) meta.View {
	return meta.View{Time: p.last.Time, Perps: p.last.Perps, Spot: p.last.Spot}
}

// marketsOf is what the venue describes.
func marketsOf(m *market.Meta) *market.Markets {
	v := meta.View{Time: m.Time, Perps: m.Perps, Spot: m.Spot}
	return v.Markets()
}
