package perp

import (
	"strings"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/packedrows"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
)

// pairContexts keeps one of the figures that the venue reports of its main dex's perpetuals,
// as that of pairs of a platform: like those of centralised exchanges.
type pairContexts struct {
	engine.Defaults[*Batch]
	name    string
	pairs   packedrows.Bars
	ofCoins bool // what is traded by the thousand (kPEPE) is kept by its coin too ([pairs.PerpCoinKey])
	of      func(c *market.Context) (value market.Decimal, ok bool)
}

// Between two writes of a pair's row of minutes, and of that of hours. What is in memory only
// is lost when the process ends: the venue tells nothing of the past, so no checkpoint waits
// for it.
const (
	minutesEvery = time.Minute
	hoursEvery   = 5 * time.Minute
)

// newPairInterests returns open interest, US dollars, of which the stable coin that pays it
// counts as one. The centralised exchanges sum theirs up with it.
func newPairInterests() *pairContexts {
	p := newPairContexts(pairseries.Interest, func(c *market.Context) (market.Decimal, bool) {
		return market.Notional(c.Mark, c.Interest), c.Interest.IsPos()
	})
	p.ofCoins = true
	return p
}

// newPairFundings returns the funding rates that the venue expected. What it paid is in the
// fundings of coins.
func newPairFundings() *pairContexts {
	return newPairContexts(pairseries.Funding, func(c *market.Context) (market.Decimal, bool) {
		rate, err := market.ParseDecimal(c.Funding)
		return rate, err == nil
	})
}

func newPairContexts(s pairseries.Series[market.Bar], of func(c *market.Context) (market.Decimal, bool)) *pairContexts {
	return &pairContexts{name: s.Name(), pairs: packedrows.NewBars(s, minutesEvery, hoursEvery), of: of}
}

// Name is that of the series.
func (p *pairContexts) Name() string { return p.name }

// Prefetch asks for the rows of what a batch reports.
func (p *pairContexts) Prefetch(b *Batch, r *engine.Reads) {
	_ = p.each(b, func(pair string, ms int64, _ market.Decimal) error { // returns no error
		p.pairs.Want(r, pair, ms)
		return nil
	})
}

// Apply takes it.
func (p *pairContexts) Apply(b *Batch, r *engine.Reads, _ time.Time) error {
	return p.each(b, func(pair string, ms int64, value market.Decimal) error {
		return p.pairs.Add(r, pair, ms, value)
	})
}

// each calls do with the figure of each perpetual of the main dex that has one.
func (p *pairContexts) each(b *Batch, do func(pair string, ms int64, value market.Decimal) error) error {
	for i := range b.Contexts {
		c := &b.Contexts[i]
		if c.Spot || c.Dex != "" {
			continue
		}
		named := map[string]bool{} // in lower case
		for j := range c.Coins {
			named[strings.ToLower(c.Coins[j].Coin)] = true
		}
		for j := range c.Coins {
			pair, ok := pairs.Perp(c.Coins[j].Coin)
			if !ok {
				continue
			}
			value, ok := p.of(&c.Coins[j])
			if !ok {
				continue
			}
			if err := do(pair.Key, c.Time, value); err != nil {
				return err
			}
			if key := pairs.PerpCoinKey(pair.Coin()); p.ofCoins && key != pair.Key && !named[strings.ToLower(pair.Coin())] {
				if err := do(key, c.Time, value); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Changes returns the rows once in a while, and no sooner when others are settled.
func (p *pairContexts) Changes(now time.Time, _ bool) engine.Changes {
	return engine.Changes{Fine: p.pairs.Changes(now, false)}
}
