package packedrows

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/pairliquidations"
	"quotary/shared/data/pairseries"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Liquidations keeps what was liquidated: the orders of each minute, of which each is one
// however often it comes and those that are parts of one count as one in a minute, the series of sums that follow from them, and a view of the last
// 24 hours.
type Liquidations struct {
	sums    *Rows[market.Liquidated]
	orders  map[store.SeriesAt]*minuteOrders
	written time.Time

	recent    map[string]map[int64]market.Liquidated // by pair and minute
	newest    int64                                  // ms
	changed   bool
	published time.Time

	leftOut *atomic.Int64
}

type minuteOrders struct {
	all   pairseries.Orders
	bytes int // that they take in the row
	dirty bool
	idle  int
}

const (
	ordersEvery = 5 * time.Second  // between two writes of liquidations
	viewEvery   = 10 * time.Second // between two versions of the view
)

// NewLiquidations returns those of nothing. It counts in leftOut those for which the row of
// their minute has no room ([pairseries.MostOrders]).
func NewLiquidations(leftOut *atomic.Int64) *Liquidations {
	return &Liquidations{
		leftOut: leftOut,
		sums:    New(pairseries.Liquidations, ordersEvery), orders: map[store.SeriesAt]*minuteOrders{},
		recent: map[string]map[int64]market.Liquidated{},
	}
}

// Restore takes the last 24 hours from the view.
func (p *Liquidations) Restore(v pairliquidations.View) {
	p.newest = v.Time
	for _, pair := range v.Pairs {
		minutes := map[int64]market.Liquidated{}
		for _, m := range pair.Minutes {
			minutes[m.Time] = m.Liquidated()
		}
		p.recent[pair.Key] = minutes
	}
}

// Want asks for the orders of the minute of a new one, and for the sums of the hour and the
// day that it is part of.
func (p *Liquidations) Want(r *engine.Reads, l *market.PairLiquidation) {
	if at := pairseries.OrdersAt(l.Pair, l.Time); p.orders[at] == nil {
		pair := l.Pair
		r.Prefetch(at, func(_ store.SeriesAt, row *store.Point) error {
			_, err := pairseries.DecodeOrders(pair, row.Body)
			return err
		})
	}
	hour := market.Hour1.StartMs(l.Time)
	for quarter := hour; quarter < market.Hour1.NextMs(hour); quarter = market.Minute15.NextMs(quarter) {
		p.sums.Want(r, l.Pair, pairseries.Tiers[0], quarter)
	}
	p.sums.Want(r, l.Pair, pairseries.Tiers[1], hour)
}

// Add takes those of a batch, and makes the sums of their minutes and hours again: once for all
// of a minute, as there may be thousands.
func (p *Liquidations) Add(r *engine.Reads, list []market.PairLiquidation) error {
	changed := map[store.SeriesAt]*market.PairLiquidation{} // one of each minute
	for i := range list {
		l := &list[i]
		at := pairseries.OrdersAt(l.Pair, l.Time)
		minute, loaded, err := p.minute(r, at, l.Pair)
		if err != nil {
			return err
		}
		switch added := p.add(minute, l); {
		case added, loaded:
			p.newest = max(p.newest, l.Time)
		default:
			continue
		}
		changed[at] = l // what was loaded may be from before a crash, and its sums not
	}
	for at, l := range changed {
		if err := p.sumUp(r, l, p.orders[at].all.Sum()); err != nil {
			return err
		}
	}
	return nil
}

// add adds one to its minute, and reports whether it is new and there is room for it.
func (p *Liquidations) add(minute *minuteOrders, l *market.PairLiquidation) bool {
	if minute.all.Has(l) {
		return false
	}
	bytes := minute.bytes + pairseries.OrderSize(l)
	if bytes > pairseries.MostOrders {
		p.leftOut.Add(1)
		return false
	}
	minute.bytes, minute.dirty = bytes, true
	return minute.all.Add(l)
}

// minute are the orders of the minute of a row, which was asked for where it is not known.
func (p *Liquidations) minute(r *engine.Reads, at store.SeriesAt, pair string) (minute *minuteOrders, loaded bool, err error) {
	if minute = p.orders[at]; minute != nil {
		minute.idle = 0
		return minute, false, nil
	}
	minute = &minuteOrders{all: pairseries.Orders{}}
	if stored := r.Row(at); stored != nil {
		if minute.all, err = pairseries.DecodeOrders(pair, stored.Body); err != nil {
			return nil, false, fmt.Errorf("read %s at %s: %w", at.SeriesKey, at.Time.Format(time.RFC3339), err)
		}
		minute.bytes = len(stored.Body)
	}
	p.orders[at] = minute
	return minute, true, nil
}

// sumUp sets the sum of the minute in which one was, and makes that of its hour again.
func (p *Liquidations) sumUp(r *engine.Reads, l *market.PairLiquidation, sum market.Liquidated) error {
	start := market.Minute1.StartMs(l.Time)
	sum.Time = start
	row, err := p.sums.Row(r, l.Pair, pairseries.Tiers[0], start)
	if err != nil {
		return err
	}
	row.Set(start, sum)
	p.remember(l.Pair, sum)

	hour := market.Liquidated{Time: market.Hour1.StartMs(l.Time)}
	for quarter := hour.Time; quarter < market.Hour1.NextMs(hour.Time); quarter = market.Minute15.NextMs(quarter) {
		row, err := p.sums.Row(r, l.Pair, pairseries.Tiers[0], quarter)
		if err != nil {
			return err
		}
		for _, part := range row.pack {
			hour.Merge(&part)
		}
	}
	day, err := p.sums.Row(r, l.Pair, pairseries.Tiers[1], hour.Time)
	if err != nil {
		return err
	}
	day.Set(hour.Time, hour)
	return nil
}

// remember keeps the sum of a minute for the view.
func (p *Liquidations) remember(pair string, sum market.Liquidated) {
	if p.recent[pair] == nil {
		p.recent[pair] = map[int64]market.Liquidated{}
	}
	p.recent[pair][sum.Time], p.changed = sum, true
}

// Clean reports whether everything is written, and is in the view: a later life takes the last
// 24 hours from that.
func (p *Liquidations) Clean() bool {
	if p.changed {
		return false
	}
	for _, minute := range p.orders {
		if minute.dirty {
			return false
		}
	}
	return p.sums.Clean()
}

// Changes returns the orders, the sums behind them and, once in a while, a view:
// of those pairs for which of does not report false.
func (p *Liquidations) Changes(now time.Time, settle bool, view store.ViewType[pairliquidations.View], of func(key string) (market.Pair, bool)) (c engine.Changes) {
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
		c.Fine = p.sums.Changes(now, true)
	}
	if p.changed && (settle || now.Sub(p.published) >= viewEvery) {
		p.changed, p.published = false, now
		c.Views = []engine.View{engine.ViewOf(view, p.view(of))}
	}
	return c
}

// view is the last 24 hours. What is older is forgotten.
func (p *Liquidations) view(of func(key string) (market.Pair, bool)) pairliquidations.View {
	v := pairliquidations.View{Time: p.newest}
	oldest := p.newest - pairliquidations.Window.Milliseconds()
	for _, key := range slices.Sorted(maps.Keys(p.recent)) {
		minutes := p.recent[key]
		maps.DeleteFunc(minutes, func(ms int64, _ market.Liquidated) bool { return ms < market.Minute1.StartMs(oldest) })
		pair, ok := of(key)
		if len(minutes) == 0 {
			delete(p.recent, key)
		}
		if len(minutes) == 0 || !ok {
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
