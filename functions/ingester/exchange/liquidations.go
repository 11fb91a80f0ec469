package exchange

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/pairliquidations"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/store"
)

// liquidations keeps what was liquidated: the orders of each minute, of which each is one
// however often it comes, the series of sums that follow from them, and the view of the
// last 24 hours.
type liquidations struct {
	engine.Defaults[*Batch]
	pace
	perpetuals
	sums    *packs[market.Liquidated]
	orders  map[store.SeriesAt]*minuteOrders
	written time.Time

	recent map[string]map[int64]market.Liquidated // by pair and minute
	newest int64                                  // ms
}

type minuteOrders struct {
	all   pairseries.Orders
	dirty bool
	idle  int
}

// ordersEvery is between two writes of liquidations.
const ordersEvery = 5 * time.Second

func newLiquidations() *liquidations {
	return &liquidations{
		sums: newPacks(pairseries.Liquidations, ordersEvery), orders: map[store.SeriesAt]*minuteOrders{},
		recent: map[string]map[int64]market.Liquidated{},
	}
}

// Name is that of the series of sums.
func (*liquidations) Name() string { return pairseries.Liquidations.Name() }

// Restores has the view of the last 24 hours, and the pairs.
func (*liquidations) Restores() []engine.RestoredView {
	return []engine.RestoredView{engine.Restores(pairliquidations.Name, pairliquidations.Decode), restoredPairs}
}

// Restore takes both.
func (p *liquidations) Restore(views map[string][]byte) error {
	v, err := engine.Restored(views, pairliquidations.Name, pairliquidations.Decode)
	if err != nil {
		return err
	}
	p.newest = v.Time
	for _, pair := range v.Pairs {
		minutes := map[int64]market.Liquidated{}
		for _, m := range pair.Minutes {
			minutes[m.Time] = m.Liquidated()
		}
		p.recent[pair.Key] = minutes
	}
	return p.restorePairs(views)
}

// Wants asks for the orders of the minutes of new ones, and for the sums of the hour and
// the day that these are part of.
func (p *liquidations) Wants(b *Batch, r *engine.Reads) {
	for i := range b.Liquidations {
		l := &b.Liquidations[i]
		if at := pairseries.OrdersAt(l.Pair, l.Time); p.orders[at] == nil {
			r.Want(at, func(_ store.SeriesAt, row *store.Point) error {
				_, err := pairseries.DecodeOrders(l.Pair, row.Body)
				return err
			})
		}
		hour := market.Hour1.StartMs(l.Time)
		for quarter := hour; quarter < market.Hour1.NextMs(hour); quarter = market.Minute15.NextMs(quarter) {
			p.sums.want(r, l.Pair, pairseries.Tiers[0], quarter)
		}
		p.sums.want(r, l.Pair, pairseries.Tiers[1], hour)
	}
}

// Apply takes liquidations.
func (p *liquidations) Apply(b *Batch, r *engine.Reads, _ time.Time) error {
	p.list(b.Listings)
	for i := range b.Liquidations {
		if err := p.add(r, &b.Liquidations[i]); err != nil {
			return err
		}
	}
	return nil
}

// add takes one, and makes the sums of its minute and its hour anew.
func (p *liquidations) add(r *engine.Reads, l *market.PairLiquidation) error {
	at := pairseries.OrdersAt(l.Pair, l.Time)
	minute := p.orders[at]
	if minute == nil {
		minute = &minuteOrders{all: pairseries.Orders{}}
		if stored := r.Row(at); stored != nil {
			var err error
			if minute.all, err = pairseries.DecodeOrders(l.Pair, stored.Body); err != nil {
				return fmt.Errorf("read %s at %s: %w", at.SeriesKey, at.Time.Format(time.RFC3339), err)
			}
		}
		p.orders[at] = minute
	}
	minute.idle = 0
	if !minute.all.Add(l) {
		return nil
	}
	minute.dirty = true
	start := market.Minute1.StartMs(l.Time)
	sum := market.Liquidated{Time: start}
	for _, one := range minute.all {
		sum.Add(&one)
	}
	row, err := p.sums.row(r, l.Pair, pairseries.Tiers[0], start)
	if err != nil {
		return err
	}
	row.set(start, sum)
	p.remember(l, sum)

	hour := market.Liquidated{Time: market.Hour1.StartMs(l.Time)}
	for quarter := hour.Time; quarter < market.Hour1.NextMs(hour.Time); quarter = market.Minute15.NextMs(quarter) {
		row, err := p.sums.row(r, l.Pair, pairseries.Tiers[0], quarter)
		if err != nil {
			return err
		}
		for _, part := range row.pack {
			hour.Merge(&part)
		}
	}
	day, err := p.sums.row(r, l.Pair, pairseries.Tiers[1], hour.Time)
	if err != nil {
		return err
	}
	day.set(hour.Time, hour)
	return nil
}

// remember keeps the sum of a minute for the view.
func (p *liquidations) remember(l *market.PairLiquidation, sum market.Liquidated) {
	if p.recent[l.Pair] == nil {
		p.recent[l.Pair] = map[int64]market.Liquidated{}
	}
	p.recent[l.Pair][sum.Time] = sum
	p.newest, p.changed = max(p.newest, l.Time), true
}

// Changes returns the orders, the sums behind them, and the view once in a while.
func (p *liquidations) Changes(now time.Time, settle bool) (c engine.Changes) {
	if settle || now.Sub(p.written) >= ordersEvery {
		p.written = now
		for at, minute := range p.orders {
			switch {
			case minute.dirty:
				c.Coarse = append(c.Coarse, pairseries.OrdersRow(at, minute.all))
				minute.dirty = false
			case minute.idle >= idleWrites:
				delete(p.orders, at)
			}
			minute.idle++
		}
		c.Fine = p.sums.changes(now, true)
	}
	if p.due(now, settle, viewEvery) {
		c.Views = []engine.View{{Name: pairliquidations.Name, Body: pairliquidations.Encode(p.view())}}
	}
	return c
}

// view is the last 24 hours of every pair that is followed. What is older is forgotten.
func (p *liquidations) view() pairliquidations.View {
	v := pairliquidations.View{Time: p.newest}
	oldest := p.newest - pairliquidations.Window.Milliseconds()
	for _, key := range slices.Sorted(maps.Keys(p.recent)) {
		minutes := p.recent[key]
		maps.DeleteFunc(minutes, func(ms int64, _ market.Liquidated) bool { return ms < market.Minute1.StartMs(oldest) })
		pair, followed := p.byKey[key]
		if len(minutes) == 0 {
			delete(p.recent, key)
		}
		if len(minutes) == 0 || !followed {
			continue
		}
		one := pairliquidations.Pair{Key: key, Coin: pair.Coin(), Platform: pair.Platform}
		for _, ms := range slices.Sorted(maps.Keys(minutes)) {
			one.Minutes = append(one.Minutes, pairliquidations.NewMinute(minutes[ms]))
		}
		v.Pairs = append(v.Pairs, one)
	}
	return v
}
