package exchange

import (
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/contracts"
)

// latest keeps the view of the followed perpetuals.
type latest struct {
	engine.Defaults[*Batch]
	pace
	perpetuals
	known map[string]contracts.Contract
	time  int64
}

func newLatest() *latest { return &latest{known: map[string]contracts.Contract{}} }

// Name is that of the view.
func (*latest) Name() string { return contracts.Name }

// Restores has its own view, and the pairs.
func (*latest) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(contracts.Published), restoredPairs}
}

// Restore takes both.
func (p *latest) Restore(views map[string][]byte) error {
	v, err := engine.Restored(views, contracts.Published)
	if err != nil {
		return err
	}
	p.time = v.Time
	for _, c := range v.Contracts {
		p.known[c.Pair.Key] = c
	}
	return p.restorePairs(views)
}

// Apply takes what is newer than what is known. Pairs that are not followed leave the view.
func (p *latest) Apply(b *Batch, _ *engine.Reads, _ time.Time) error {
	p.list(b.Listings)
	if len(b.Listings) > 0 {
		for key := range p.known {
			if _, ok := p.byKey[key]; !ok {
				delete(p.known, key)
				p.changed = true
			}
		}
	}
	for i := range b.Fundings {
		f := &b.Fundings[i]
		if c, ok := p.of(f.Pair); ok && !f.Paid && f.Time >= c.RateTime {
			c.Rate, c.RateTime, c.Due, c.Period = f.Rate, f.Time, f.Due, f.Period
			p.set(c, f.Time)
		}
	}
	for i := range b.Interests {
		f := &b.Interests[i]
		if c, ok := p.of(f.Pair); ok && f.Time >= c.InterestTime {
			c.Size, c.Value, c.InterestTime = f.Size, f.Value, f.Time
			p.set(c, f.Time)
		}
	}
	return nil
}

// of is a followed perpetual.
func (p *latest) of(key string) (contracts.Contract, bool) {
	pair, ok := p.byKey[key]
	c := p.known[key]
	c.Pair = pair
	return c, ok
}

func (p *latest) set(c contracts.Contract, ms int64) {
	p.known[c.Pair.Key], p.time, p.changed = c, max(p.time, ms), true
}

// Changes returns the view once in a while.
func (p *latest) Changes(now time.Time, settle bool) (c engine.Changes) {
	if !p.due(now, settle, viewEvery) {
		return c
	}
	v := contracts.View{Time: p.time}
	for _, one := range p.known {
		v.Contracts = append(v.Contracts, one)
	}
	c.Views = []engine.View{engine.ViewOf(contracts.Published, v)}
	return c
}
