package reference

import (
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/rates"
)

// dayRates keeps the view of exchange rates.
type dayRates struct {
	engine.Defaults[*Batch]
	known   rates.View
	changed bool
}

func newDayRates() *dayRates { return new(dayRates) }

// Name is that of the view.
func (p *dayRates) Name() string { return rates.Name }

// Restores has its own view.
func (p *dayRates) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(rates.Published)}
}

// Restore takes the rates from the view.
func (p *dayRates) Restore(views map[string][]byte) (err error) {
	p.known, err = engine.Restored(views, rates.Published)
	return err
}

// Apply takes the rates of days.
func (p *dayRates) Apply(b *Batch, _ *engine.Reads, _ time.Time) error {
	for _, day := range b.Rates {
		p.changed = p.known.Add(day) || p.changed
	}
	return nil
}

// Changes returns the view when a rate has changed.
func (p *dayRates) Changes(time.Time, bool) engine.Changes {
	if !p.changed {
		return engine.Changes{}
	}
	p.changed = false
	return engine.Changes{Views: []engine.View{engine.ViewOf(rates.Published, p.known)}}
}
