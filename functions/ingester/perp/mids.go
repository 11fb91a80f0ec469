package perp

import (
	"maps"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/mids"
)

// midPrices keeps the view of the mid prices of each dex.
type midPrices struct {
	time  map[string]int64 // of the newest, by dex, ms
	byDex map[string]map[string]string
}

func newMidPrices() Projection {
	return engine.KeepView(mids.Published, func() *midPrices {
		return &midPrices{time: map[string]int64{}, byDex: map[string]map[string]string{}}
	})
}

// Restore takes the prices from the view.
func (p *midPrices) Restore(v mids.View) error {
	for dex, px := range v.Mids {
		p.byDex[dex], p.time[dex] = px, v.Time
	}
	return nil
}

// Apply replaces the prices of a dex by newer ones.
func (p *midPrices) Apply(b *Batch, _ time.Time) (changed bool) {
	for i := range b.Mids {
		m := &b.Mids[i]
		if m.Time < p.time[m.Dex] {
			continue
		}
		p.time[m.Dex] = m.Time
		if !maps.Equal(p.byDex[m.Dex], m.Px) {
			p.byDex[m.Dex], changed = m.Px, true
		}
	}
	return changed
}

// View has the prices of all dexs.
func (p *midPrices) View(time.Time) mids.View {
	v := mids.View{Mids: p.byDex}
	for _, t := range p.time {
		v.Time = max(v.Time, t)
	}
	return v
}
