package exchange

import (
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/pairchanges"
	"quotary/shared/data/pairs"
	"quotary/shared/data/takerruns"
	"quotary/shared/market"
	"quotary/shared/store"
)

// takerRuns keeps the view of the newest large runs of takers of each pair that is priced in US
// dollars or the stable coin that followed pairs have, and writes the largest into the log of changes. Those of a pair that is no longer listed
// are dropped; of a quiet one they stay.
type takerRuns struct {
	engine.Defaults[*Batch]
	pace
	pairs  listedPairs
	from   map[string]market.Decimal // from which value runs are large, by pair
	byPair map[string]*pairRuns
	newest int64       // time of the newest trade, ms
	rows   []store.Row // of the log of changes, that are not written
	room   rowRoom
	left   *leftOut
}

type pairRuns struct {
	last int64 // id of the newest trade
	open *market.TakerRun
	runs []takerruns.Run // oldest first: the last takerruns.Most count
}

func newTakerRuns(left *leftOut) *takerRuns {
	return &takerRuns{from: map[string]market.Decimal{}, byPair: map[string]*pairRuns{}, room: roomOfChanges(), left: left}
}

// Name is that of the view.
func (*takerRuns) Name() string { return takerruns.Name }

// Restores has the view, and the pairs.
func (*takerRuns) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(takerruns.Published), restoredPairs}
}

// Restore takes both.
func (p *takerRuns) Restore(views map[string][]byte) error {
	v, err := engine.Restored(views, takerruns.Published)
	if err != nil {
		return err
	}
	p.newest = v.Time
	for _, pair := range v.Pairs {
		of := &pairRuns{last: pair.Last, runs: pair.Runs}
		if pair.Open != nil {
			of.open = new(pair.Open.Of())
		}
		p.byPair[pair.Key] = of
	}
	listed, err := engine.Restored(views, pairs.Published)
	if err != nil {
		return err
	}
	for i := range listed.Pairs {
		p.know(&listed.Pairs[i].Pair)
	}
	return nil
}

// know notes from which value runs of a pair are large.
func (p *takerRuns) know(pair *market.Pair) {
	if pair.Quote == quoteCoin || pair.Inverse {
		p.from[pair.Key] = market.RunFrom(pair.Coin())
	}
}

// Apply takes trades that are newer than those that are known.
func (p *takerRuns) Apply(b *Batch, _ *engine.Reads, now time.Time) error {
	for i := range b.Listings {
		for j := range b.Listings[i].Pairs {
			p.know(&b.Listings[i].Pairs[j])
		}
	}
	for _, key := range p.pairs.list(b.Listings) {
		delete(p.from, key)
		if _, known := p.byPair[key]; known {
			delete(p.byPair, key)
			p.changed = true
		}
	}
	for i := range b.Trades {
		p.trade(&b.Trades[i], now)
	}
	return nil
}

func (p *takerRuns) trade(t *market.PairTrade, now time.Time) {
	from, priced := p.from[t.Pair]
	if !priced {
		return
	}
	of := p.byPair[t.Pair]
	if of == nil {
		of = new(pairRuns)
		p.byPair[t.Pair] = of
	}
	if of.last != 0 && !t.Follows(of.last) {
		return
	}
	of.last, p.newest, p.changed = t.ID, max(p.newest, t.Time), true
	if of.open != nil && of.open.Add(t) {
		return
	}
	if of.open != nil && of.open.Value.Cmp(from) >= 0 {
		if len(of.runs) >= 2*takerruns.Most {
			of.runs = append(of.runs[:0], of.runs[len(of.runs)-takerruns.Most+1:]...)
		}
		of.runs = append(of.runs, takerruns.NewRun(of.open))
		if change, large := market.ChangeOfRun(t.Pair, of.open, from); large && p.room.takeChange(t.Pair, now, p.left) {
			p.rows = pairchanges.AppendRows(p.rows, []market.PairChange{change})
		}
	}
	of.open = new(market.RunOf(t))
}

// Changes returns the rows, and the view once in a while.
func (p *takerRuns) Changes(now time.Time, settle bool) (c engine.Changes) {
	if len(p.rows) > 0 {
		c.Log = []engine.LogRows{{Dataset: pairchanges.Name, Rows: p.rows}}
		p.rows = nil
	}
	if !p.due(now, settle, viewEvery) {
		return c
	}
	v := takerruns.View{Time: p.newest}
	for key, of := range p.byPair {
		pair := takerruns.Pair{Key: key, Last: of.last, Runs: of.runs[max(0, len(of.runs)-takerruns.Most):]}
		if of.open != nil {
			pair.Open = new(takerruns.NewRun(of.open))
		}
		v.Pairs = append(v.Pairs, pair)
	}
	c.Views = []engine.View{engine.ViewOf(takerruns.Published, v)}
	return c
}
