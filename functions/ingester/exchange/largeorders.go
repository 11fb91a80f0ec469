package exchange

import (
	"maps"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/largeorders"
	"quotary/shared/market"
)

// largeOrders keeps the view of the large orders that rest in the books that are followed, and a
// row of each that is over.
type largeOrders struct {
	engine.Defaults[*Batch]
	pace
	pairs  listedPairs
	byPair map[string]*market.LargeOrders
	over   []market.LargeOrder // that are not written
	room   rowRoom
	left   *leftOut
}

const (
	// largeOrdersEvery is between two views.
	largeOrdersEvery = 5 * time.Second

	// mostOver is how many orders of a pair are kept that were over within an hour, at most: even the
	// busiest pair has few thousand a day. Their rows are kept for ever.
	mostOver = 5 * market.MostLarge
)

func newLargeOrders(left *leftOut) *largeOrders {
	return &largeOrders{byPair: map[string]*market.LargeOrders{}, room: rowRoom{most: mostOver, each: market.Hour1}, left: left}
}

// Name is that of the view and of the log.
func (*largeOrders) Name() string { return largeorders.Name }

// Restores has the view.
func (p *largeOrders) Restores() []engine.RestoredView {
	return []engine.RestoredView{{Name: largeorders.Name, Check: func(body []byte) error {
		return newLargeOrders(p.left).Restore(map[string][]byte{largeorders.Name: body})
	}}}
}

// Restore takes the orders that rested when the view was published. The first that a book says is
// which of them still do; how the others went is missed.
func (p *largeOrders) Restore(views map[string][]byte) error {
	v, err := engine.Restored(views, largeorders.Published)
	if err != nil {
		return err
	}
	for i := range v.Pairs {
		pair := &v.Pairs[i]
		running, err := v.Running(pair.Key)
		if err != nil {
			return err
		}
		p.byPair[pair.Key] = &market.LargeOrders{Running: running, Until: pair.Until, Heard: pair.Heard}
	}
	return nil
}

// Apply takes what books and trades say, and goes on to what happened [market.LargeDelay] ago.
func (p *largeOrders) Apply(b *Batch, _ *engine.Reads, now time.Time) error {
	for _, key := range p.pairs.list(b.Listings) {
		if of := p.byPair[key]; of != nil {
			p.over = of.Miss(p.over, of.Heard)
			delete(p.byPair, key)
			p.changed = true
		}
	}
	for i := range b.LargeLevels {
		e := &b.LargeLevels[i]
		of := p.byPair[e.Pair]
		if of == nil {
			of = new(market.LargeOrders)
			p.byPair[e.Pair] = of
		}
		of.AddLevels(e)
	}
	for i := range b.Trades {
		if of := p.byPair[b.Trades[i].Pair]; of != nil {
			of.AddTrade(&b.Trades[i])
		}
	}
	p.advance(now)
	return nil
}

func (p *largeOrders) advance(now time.Time) {
	until := now.Add(-market.LargeDelay).UnixMilli()
	for _, key := range slices.Sorted(maps.Keys(p.byPair)) {
		of := p.byPair[key]
		if of.Until < until {
			p.over = append(p.over, of.Advance(until)...)
			p.changed = true
		}
		p.left.largeLate.Add(of.Late)
		p.left.largeRefused.Add(of.Refused)
		of.Late, of.Refused = 0, 0
	}
}

// Changes returns the rows of the orders that are over, and the view once in a while.
func (p *largeOrders) Changes(now time.Time, settle bool) (c engine.Changes) {
	p.advance(now)
	p.over = slices.DeleteFunc(p.over, func(o market.LargeOrder) bool {
		kept := p.room.take(o.Pair, now)
		if !kept {
			p.left.largeRefused.Add(1)
		}
		return !kept
	})
	if len(p.over) > 0 {
		c.Log = []engine.LogRows{{Dataset: largeorders.Name, Rows: largeorders.AppendRows(nil, p.over)}}
		p.over = nil
	}
	if !p.due(now, settle, largeOrdersEvery) {
		return c
	}
	v := largeorders.View{}
	for key, of := range p.byPair {
		pair := largeorders.Pair{Key: key, Until: of.Until, Heard: of.Heard, Orders: []largeorders.Order{}}
		for i := range of.Running {
			pair.Orders = append(pair.Orders, largeorders.NewOrder(&of.Running[i]))
		}
		v.Time = max(v.Time, of.Until)
		v.Pairs = append(v.Pairs, pair)
	}
	c.Views = []engine.View{engine.ViewOf(largeorders.Published, v)}
	return c
}
