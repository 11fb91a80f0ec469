package reference

import (
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/rates"
)

// dayRates keeps the view of exchange rates.
type dayRates struct {
	known rates.View
}

func newDayRates() Projection {
	return engine.KeepView(rates.Published, func() *dayRates { return new(dayRates) })
}

// Restore takes the rates from the view.
func (p *dayRates) Restore(v rates.View) error {
	p.known = v
	return nil
}

// Apply takes the rates of days.
func (p *dayRates) Apply(b *Batch, _ time.Time) (changed bool) {
	for _, day := range b.Rates {
		changed = p.known.Add(day) || changed
	}
	return changed
}

// View has the last days.
func (p *dayRates) View(time.Time) rates.View {
	return p.known
}
