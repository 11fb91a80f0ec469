package perp

import (
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/packs"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
)

// pairInterests keeps the open interest that the venue reports of its main dex's perpetuals,
// as that of pairs of a platform: the centralised exchanges sum theirs up with it.
type pairInterests struct {
	engine.Defaults[*Batch]
	pairs packs.Bars
}

// interestsEvery is between two writes, of two rows a pair. What is in memory only is lost
// when the process ends: the venue tells nothing of the past, so no checkpoint waits for it.
const interestsEvery = 5 * time.Minute

func newPairInterests() *pairInterests {
	return &pairInterests{pairs: packs.NewBars(pairseries.Interest, interestsEvery)}
}

// Name is that of the series.
func (*pairInterests) Name() string { return pairseries.Interest.Name() }

// Wants asks for the rows of open interest.
func (p *pairInterests) Wants(b *Batch, r *engine.Reads) {
	for i := range b.Contexts {
		eachInterest(&b.Contexts[i], func(pair string, ms int64, _ market.Decimal) error {
			p.pairs.Want(r, pair, ms)
			return nil
		})
	}
}

// Apply takes open interest.
func (p *pairInterests) Apply(b *Batch, r *engine.Reads, _ time.Time) error {
	for i := range b.Contexts {
		err := eachInterest(&b.Contexts[i], func(pair string, ms int64, value market.Decimal) error {
			return p.pairs.Add(r, pair, ms, value)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachInterest calls take with the open interest of each perpetual that has any, in US
// dollars, of which the stable coin that pays it counts as one.
func eachInterest(c *market.Contexts, take func(pair string, ms int64, value market.Decimal) error) error {
	if c.Spot || c.Dex != "" {
		return nil
	}
	for i := range c.Coins {
		one := &c.Coins[i]
		pair, ok := pairs.Perp(one.Coin)
		if !ok || !one.Interest.IsPos() {
			continue
		}
		if err := take(pair.Key, c.Time, market.Notional(one.Mark, one.Interest)); err != nil {
			return err
		}
	}
	return nil
}

// Changes returns the rows once in a while, and no sooner when others are settled.
func (p *pairInterests) Changes(now time.Time, _ bool) engine.Changes {
	return engine.Changes{Fine: p.pairs.Changes(now, false)}
}
