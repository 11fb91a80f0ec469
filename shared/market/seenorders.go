package market

import "slices"

// SeenOrders are the orders of an account that were filled lately, so that [FactsByHour] counts each
// of them once in a window. The zero value knows none.
//
// It is bounded: an order is known as long as fewer than a thousand others are filled behind its
// last fill. One that is filled again after that counts as another.
type SeenOrders struct {
	Orders []SeenOrder // the one that was filled last at the end, each once
}

// SeenOrder is an order, and the hours (their beginnings, ms; 0 for none) in which it was filled last,
// and in which fills of it last liquidated the account.
type SeenOrder struct {
	Oid                int64
	Filled, Liquidated int64
}

// mostSeenOrders bounds the orders that are known.
const mostSeenOrders = 1000

// Fill takes a fill of the account into what it did. Fills come in the order of time: of an order the
// newest hour alone is known, and of those that come late for it each counts as the first of its hour.
func (s *SeenOrders) Fill(did FactsByHour, f *Fill) {
	at := len(s.Orders) - 1
	for at >= 0 && s.Orders[at].Oid != f.Oid {
		at--
	}
	order := SeenOrder{Oid: f.Oid}
	if at >= 0 {
		order = s.Orders[at]
		s.Orders = slices.Delete(s.Orders, at, at+1)
	}
	seen := OrderSeen{Filled: hourSeen(order.Filled), Liquidated: hourSeen(order.Liquidated)}
	did.Fill(f, &seen)
	order.Filled, order.Liquidated = seen.Filled.newest(), seen.Liquidated.newest()
	if len(s.Orders) == mostSeenOrders {
		s.Orders = slices.Delete(s.Orders, 0, 1)
	}
	s.Orders = append(s.Orders, order)
}

func hourSeen(hour int64) HoursSeen {
	if hour == 0 {
		return nil
	}
	return HoursSeen{hour}
}

// newest is the newest hour; 0 for none.
func (s HoursSeen) newest() int64 {
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1]
}
