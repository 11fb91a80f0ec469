package market

import (
	"cmp"
	"slices"
)

// SeenOrders are the orders of an account that were filled lately, so that [FactsByHour] counts each
// of them once in a window. The zero value knows none.
//
// It is bounded: an order is known as long as fewer than a thousand others are filled behind its
// last fill. One that is filled again after that counts as another.
type SeenOrders struct {
	Orders []SeenOrder // by when they were filled last and by their ids, each once
}

// SeenOrder is an order, and when it was filled last and when a fill of it last liquidated the
// account, ms; 0 for never.
type SeenOrder struct {
	Oid                int64
	Filled, Liquidated int64
}

// last is when something was executed of the order last, ms.
func (o *SeenOrder) last() int64 { return max(o.Filled, o.Liquidated) }

// compare is the order in which they are kept.
func (o *SeenOrder) compare(with *SeenOrder) int {
	return cmp.Or(cmp.Compare(o.last(), with.last()), cmp.Compare(o.Oid, with.Oid))
}

// mostSeenOrders bounds the orders that are known.
const mostSeenOrders = 1000

// Fill takes a fill of the account into what it did. The fills of an order come in the order of time:
// of each the newest hour alone is known, and of those that come late for it each counts as the first
// of its hour. Fills of different orders may come in any order.
func (s *SeenOrders) Fill(did FactsByHour, f *Fill) {
	at := len(s.Orders) - 1
	for at >= 0 && s.Orders[at].Oid != f.Oid {
		at--
	}
	order := SeenOrder{Oid: f.Oid}
	if at >= 0 {
		order = s.Orders[at]
	}
	seen := OrderSeen{Filled: hourSeen(order.Filled), Liquidated: hourSeen(order.Liquidated)}
	did.Fill(f, &seen)
	if f.Tid != 0 {
		order.Filled = max(order.Filled, f.Time)
	}
	if _, ok := LiquidationOf(f); ok {
		order.Liquidated = max(order.Liquidated, f.Time)
	}
	if order.last() == 0 { // it was no trade, and liquidated nobody
		return
	}
	if at >= 0 {
		s.Orders = slices.Delete(s.Orders, at, at+1)
	}
	to := len(s.Orders)
	for to > 0 && order.compare(&s.Orders[to-1]) < 0 {
		to--
	}
	s.Orders = slices.Insert(s.Orders, to, order)
	if len(s.Orders) > mostSeenOrders {
		s.Orders = slices.Delete(s.Orders, 0, 1)
	}
}

// hourSeen are the hours that are known of what happened last at a time, ms.
func hourSeen(ms int64) HoursSeen {
	if ms == 0 {
		return nil
	}
	return HoursSeen{Hour1.StartMs(ms)}
}
