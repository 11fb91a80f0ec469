package perp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/contexts"
	"quotary/shared/market"
	"quotary/shared/store"
)

// coinContexts keeps the view of the contexts of all coins, as the venue wrote them.
type coinContexts struct {
	perps map[string]dexContexts // by dex, "" is the main one
	spot  dexContexts
	marks marks
}

type dexContexts struct {
	raw  json.RawMessage // as the venue wrote them
	time int64           // ms
}

func newContexts() Projection { return engine.KeepView(contexts.Published, noContexts) }

func noContexts() *coinContexts {
	return &coinContexts{perps: map[string]dexContexts{}, marks: marks{}}
}

// Restore takes the contexts from the view.
func (p *coinContexts) Restore(v contexts.View) error {
	p.spot = dexContexts{v.Spot, v.Time}
	for dex, raw := range v.Perps {
		p.perps[dex] = dexContexts{raw, cmp.Or(v.Times[dex], v.Time)}
	}
	return p.marks.restore(v)
}

// Apply replaces contexts by newer ones.
func (p *coinContexts) Apply(b *Batch, _ time.Time) (changed bool) {
	for i := range b.Contexts {
		c := &b.Contexts[i]
		have := p.perps[c.Dex]
		if c.Spot {
			have = p.spot
		}
		if c.Time < have.time {
			continue
		}
		changed = true
		p.marks.add(c)
		if c.Spot {
			p.spot = dexContexts{c.Raw, c.Time}
		} else {
			p.perps[c.Dex] = dexContexts{c.Raw, c.Time}
		}
	}
	return changed
}

// View has the newest contexts of all coins.
func (p *coinContexts) View(time.Time) contexts.View {
	v := contexts.View{Time: p.spot.time, Times: map[string]int64{}, Perps: map[string]json.RawMessage{}, Spot: p.spot.raw, Marks: map[string]string{}, Interests: map[string]string{}}
	for dex, f := range p.perps {
		v.Perps[dex], v.Times[dex], v.Time = f.raw, f.time, max(v.Time, f.time)
	}
	for coin, mark := range p.marks {
		v.Marks[coin] = market.Text(mark.px)
		if mark.interest.IsPos() {
			v.Interests[coin] = market.Text(mark.interest)
		}
	}
	return v
}

// marks are the mark prices and open interests among the contexts, by coin.
type marks map[string]mark

type mark struct {
	px       market.Decimal // quote units
	interest market.Decimal // base units of one side; 0 where it is not known
	time     int64          // ms
}

// add takes the mark prices of contexts, but for those that are known newer.
func (m marks) add(c *market.Contexts) {
	for i := range c.Coins {
		one := &c.Coins[i]
		if have, ok := m[one.Coin]; !ok || c.Time >= have.time {
			m[one.Coin] = mark{one.Mark, one.Interest, c.Time}
		}
	}
}

// prices are the mark prices alone.
func (m marks) prices() market.Marks {
	prices := make(market.Marks, len(m))
	for coin, mark := range m {
		prices[coin] = mark.px
	}
	return prices
}

// restore takes the mark prices from the view.
func (m marks) restore(v contexts.View) error {
	for coin, text := range v.Marks {
		px, err := market.ParseStored(text)
		if err != nil {
			return fmt.Errorf("read view %s: mark price of %s: %w", contexts.Name, coin, err)
		}
		interest := market.Decimal{}
		if text, ok := v.Interests[coin]; ok {
			if interest, err = market.ParseStored(text); err != nil {
				return fmt.Errorf("read view %s: open interest of %s: %w", contexts.Name, coin, err)
			}
		}
		m[coin] = mark{px, interest, v.Time}
	}
	return nil
}

// restoredContexts is the view with the prices in it.
var restoredContexts = engine.Restores(store.ViewType[contexts.View]{Name: contexts.Name, Read: func(body []byte) (v contexts.View, err error) {
	if v, err = contexts.Published.Decode(body); err == nil {
		err = marks{}.restore(v)
	}
	return v, err
}})
