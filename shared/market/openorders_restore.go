package market

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// EndedOrders are the ends that fell into one hour, of 512 order ids in a row.
type EndedOrders struct {
	Hour  int64     // since 1970
	First int64     // the first id / 512
	Ended [8]uint64 // a bit for each id, the lowest first
}

// Newest is the time of the newest status, ms; 0 without any.
func (t *OpenOrders) Newest() int64 { return t.newest }

// All are the orders by id.
func (t *OpenOrders) All() iter.Seq[OpenOrder] {
	return func(yield func(OpenOrder) bool) {
		type slotOf struct {
			oid  int64
			slot uint32
		}
		slots := make([]slotOf, 0, len(t.slots))
		for slot := range t.used {
			if o := t.at(slot); !o.free {
				slots = append(slots, slotOf{o.oid, slot})
			}
		}
		slices.SortFunc(slots, func(a, b slotOf) int { return cmp.Compare(a.oid, b.oid) })
		for _, one := range slots {
			if !yield(t.shown(t.at(one.slot))) {
				return
			}
		}
	}
}

// Executions are what was executed of orders, by order id: of those that are open, and
// of those that are not known yet. The caller does not change them.
func (t *OpenOrders) Executions() iter.Seq2[int64, *Execution] {
	return func(yield func(int64, *Execution) bool) {
		for _, oid := range slices.Sorted(maps.Keys(t.executed)) {
			if !yield(oid, t.executed[oid]) {
				return
			}
		}
	}
}

// Ends are the ends that are remembered, by hour and order id.
func (t *OpenOrders) Ends() iter.Seq[EndedOrders] {
	return func(yield func(EndedOrders) bool) {
		for _, n := range slices.Sorted(maps.Keys(t.ended.hours)) {
			hour := t.ended.hours[n]
			for _, first := range slices.Sorted(maps.Keys(hour)) {
				if !yield(EndedOrders{n, first, hour[first]}) {
					return
				}
			}
		}
	}
}

// What follows brings back what the sequences gave: executions before the orders.

// RestoreNewest sets the time of the newest status, ms.
func (t *OpenOrders) RestoreNewest(ms int64) { t.newest = ms }

// RestoreExecution sets what was executed of an order.
func (t *OpenOrders) RestoreExecution(oid int64, e Execution) { *t.execution(oid) = e }

// RestoreEnds adds ends.
func (t *OpenOrders) RestoreEnds(e EndedOrders) {
	hour := t.ended.hours[e.Hour]
	if hour == nil {
		if t.ended.hours == nil {
			t.ended.hours = map[int64]map[int64]idBits{}
		}
		hour = map[int64]idBits{}
		t.ended.hours[e.Hour] = hour
	}
	hour[e.First] = e.Ended
}

// Restore adds an order; what rests of it follows from what was executed. It reports
// false where there are too many coins.
func (t *OpenOrders) Restore(o *OpenOrder) bool {
	coin, ok1 := t.coins.id(o.Coin)
	tif, ok2 := t.tifs.id(o.Tif)
	if _, known := t.slots[o.Oid]; known || !ok1 || !ok2 || tif >= 1<<8 {
		return false
	}
	slot := t.freeSlot()
	to := t.at(slot)
	*to = openOrder{oid: o.Oid, placed: o.Placed, account: o.Account, coin: coin, sell: o.Side == Sell, px: o.Px.Coef, pxPlaces: o.Px.Places,
		orig: o.OrigSz.Coef, origPlaces: o.OrigSz.Places, rest: o.OrigSz.Coef, restPlaces: o.OrigSz.Places,
		tif: uint8(tif), reduceOnly: o.ReduceOnly, seen: o.Seen}
	t.link(o.Oid, slot)
	t.touch(coin)
	t.setRest(to)
	return true
}
