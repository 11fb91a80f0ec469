package feeds

import (
	"context"
	"sync"
	"time"

	"quotary/shared/data/arrivals"
	"quotary/shared/data/fills"
	"quotary/shared/data/klines"
	"quotary/shared/data/ledgers"
	liquidated "quotary/shared/data/liquidations"
	"quotary/shared/data/orders"
	"quotary/shared/market"
)

// arriving gives events their places in the order of arrival, in which they are published, and
// keeps the last of them. Its lock is the Guard of all topics whose frames have cursors: whoever
// holds it sees what arrived up to present published, and nothing behind.
//
// An event that sources deliver twice has the place of the first time. Where that may have been
// before the start, or is forgotten, the store knows it: see [market.Arrived].
type arriving struct {
	now   func() time.Time
	begun int64 // ms: what happened before may be stored already

	mu      sync.Mutex
	present market.Arrival // of the newest
	fills   firsts[fillKey]
	ledgers firsts[ledgerKey]

	recentFills   recent[market.Fill]
	recentFilled  recent[market.OrderStatus]
	recentLedgers recent[market.Ledger]
	recentTrades  recent[market.Trade]
	recentHour    recent[market.Fill] // of hours of the venue: whoever reads the stores may still find provisional ones

	storing map[market.Arrival]bool // what is not stored yet
	order   []market.Arrival        // the same in order, with some that is

	noting sync.Mutex // is held over a write, by what is late alone
	late   arrivals.Late
}

const (
	// fillsSeen and ledgersSeen are how many are remembered as delivered.
	fillsSeen   = 100_000
	ledgersSeen = 10_000
)

// first is when something came for the first time.
type first struct {
	at market.Arrival
	ms int64 // when it happened
}

// firsts are those of the last things. The zero value is empty.
type firsts[K comparable] struct {
	of      map[K]first
	ring    []K
	next    int
	dropped int64 // ms: of what happened by then some are forgotten
}

// add keeps the first of a new thing; of more than most the oldest is forgotten.
func (f *firsts[K]) add(key K, one first, most int) {
	if f.of == nil {
		f.of = map[K]first{}
	}
	f.of[key] = one
	if len(f.ring) < most {
		f.ring = append(f.ring, key)
		return
	}
	f.dropped = max(f.dropped, f.of[f.ring[f.next]].ms)
	delete(f.of, f.ring[f.next])
	f.ring[f.next] = key
	f.next = (f.next + 1) % most
}

// next is the place of one more event. The caller holds the lock.
func (a *arriving) next(late bool) market.Arrival {
	a.present = max(a.present&^1+2, market.ArrivalAt(a.now()))
	if late {
		a.present |= 1
	}
	return a.present
}

// arrive gives the events of a delivery their places, those that are late behind the others, as
// they are published. It returns those that are new: what happened since a time (ms), and what is
// late. The caller holds the lock.
func (a *arriving) arrive(e *market.Events, since int64) (fresh, late market.Events) {
	now := a.now()
	a.recentFills.forget(now)
	a.recentFilled.forget(now)
	a.recentLedgers.forget(now)
	a.recentTrades.forget(now)
	a.recentHour.forget(now)
	fresh = *e
	fresh.Fills, fresh.Provisional, fresh.Orders, fresh.Ledgers = nil, nil, nil, nil
	for _, pass := range [...]struct {
		late bool
		to   *market.Events
	}{{false, &fresh}, {true, &late}} {
		pass.to.Fills = append(pass.to.Fills, a.arriveFills(e.Fills, now, since, pass.late)...)
		pass.to.Provisional = append(pass.to.Provisional, a.arriveFills(e.Provisional, now, since, pass.late)...)
		for i := range e.Orders { // which one source delivers, once
			s := &e.Orders[i]
			if s.Time < since != pass.late {
				continue
			}
			s.Arrived = a.give(s.Time, pass.late, 0)
			pass.to.Orders = append(pass.to.Orders, *s)
			if s.Status == market.StatusFilled {
				a.recentFilled.add(now, *s)
			}
		}
		for i := range e.Trades {
			if t := &e.Trades[i]; t.Time < since == pass.late {
				t.Arrival = a.next(pass.late)
			}
		}
		for i := range e.Ledgers { // one that is late is published as any
			l := &e.Ledgers[i]
			if l.Time < since == pass.late && arriveOnce(a, &a.ledgers, keyOfLedger(l), ledgersSeen, l.Time, pass.late, &l.Arrived) {
				a.recentLedgers.add(now, *l)
				fresh.Ledgers = append(fresh.Ledgers, *l)
			}
		}
	}
	return fresh, late
}

// arriveFills gives those fills their places that are late, or those that are not, and returns the new ones.
func (a *arriving) arriveFills(list []market.Fill, now time.Time, since int64, late bool) (fresh []market.Fill) {
	for i := range list {
		f := &list[i]
		if f.Time < since == late && arriveOnce(a, &a.fills, keyOf(f), fillsSeen, f.Time, late, &f.Arrived) {
			a.recentFills.add(now, *f)
			fresh = append(fresh, *f)
		}
	}
	return fresh
}

// arriveOnce gives an event its place, and reports whether it is new.
func arriveOnce[K comparable](a *arriving, firsts *firsts[K], key K, most int, ms int64, late bool, to *market.Arrived) bool {
	if one, ok := firsts.of[key]; ok {
		*to = market.Arrived{At: one.at, Again: to.Again || ms < a.begun}
		return false
	}
	again := to.Again
	*to = a.give(ms, late, firsts.dropped)
	to.Again = to.Again || again
	firsts.add(key, first{to.At, ms}, most)
	return true
}

// give is the place of an event that happened at a time. What happened by another may have come
// before.
func (a *arriving) give(ms int64, late bool, dropped int64) market.Arrived {
	at := a.next(late)
	if a.storing == nil {
		a.storing = map[market.Arrival]bool{}
	}
	a.storing[at] = true
	a.order = append(a.order, at)
	return market.Arrived{At: at, Again: late || ms < a.begun || ms <= dropped}
}

// stored notes that events are stored.
func (a *arriving) stored(e *market.Events) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, list := range [...][]market.Fill{e.Fills, e.Provisional} {
		for i := range list {
			delete(a.storing, list[i].Arrived.At)
		}
	}
	for i := range e.Orders {
		delete(a.storing, e.Orders[i].Arrived.At)
	}
	for i := range e.Ledgers {
		delete(a.storing, e.Ledgers[i].Arrived.At)
	}
	n := 0
	for n < len(a.order) && !a.storing[a.order[n]] {
		n++
	}
	a.order = a.order[n:]
}

// storedUpTo is the place up to which all events are stored. The caller holds the lock.
func (a *arriving) storedUpTo() market.Arrival {
	if len(a.order) > 0 {
		return a.order[0] - 1
	}
	return a.present
}

// behind is for how long the oldest event that is not stored has waited. The caller holds the
// lock.
func (a *arriving) behind() time.Duration {
	if len(a.order) == 0 {
		return 0
	}
	return a.now().Sub(a.order[0].When())
}

// noteLate notes how far back the late ones among events lie, before they are stored.
func (a *arriving) noteLate(ctx context.Context, e *market.Events) error {
	a.noting.Lock()
	defer a.noting.Unlock()
	note := func(name string, at market.Arrival, ms int64) error { return a.late.Add(ctx, name, at, ms) }
	if err := a.noteFills(ctx, e.Fills, e.Provisional); err != nil {
		return err
	}
	for i := range e.Fills {
		if f := &e.Fills[i]; f.Crossed && f.IsTrade() {
			if err := note(klines.Name, f.Arrived.At, f.Time); err != nil {
				return err
			}
		}
	}
	for i := range e.Orders {
		if err := note(orders.OtherName, e.Orders[i].Arrived.At, e.Orders[i].Time); err != nil {
			return err
		}
	}
	for i := range e.Trades {
		if err := note(klines.Name, e.Trades[i].Arrival, e.Trades[i].Time); err != nil {
			return err
		}
	}
	return a.noteLedgers(ctx, e.Ledgers)
}

// noteFills notes how far back the late ones among fills lie. The caller holds noting.
func (a *arriving) noteFills(ctx context.Context, lists ...[]market.Fill) error {
	for _, list := range lists {
		for i := range list {
			if err := a.late.Add(ctx, fills.Name, list[i].Arrived.At, list[i].Time); err != nil {
				return err
			}
		}
	}
	return nil
}

// noteHour notes how far back the events of an hour lie that are new: their trades lie too far back for who asks for these.
func (a *arriving) noteHour(ctx context.Context, e market.Events, events []market.LiquidationEvent) error {
	a.noting.Lock()
	defer a.noting.Unlock()
	for i := range events {
		if err := a.late.Add(ctx, liquidated.Name, events[i].Arrival, events[i].Time); err != nil {
			return err
		}
	}
	if err := a.noteLedgers(ctx, e.Ledgers); err != nil {
		return err
	}
	return a.noteFills(ctx, e.Fills)
}

// noteLedgers notes how far back the late ones among ledger updates lie. The caller holds noting.
func (a *arriving) noteLedgers(ctx context.Context, list []market.Ledger) error {
	for i := range list {
		if err := a.late.Add(ctx, ledgers.Name, list[i].Arrived.At, list[i].Time); err != nil {
			return err
		}
	}
	return nil
}
