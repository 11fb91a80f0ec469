package market

import (
	"cmp"
	"slices"
)

// Execution is what was executed of an order, and what a status or a list said of its
// rest.
type Execution struct {
	Fills     []OrderFill // by trade id
	At        int64       // when a status or a list said what rests, ms; 0 is never
	Remaining Amount      // what it said, base units
}

// OrderFill is a fill as it counts for its order.
type OrderFill struct {
	Tid, Time int64 // Time in ms
	Sz        Amount
}

// execution returns what is known to be executed of an order, to add to it.
func (t *OpenOrders) execution(oid int64) *Execution {
	e := t.executed[oid]
	if e == nil {
		if t.executed == nil {
			t.executed = map[int64]*Execution{}
		}
		e = new(Execution)
		t.executed[oid] = e
	}
	return e
}

// reported notes what rested at a time: of several the newest counts, of two at one time
// the smaller.
func (e *Execution) reported(ms int64, rest Amount) bool {
	if ms < e.At || ms == e.At && rest.Decimal().Cmp(e.Remaining.Decimal()) >= 0 {
		return false
	}
	e.At, e.Remaining = ms, rest
	return true
}

// filled adds a fill, once.
func (e *Execution) filled(f OrderFill) bool {
	i, found := slices.BinarySearchFunc(e.Fills, f.Tid, func(have OrderFill, tid int64) int { return cmp.Compare(have.Tid, tid) })
	if found {
		return false
	}
	e.Fills = slices.Insert(e.Fills, i, f)
	return true
}

// last is the time of the newest fill, ms.
func (e *Execution) last() (ms int64) {
	ms = e.At
	for _, f := range e.Fills {
		ms = max(ms, f.Time)
	}
	return ms
}

// setRest sets what rests of an order.
func (t *OpenOrders) setRest(o *openOrder) {
	rest := Amount{o.orig, o.origPlaces}
	if e := t.executed[o.oid]; e != nil {
		left, reported := rest.Decimal(), e.Remaining.Decimal()
		for _, f := range e.Fills {
			left = left.Sub(f.Sz.Decimal())
			if f.Time > e.At {
				reported = reported.Sub(f.Sz.Decimal())
			}
		}
		if e.At != 0 && reported.LessThan(left) {
			left = reported
		}
		var ok bool
		if rest, ok = amountOf(left); !ok {
			return // of more digits than the venue has
		}
	}
	if rest != (Amount{o.rest, o.restPlaces}) {
		o.rest, o.restPlaces = rest.Coef, rest.Places
		t.touch(o.coin)
		t.touchAccount(o.account)
	}
}
