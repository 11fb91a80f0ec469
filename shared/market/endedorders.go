package market

// endedOrders remembers which orders have ended, by the hour in which they did. The
// venue counts its orders, so the ids of an hour are dense: a bit each. It takes about
// ten bytes for the ends of an order that was placed long before.
type endedOrders struct {
	hours map[int64]map[int64]idBits // by hour, and by order id / 512
}

// idBits are 512 ids in a row.
type idBits [8]uint64

func (e *endedOrders) has(oid int64) bool {
	for _, hour := range e.hours {
		if bits, ok := hour[oid>>9]; ok && bits[oid>>6&7]>>(oid&63)&1 != 0 {
			return true
		}
	}
	return false
}

// add notes an end, and reports false where it is known.
func (e *endedOrders) add(oid, ms int64) bool {
	if e.has(oid) {
		return false
	}
	n := ms / hourMs
	hour := e.hours[n]
	if hour == nil {
		if e.hours == nil {
			e.hours = map[int64]map[int64]idBits{}
		}
		hour = map[int64]idBits{}
		e.hours[n] = hour
	}
	bits := hour[oid>>9]
	bits[oid>>6&7] |= 1 << (oid & 63)
	hour[oid>>9] = bits
	return true
}

// forget drops the hours that lie before a time.
func (e *endedOrders) forget(ms int64) {
	for hour := range e.hours {
		if (hour+1)*hourMs <= ms {
			delete(e.hours, hour)
		}
	}
}
