package exchange

import (
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/pairtrades"
	"quotary/shared/market"
)

// trades keeps the view of the newest trades of each followed pair. Those of a pair that
// has not traded for a day, or is no longer listed, are dropped.
type trades struct {
	pairs  listedPairs
	newest map[string][]pairtrades.Trade // by pair, oldest first: the last pairtrades.Most count
	last   int64                         // time of the newest of all, ms
}

const (
	tradesEvery = 5 * time.Second // between two views
	tradesFor   = int64(day / time.Millisecond)
)

func newTrades() Projection {
	return engine.KeepView(pairtrades.Published, noTrades).Every(tradesEvery)
}

func noTrades() *trades { return &trades{newest: map[string][]pairtrades.Trade{}} }

// Restore takes it.
func (p *trades) Restore(v pairtrades.View) error {
	p.last = v.Time
	for _, pair := range v.Pairs {
		p.newest[pair.Key] = pair.Trades
	}
	return nil
}

// Apply takes trades that are newer than those that are known: after a connection was made
// again some come again.
func (p *trades) Apply(b *Batch, _ time.Time) (changed bool) {
	for _, key := range p.pairs.list(b.Listings) {
		if _, known := p.newest[key]; known {
			delete(p.newest, key)
			changed = true
		}
	}
	for i := range b.Trades {
		t := &b.Trades[i]
		list := p.newest[t.Pair]
		if n := len(list); n > 0 && !t.Follows(list[n-1].ID) {
			continue
		}
		if len(list) >= 2*pairtrades.Most {
			list = append(list[:0], list[len(list)-pairtrades.Most+1:]...)
		}
		p.newest[t.Pair] = append(list, pairtrades.Trade{ID: t.ID, Time: t.Time, Px: t.Px, Sz: t.Sz, Paid: t.Value(), Sold: t.Side == market.Sell})
		p.last, changed = max(p.last, t.Time), true
	}
	return changed
}

// View has the newest trades of each pair; those of pairs that trade no more are forgotten.
func (p *trades) View(time.Time) pairtrades.View {
	v := pairtrades.View{Time: p.last}
	for key, list := range p.newest {
		if p.last-list[len(list)-1].Time > tradesFor {
			delete(p.newest, key)
			continue
		}
		v.Pairs = append(v.Pairs, pairtrades.Pair{Key: key, Trades: list[max(0, len(list)-pairtrades.Most):]})
	}
	return v
}
