package market

import (
	"strings"
)

// OpenOrders keeps all orders that rest in the books of the venue, in about 120 bytes
// each. It is fed by the statuses that orders come to, by the fills of all accounts, and
// by the venue's lists of what accounts have open. It is not safe for concurrent use.
// The zero value is empty.
//
// # What an order is, and what rests of it
//
// An order rests from its status open on, or triggered for one that waited for a price:
// a trigger that waits rests in no book. Every other status ends it. What rests is what
// was placed, less all its fills, and no more than what a status said less the fills
// behind that. Of an order that is known by lists alone, whose first fills may be
// missing, what the newest list said stands for that.
//
// # Order and repetition
//
// Statuses and fills may come late, twice and in any order, and the result is the same:
// an order that has ended never rests again, and its fills are a set. An end is
// remembered for two hours of statuses ([OpenOrders.Prune]); what an order that is not
// known comes to later than that is left out, unless it is read from the past.
type OpenOrders struct {
	slots map[int64]uint32 // by order id
	slabs [][]openOrder    // of slabSize each, so that they are never moved
	free  []uint32
	used  uint32 // slots that were ever used

	coins, tifs names

	accounts map[accountID]uint32 // the first slot of each, from 1; the orders have the others

	executed map[int64]*Execution // by order id, of those that were filled or listed; of unknown orders too
	ended    endedOrders
	changed  []bool // by coin: what rests has changed since [OpenOrders.Rank]

	newest int64 // time of the newest status, ms

	followed followed
}

const (
	slabSize = 4096

	// rememberEnds is how long the end of an order is remembered, and the fills of an
	// order that is not known, ms.
	rememberEnds = 2 * hourMs

	// unknownFilled bounds the orders that are known by their fills alone: the fills of
	// the past are read faster than its statuses. Behind it, what rests of an order from
	// the past may miss a fill. Where no status ever comes, there are no more than
	// unknownAlone of them.
	unknownFilled = 4_000_000
	unknownAlone  = 200_000

	// listedAfter is how long an order was placed before a list was made, ms, for its
	// absence there to say that it has ended: what was placed meanwhile may be missing.
	listedAfter = 60_000
)

// openOrder is an order in the table; it holds no pointer.
type openOrder struct {
	oid, placed                      int64
	px, orig, rest                   uint64
	account                          accountID
	next, previous                   uint32 // slots of the account's other orders, from 1; 0 is none
	coin                             uint16
	pxPlaces, origPlaces, restPlaces uint8
	tif                              uint8
	sell, reduceOnly                 bool
	seen                             bool // by a status of its own, not by lists alone
	free                             bool // no order
}

// OpenOrder is an order that rests.
type OpenOrder struct {
	Oid        int64
	Placed     int64    // ms
	Account    [20]byte // the address, without its 0x
	Coin       string
	Side       Side
	Px         Amount // quote units per base unit
	OrigSz, Sz Amount // base units: what was placed, and what rests
	ReduceOnly bool
	Tif        string // Gtc, Alo, ...; "" on triggers
	Seen       bool   // by a status of its own, not by lists alone
}

// Address is the account's, 0x and 40 lower-case hex digits.
func (o *OpenOrder) Address() string { return AddressOf(o.Account) }

// Value is price x what rests, quote units.
func (o *OpenOrder) Value() Decimal { return Notional(o.Px.Decimal(), o.Sz.Decimal()) }

// Len is how many orders are kept.
func (t *OpenOrders) Len() int { return len(t.slots) }

// Add takes in what an order came to, and reports whether anything changed. A status
// that is read from the past, or listed, is taken whatever its age.
func (t *OpenOrders) Add(s *OrderStatus, ofAnyAge bool) (changed bool) {
	changed = s.Time > t.newest
	t.newest = max(t.newest, s.Time)
	switch {
	case s.waits():
		t.follow(s, false)
	case s.isResting():
		changed = t.open(s, ofAnyAge, false) || changed
		t.follow(s, false)
	default:
		changed = t.end(s.Oid, s.Time) || changed
	}
	return changed
}

// waits reports whether the order waits for a price, or for another order.
func (s *OrderStatus) waits() bool {
	return s.Status == StatusOpen && !s.isResting() || strings.HasPrefix(s.Status, "waiting")
}

// isResting reports whether the order is in the book, as far as the status says.
func (s *OrderStatus) isResting() bool {
	return s.Status == StatusTriggered || s.Status == StatusOpen && (!s.IsTrigger || s.TriggerCondition == "Triggered")
}

// open takes in an order that rests, by its status or by a list.
func (t *OpenOrders) open(s *OrderStatus, ofAnyAge, listed bool) bool {
	if t.ended.has(s.Oid) {
		return false
	}
	slot, known := t.slots[s.Oid]
	if !known && !ofAnyAge && s.Time < t.newest-rememberEnds {
		return false
	}
	px, ok1 := ParseAmount(s.LimitPx)
	orig, ok2 := ParseAmount(s.OrigSz)
	rest, ok3 := ParseAmount(s.Sz)
	account, ok4 := ParseAccount(s.Address)
	if !ok1 || !ok2 || !ok3 || !ok4 || px.Places+orig.Places > maxPlaces {
		return false // no order of the venue, whose numbers are 64 bits
	}
	changed := false
	if !known {
		coin, ok := t.coins.id(s.Coin)
		if !ok {
			return false
		}
		slot = t.freeSlot()
		o := t.at(slot)
		*o = openOrder{oid: s.Oid, placed: s.Timestamp, account: account, coin: coin, sell: s.Side == "A",
			px: px.Coef, pxPlaces: px.Places, orig: orig.Coef, origPlaces: orig.Places, rest: orig.Coef, restPlaces: orig.Places}
		t.link(s.Oid, slot)
		t.touch(coin)
		changed = true
	}
	o := t.at(slot)
	if s.ReduceOnly && !o.reduceOnly {
		o.reduceOnly, changed = true, true
	}
	if tif, ok := t.tifs.id(s.Tif); ok && tif < 1<<8 && s.Tif > t.tifs.list[o.tif] { // once and again the same, whichever comes first
		o.tif, changed = uint8(tif), true
	}
	if !listed && !o.seen {
		o.seen, changed = true, true
		if e := t.executed[s.Oid]; e != nil {
			e.At, e.Remaining = 0, Amount{} // that was of lists, whose time is not exact
		}
	}
	if rest != orig && listed != o.seen {
		changed = t.execution(s.Oid).reported(s.Time, rest) || changed
	}
	if changed {
		t.setRest(o)
	}
	return changed
}

// end takes out an order for ever.
func (t *OpenOrders) end(oid, ms int64) bool {
	if !t.ended.add(oid, ms) {
		return false
	}
	delete(t.executed, oid)
	t.leave(oid)
	if slot, ok := t.slots[oid]; ok {
		t.touch(t.at(slot).coin)
		t.unlink(oid, slot)
	}
	return true
}

// AddFill takes in what was executed of an order, and reports whether anything changed.
// A fill that is read from the past is taken whatever its age.
func (t *OpenOrders) AddFill(f *Fill, ofAnyAge bool) bool {
	if !f.IsTrade() || t.ended.has(f.Oid) {
		return false
	}
	slot, known := t.slots[f.Oid]
	if !known && !t.keepsUnknown(f.Time, ofAnyAge) {
		return false
	}
	sz, ok := ParseAmount(f.Sz)
	if !ok || !t.execution(f.Oid).filled(OrderFill{f.Tid, f.Time, sz}) {
		return false
	}
	if known {
		t.setRest(t.at(slot))
	}
	return true
}

// keepsUnknown reports whether a fill of that time is kept whose order is not known.
func (t *OpenOrders) keepsUnknown(ms int64, ofAnyAge bool) bool {
	switch {
	case t.newest == 0:
		return len(t.executed) < unknownAlone
	case len(t.executed) >= unknownFilled:
		return false
	}
	return ofAnyAge || ms >= t.newest-rememberEnds
}

// Prune forgets what was remembered for long enough: ends, and fills of orders that are
// not known. It is not called while the past is still to be read.
func (t *OpenOrders) Prune() {
	t.ended.forget(t.newest - rememberEnds)
	for oid, e := range t.executed {
		if _, known := t.slots[oid]; !known && e.last() < t.newest-rememberEnds {
			delete(t.executed, oid)
		}
	}
}

// touch notes that what rests of a coin has changed.
func (t *OpenOrders) touch(coin uint16) {
	for int(coin) >= len(t.changed) {
		t.changed = append(t.changed, false)
	}
	t.changed[coin] = true
}

func (t *OpenOrders) shown(o *openOrder) OpenOrder {
	side := Buy
	if o.sell {
		side = Sell
	}
	return OpenOrder{Oid: o.oid, Placed: o.placed, Account: o.account, Coin: t.coins.list[o.coin], Side: side, Px: Amount{o.px, o.pxPlaces},
		OrigSz: Amount{o.orig, o.origPlaces}, Sz: Amount{o.rest, o.restPlaces}, ReduceOnly: o.reduceOnly, Tif: t.tifs.list[o.tif], Seen: o.seen}
}
