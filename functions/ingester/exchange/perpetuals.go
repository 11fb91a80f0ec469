package exchange

import (
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/pairs"
	"quotary/shared/market"
)

// pointsEvery is between two writes of rows of values that change all the time.
const pointsEvery = time.Minute

// perpetuals are the followed ones, by key and by coin. They are known from the view of
// pairs, and from lists as they come.
type perpetuals struct {
	byKey  map[string]market.Pair
	byCoin map[string][]string // keys, sorted
}

// restoredPairs is the view that tells them at a start.
var restoredPairs = engine.Restores(pairs.Published)

// restorePairs takes them from the view.
func (p *perpetuals) restorePairs(views map[string][]byte) error {
	v, err := engine.Restored(views, pairs.Published)
	if err != nil {
		return err
	}
	p.byKey = map[string]market.Pair{}
	for _, pair := range v.Pairs {
		if pair.Swap && pair.Followed {
			p.byKey[pair.Key] = pair.Pair
		}
	}
	p.sort()
	return nil
}

// list takes the pairs of the markets that were listed, and reports whether there were any of
// perpetuals.
func (p *perpetuals) list(listings []Listing) (changed bool) {
	for i := range listings {
		l := &listings[i]
		if !l.Swap {
			continue
		}
		if p.byKey == nil {
			p.byKey = map[string]market.Pair{}
		}
		for key, pair := range p.byKey {
			if pair.Platform == l.Platform && pair.Inverse == l.Inverse {
				delete(p.byKey, key)
			}
		}
		for _, pair := range l.Pairs {
			if l.Followed[pair.Key] {
				p.byKey[pair.Key] = pair
			}
		}
		changed = true
	}
	if changed {
		p.sort()
	}
	return changed
}

func (p *perpetuals) sort() {
	p.byCoin = map[string][]string{}
	for key, pair := range p.byKey {
		p.byCoin[pair.Coin()] = append(p.byCoin[pair.Coin()], key)
	}
	for _, keys := range p.byCoin {
		slices.Sort(keys)
	}
}
