package exchange

import (
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/pairchanges"
	"quotary/shared/data/pairs"
	"quotary/shared/market"
	"quotary/shared/store"
)

// changes keeps the log of sudden changes of the followed pairs: those of minutes, as the exchange
// confirms them, and large liquidations. Runs of takers are said where they are folded ([takerRuns]).
// What it remembers begins with the UTC day: at each start the exchange is asked for its minutes
// from there on, those that were looked at before included.
type changes struct {
	engine.Defaults[*Batch]
	perpetuals
	pairs listedPairs
	days  map[string]*market.ChangeDay
	rows  []store.Row // that are not written
	room  rowRoom     // for liquidations: those of minutes are few by their rules
	left  *leftOut
}

func newChanges(left *leftOut) Projection {
	return &changes{days: map[string]*market.ChangeDay{}, room: roomOfChanges(), left: left}
}

// mostChanges is how many runs of takers, or liquidations, of a pair are said in a minute, at most:
// the list of changes shows the newest 100 of all pairs.
const mostChanges = 50

func roomOfChanges() rowRoom { return rowRoom{most: mostChanges, each: market.Minute1} }

// takeChange is take of a change. It counts those that there is no room for.
func (r *rowRoom) takeChange(pair string, now time.Time, left *leftOut) bool {
	ok := r.take(pair, now)
	if !ok {
		left.changes.Add(1)
	}
	return ok
}

// Name is that of the log.
func (*changes) Name() string { return pairchanges.Name }

// Restores has the pairs.
func (*changes) Restores() []engine.RestoredView { return []engine.RestoredView{restoredPairs} }

// Restore takes them.
func (p *changes) Restore(views map[string][]byte) error {
	listed, err := engine.Restored(views, pairs.Published)
	if err != nil {
		return err
	}
	p.pairs.byKey = make(map[string]listedPair, len(listed.Pairs))
	for i := range listed.Pairs {
		one := &listed.Pairs[i]
		p.pairs.byKey[one.Key] = listedPair{listedMarket{one.Platform, one.Swap, one.Inverse}, one.Followed}
	}
	return p.restorePairs(views)
}

// Apply takes minutes and liquidations. Of a minute whose rows were written before, so is what
// changed with it.
func (p *changes) Apply(b *Batch, _ *engine.Reads, now time.Time) error {
	p.list(b.Listings)
	for _, gone := range p.pairs.list(b.Listings) {
		delete(p.days, gone)
	}
	var found []market.PairChange
	for i := range b.Runs {
		run := &b.Runs[i]
		pair := p.pairs.byKey[run.Pair]
		if run.Interval != market.Minute1 || !pair.followed || pair.market.inverse {
			continue
		}
		if ended := p.minutes(&run.CandleRun); !run.Stored {
			found = append(found, ended...)
		}
	}
	for i := range b.Liquidations {
		l := &b.Liquidations[i]
		if pair, followed := p.byKey[l.Pair]; followed {
			if c, large := market.ChangeOfLiquidation(l, pair.Coin()); large && p.room.takeChange(l.Pair, now, p.left) {
				found = append(found, c)
			}
		}
	}
	p.rows = pairchanges.AppendRows(p.rows, found)
	return nil
}

// minutes returns what changed with the minutes of a run.
func (p *changes) minutes(run *market.CandleRun) (found []market.PairChange) {
	day := p.days[run.Pair]
	if day == nil {
		day = new(market.ChangeDay)
		p.days[run.Pair] = day
	}
	for i := range run.Candles {
		c := &run.Candles[i]
		if c.OpenTime < run.From || c.OpenTime >= run.To {
			continue
		}
		for _, kind := range day.Add(c) {
			found = append(found, market.PairChange{Pair: run.Pair, Kind: kind, Time: c.OpenTime + time.Minute.Milliseconds(), Px: c.Close})
		}
	}
	return found
}

// Changes returns the rows.
func (p *changes) Changes(time.Time, bool) (c engine.Changes) {
	if len(p.rows) > 0 {
		c.Log = []engine.LogRows{{Dataset: pairchanges.Name, Rows: p.rows}}
		p.rows = nil
	}
	return c
}
