package perp

import (
	"iter"
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
		for pair := range interests(&b.Contexts[i]) {
			p.pairs.Want(r, pair, b.Contexts[i].Time)
		}
	}
}

// Apply takes open interest.
func (p *pairInterests) Apply(b *Batch, r *engine.Reads, _ time.Time) error {
	for i := range b.Contexts {
		for pair, value := range interests(&b.Contexts[i]) {
			if err := p.pairs.Add(r, pair, b.Contexts[i].Time, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// interests are the pairs of perpetuals that have open interest, with that in US dollars,
// of which the stable coin that pays it counts as one.
func interests(c *market.Contexts) iter.Seq2[string, market.Decimal] {
	return func(yield func(string, market.Decimal) bool) {
		if c.Spot || c.Dex != "" {
			return
		}
		for i := range c.Coins {
			one := &c.Coins[i]
			pair, ok := pairs.Perp(one.Coin)
			if ok && one.Interest.IsPos() && !yield(pair.Key, market.Notional(one.Mark, one.Interest)) {
				return
			}
		}
	}
}

// Changes returns the rows once in a while, and no sooner when others are settled.
func (p *pairInterests) Changes(now time.Time, _ bool) engine.Changes {
	return engine.Changes{Fine: p.pairs.Changes(now, false)}
}
