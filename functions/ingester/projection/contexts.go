package projection

import (
	"encoding/json"
	"fmt"
	"strings"

	"quotary/shared/market"
	"quotary/shared/store"
)

// contexts keeps the figures of all coins as the venue wrote them, and the mark
// prices among them.
type contexts struct {
	time    int64 // of the newest, ms
	perps   map[string]json.RawMessage
	spot    json.RawMessage
	marks   map[string]market.Decimal
	changed bool
}

// contextsView is the view of figures: pairs of a description and the figures.
type contextsView struct {
	Time  int64                      `json:"time"`
	Perps map[string]json.RawMessage `json:"perps"` // by dex, "" is the main one
	Spot  json.RawMessage            `json:"spot"`
}

func newContexts() contexts {
	return contexts{perps: map[string]json.RawMessage{}, marks: map[string]market.Decimal{}}
}

func (p *contexts) apply(c *market.Contexts) {
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

func (p *contexts) body() []byte {
	p.changed = false
	return encode(contextsView{p.time, p.perps, p.spot})
}

func (p *contexts) restore(bodies map[string][]byte) error {
	var v contextsView
	if err := restore(bodies, store.ContextsView, &v); err != nil {
		return err
	}
	for dex, raw := range v.Perps {
		c, err := market.ParseContexts(strings.Clone(dex), v.Time, raw)
		if err != nil {
			return fmt.Errorf("read view %s: dex %q: %w", store.ContextsView, dex, err)
		}
		p.apply(&c)
	}
	if len(v.Spot) > 0 && string(v.Spot) != "null" {
		c, err := market.ParseSpotContexts(v.Time, v.Spot)
		if err != nil {
			return fmt.Errorf("read view %s: spot: %w", store.ContextsView, err)
		}
		p.apply(&c)
	}
	p.changed = false
	return nil
}
