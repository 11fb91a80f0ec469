package exchange

import (
	"maps"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/platformflows"
	"quotary/shared/market"
)

// flows keeps the view of what takers bought less what they sold on each exchange in the
// last 24 hours, of the trades of followed pairs that are priced in US dollars or a stable
// coin. What happens while nobody follows is missing in it.
type flows struct {
	engine.Defaults[*Batch]
	pace
	minutes map[string]map[int64]market.Decimal // by exchange
	last    map[string]int64                    // id of the newest trade of a pair
	newest  int64
}

func newFlows() *flows {
	return &flows{minutes: map[string]map[int64]market.Decimal{}, last: map[string]int64{}}
}

// Name is that of the view.
func (*flows) Name() string { return platformflows.Name }

// Restores has its own view.
func (*flows) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(platformflows.Name, platformflows.Decode)}
}

// Restore takes it.
func (p *flows) Restore(views map[string][]byte) error {
	v, err := engine.Restored(views, platformflows.Name, platformflows.Decode)
	p.newest = v.Time
	for _, platform := range v.Platforms {
		p.minutes[platform.Key] = map[int64]market.Decimal{}
		for _, m := range platform.Minutes {
			p.minutes[platform.Key][m.Time] = m.Net
		}
	}
	return err
}

// Apply takes trades, each once.
func (p *flows) Apply(b *Batch, _ *engine.Reads, _ time.Time) error {
	for i := range b.Trades {
		t := &b.Trades[i]
		if t.ID <= p.last[t.Pair] {
			continue
		}
		p.last[t.Pair] = t.ID
		net := t.Value()
		if t.Side == market.Sell {
			net = net.Neg()
		}
		of := p.minutes[platformOf(t.Pair)]
		if of == nil {
			of = map[int64]market.Decimal{}
			p.minutes[platformOf(t.Pair)] = of
		}
		minute := market.Minute1.StartMs(t.Time)
		of[minute] = of[minute].Add(net)
		p.newest, p.changed = max(p.newest, t.Time), true
	}
	return nil
}

// Changes returns the view once in a while.
func (p *flows) Changes(now time.Time, settle bool) (c engine.Changes) {
	if !p.due(now, settle, viewEvery) {
		return c
	}
	oldest := market.Minute1.StartMs(p.newest - platformflows.Window.Milliseconds())
	v := platformflows.View{Time: p.newest}
	for _, key := range slices.Sorted(maps.Keys(p.minutes)) {
		minutes := p.minutes[key]
		maps.DeleteFunc(minutes, func(ms int64, _ market.Decimal) bool { return ms < oldest })
		one := platformflows.Platform{Key: key, Minutes: []platformflows.Minute{}}
		for _, ms := range slices.Sorted(maps.Keys(minutes)) {
			one.Minutes = append(one.Minutes, platformflows.Minute{Time: ms, Net: minutes[ms]})
		}
		v.Platforms = append(v.Platforms, one)
	}
	c.Views = []engine.View{{Name: platformflows.Name, Body: platformflows.Encode(v)}}
	return c
}
