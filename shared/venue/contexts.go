// Package venue has what functions and the ingester both need of the perpetual exchange: its
// wire format is in package wire.
package venue

import (
	"fmt"

	"quotary/shared/data/contexts"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/venue/wire"
)

// PerpContexts is the view of contexts, read as the figures of the main dex's perpetuals: the
// view has them as the venue wrote them.
var PerpContexts = store.ViewType[market.Contexts]{Name: contexts.Name, Period: contexts.Published.Period, Read: func(body []byte) (market.Contexts, error) {
	v, err := contexts.Published.Decode(body)
	raw, ok := v.Perps[""]
	if err != nil || !ok {
		return market.Contexts{Time: v.Time}, err
	}
	c, err := wire.ParseContexts("", v.Time, raw)
	if err != nil {
		return c, fmt.Errorf("figures of the main dex: %w", err)
	}
	return c, nil
}}

// Figures are those of all markets that trading in them is measured by.
type Figures struct {
	Marks market.Marks              // mark prices by coin
	Day   map[string]market.Decimal // what was traded in the last 24 hours by coin, quote units; only where it is known
}

// AllFigures is the view of contexts, read as the figures of all markets.
var AllFigures = store.ViewType[Figures]{Name: contexts.Name, Period: contexts.Published.Period, Read: func(body []byte) (Figures, error) {
	v, err := contexts.Published.Decode(body)
	f := Figures{Marks: market.Marks{}, Day: map[string]market.Decimal{}}
	if err != nil {
		return f, err
	}
	for dex, raw := range v.Perps {
		c, err := wire.ParseContexts(dex, v.Time, raw)
		if err != nil {
			return f, fmt.Errorf("figures of dex %q: %w", dex, err)
		}
		f.add(&c)
	}
	if len(v.Spot) > 0 {
		c, err := wire.ParseSpotContexts(v.Time, v.Spot)
		if err != nil {
			return f, fmt.Errorf("figures of the spot markets: %w", err)
		}
		f.add(&c)
	}
	return f, nil
}}

func (f *Figures) add(c *market.Contexts) {
	for i := range c.Coins {
		of := &c.Coins[i]
		if !of.Mark.IsZero() {
			f.Marks[of.Coin] = of.Mark
		}
		if !of.Day.Amount.IsZero() {
			f.Day[of.Coin] = of.Day.Amount
		}
	}
}
