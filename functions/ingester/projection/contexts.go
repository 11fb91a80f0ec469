package projection

import (
	"encoding/json"
	"fmt"

	"quotary/shared/data/contexts"
	"quotary/shared/market"
)

// figures keeps the figures of all coins as the venue wrote them, and the mark
// prices among them.
type figures struct {
	time    int64 // of the newest, ms
	perps   map[string]json.RawMessage
	spot    json.RawMessage
	marks   map[string]market.Decimal
	changed bool
}

func newFigures() figures {
	return figures{perps: map[string]json.RawMessage{}, marks: map[string]market.Decimal{}}
}

func (p *figures) apply(c *market.Contexts) {
	p.time = max(p.time, c.Time)
	p.changed = true
	if c.Spot {
		p.spot = c.Raw
	} else {
		p.perps[c.Dex] = c.Raw
	}
	for i := range c.Coins {
		p.marks[c.Coins[i].Coin] = c.Coins[i].Mark
	}
}

func (p *figures) body() []byte {
	p.changed = false
	marks := make(map[string]string, len(p.marks))
	for coin, px := range p.marks {
		marks[coin] = market.Text(px)
	}
	return contexts.Encode(contexts.View{Time: p.time, Perps: p.perps, Spot: p.spot, Marks: marks})
}

func (p *figures) restore(bodies map[string][]byte) error {
	v, err := restore(bodies, contexts.Name, contexts.Decode)
	if err != nil {
		return err
	}
	p.time, p.spot = v.Time, v.Spot
	for dex, raw := range v.Perps {
		p.perps[dex] = raw
	}
	for coin, text := range v.Marks {
		if p.marks[coin], err = market.ParseDecimal(text); err != nil {
			return fmt.Errorf("read view %s: mark price of %s: %w", contexts.Name, coin, err)
		}
	}
	return nil
}
