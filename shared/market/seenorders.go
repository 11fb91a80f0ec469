package market

import (
	"cmp"
	"slices"
)

// SeenOrders are the orders of an account that were filled lately, so that [FactsByHour] counts each
// of them once in a window, and when builders routed some. The zero value knows none.
//
// It is bounded: an order is known as long as fewer than a thousand others are filled behind its
// last fill. One that is filled again after that counts as another. Of the builders only the first
// [MostBuilders] count at all.
type SeenOrders struct {
	Orders   []SeenOrder   // by when they were filled last and by their ids, each once
	Builders []SeenBuilder // by their addresses, each once
}

// SeenOrder is an order, and when it was filled last, when a fill of it last liquidated the account, and
// when its builder routed one last, ms; 0 for never.
type SeenOrder struct {
	Oid                        int64
	Filled, Liquidated, Routed int64
}

// SeenBuilder is a builder, and the hours in which it routed fills of the account: those within two days
// before the newest, and the last one before them.
type SeenBuilder struct {
	Address [20]byte
	Hours   HoursSeen
}

// MostBuilders bounds the builders that count for an account: several times as many as one approves at a
// time.
const MostBuilders = 50

// seenFor is how long before the newest hour others are known, ms: what is later than that is folded
// from the beginning.
const seenFor = 48 * hourMs

// builder is what is known of the builder of a fill; nil of one that does not count.
func (s *SeenOrders) builder(f *Fill) *HoursSeen {
	id, ok := ParseAccount(f.Builder)
	if !ok || f.Tid == 0 {
		return nil
	}
	at, known := slices.BinarySearchFunc(s.Builders, id, func(b SeenBuilder, id [20]byte) int { return CompareAccounts(b.Address, id) })
	if !known {
		if len(s.Builders) == MostBuilders {
			return nil
		}
		s.Builders = slices.Insert(s.Builders, at, SeenBuilder{Address: id})
	}
	return &s.Builders[at].Hours
}

// forget forgets the hours that nothing comes before any more.
func (s *HoursSeen) forget() {
	oldest, n := (*s)[len(*s)-1]-seenFor, 0
	for (*s)[n] < oldest {
		n++
	}
	*s = slices.Delete(*s, 0, max(0, n-1))
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
// of its hour. Fills of different orders may come in any order within two days. It reports whether the
// builder of the fill counts, if it has one.
func (s *SeenOrders) Fill(did FactsByHour, f *Fill) (counts bool) {
	at := len(s.Orders) - 1
	for at >= 0 && s.Orders[at].Oid != f.Oid {
		at--
	}
	order := SeenOrder{Oid: f.Oid}
	if at >= 0 {
		order = s.Orders[at]
	}
	seen, builder := OrderSeen{Filled: hourSeen(order.Filled), Liquidated: hourSeen(order.Liquidated), Routed: hourSeen(order.Routed)}, s.builder(f)
	did.Fill(f, &seen, builder)
	if builder != nil {
		builder.forget()
		order.Routed = max(order.Routed, f.Time)
	}
	counts = builder != nil || f.Builder == "" || f.Tid == 0
	if f.Tid != 0 {
		order.Filled = max(order.Filled, f.Time)
	}
	if _, ok := LiquidationOf(f); ok {
		order.Liquidated = max(order.Liquidated, f.Time)
	}
	if order.last() == 0 { // it was no trade, and liquidated nobody
		return counts
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
	return counts
}

// hourSeen are the hours that are known of what happened last at a time, ms.
func hourSeen(ms int64) HoursSeen {
	if ms == 0 {
		return nil
	}
	return HoursSeen{Hour1.StartMs(ms)}
}
