package perp

import (
	"maps"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/mids"
)

// midPrices keeps the view of the mid prices of each dex.
type midPrices struct {
	engine.Defaults[*Batch]
	time    map[string]int64 // of the newest, by dex, ms
	byDex   map[string]map[string]string
	changed bool
}

func newMidPrices() *midPrices {
	return &midPrices{time: map[string]int64{}, byDex: map[string]map[string]string{}}
}

// Name is that of the view.
func (p *midPrices) Name() string { return mids.Name }

// Restores has its own view.
func (p *midPrices) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(mids.Published)}
}

// Restore takes the prices from the view.
func (p *midPrices) Restore(views map[string][]byte) error {
	v, err := engine.Restored(views, mids.Published)
	if err != nil {
		return err
	}
	for dex, px := range v.Mids {
		p.byDex[dex], p.time[dex] = px, v.Time
	}
	return nil
}

// Apply replaces the prices of a dex by newer ones.
func (p *midPrices) Apply(b *Batch, _ *engine.Reads, _ time.Time) error {
	for i := range b.Mids {
		m := &b.Mids[i]
		if m.Time < p.time[m.Dex] {
			continue
		}
		p.time[m.Dex] = m.Time
		if !maps.Equal(p.byDex[m.Dex], m.Px) {
			p.byDex[m.Dex], p.changed = m.Px, true
		}
	}
	return nil
}

// Changes returns the view when a price has changed.
func (p *midPrices) Changes(time.Time, bool) engine.Changes {
	if !p.changed {
		return engine.Changes{}
	}
	p.changed = false
	v := mids.View{Mids: p.byDex}
	for _, t := range p.time {
		v.Time = max(v.Time, t)
	}
	return engine.Changes{Views: []engine.View{engine.ViewOf(mids.Published, v)}}
}
