package trading

import "quotary/localstack/sim/prices"

// LargeOrder is one that rests in a book, much larger than all else in it.
type LargeOrder struct {
	Bid   bool
	Price int64 // ticks
	Size  int64 // lots, when it was placed

	// Start and End are when it is in the book first and not any more, ms: books change then.
	Start, End int64

	// Trades is what takers trade of it, by the place of the trade in its minute.
	Trades map[int64]int64 // lots
}

// What becomes of large orders.
const (
	largeFilled    = iota
	largePartly    // a half is traded, and the rest cancelled
	largeCancelled // far from what is paid
	largeBait      // near it
	largeKinds
)

// largeEvery is in how many minutes there is one large order.
const largeEvery = 3

// largeOf is the large order of a minute, by its number; false where there is none. It begins in
// its first seconds, and rests for 13 to 40 seconds.
func (m *Market) largeOf(number int64) (o LargeOrder, ok bool) {
	if m.Large == 0 || number%largeEvery != 0 || m.Quiet && number%7 == 3 {
		return o, false
	}
	m.mu.Lock()
	o, ok = m.larges[number]
	m.mu.Unlock()
	if ok {
		return o, true
	}
	o = m.makeLarge(number)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.larges == nil || len(m.larges) > 1000 {
		m.larges = map[int64]LargeOrder{}
	}
	m.larges[number] = o
	return o, true
}

func (m *Market) makeLarge(number int64) LargeOrder {
	h := prices.Hash(m.seed, 55, uint64(number))
	kind := h % largeKinds
	o := LargeOrder{Bid: h>>8%2 == 0, Size: m.Large + int64(h>>16%1000)*m.Large/2000, Start: number*minute + BookEvery*int64(1+h>>32%8)}
	o.End = o.Start + BookEvery*int64(26+h>>40%54)
	o.Trades = map[int64]int64{}
	if kind == largeFilled || kind == largePartly {
		o.fill(m, number, kind)
	}
	o.Price = m.behind(o.Bid, o.Start, o.End, kind == largeCancelled)
	return o
}

// fill has takers trade it, in up to four parts, once it has rested for ten seconds, and takes it
// out of the book behind the last of them where that leaves nothing.
func (o *LargeOrder) fill(m *Market, number int64, kind uint64) {
	var places []int64
	for place := range m.PerMinute {
		if at := m.timeOf(number, place); at > o.Start+11*second && at <= o.End && len(places) < 4 {
			places = append(places, place)
		}
	}
	if kind == largePartly {
		places = places[:len(places)/2]
	}
	for _, place := range places {
		o.Trades[place] = o.Size / 4
	}
	if kind == largeFilled && len(places) > 0 {
		last := places[len(places)-1]
		o.Trades[last] = o.Size - o.Size/4*int64(len(places)-1)
		o.End = (m.timeOf(number, last) + BookEvery - 1) / BookEvery * BookEvery
	}
}

// behind is a price that is worse than the best one while an order rests, where nothing else does:
// far behind by half a percent, or near.
func (m *Market) behind(bid bool, start, end int64, far bool) int64 {
	low, high := m.price(start), m.price(start)
	for at := start; at <= end; at += BookEvery {
		px := m.price(at)
		low, high = min(low, px), max(high, px)
	}
	apart := apartAt(low)
	if bid {
		if far {
			low -= low / 200
		}
		return max(1, (low-1)/apart*apart-2*apart+1)
	}
	if far {
		high += high / 200
	}
	return (high/apart+3)*apart + 1
}

// left is what rests of it at a time (ms) in its life.
func (o *LargeOrder) left(m *Market, number, ms int64) int64 {
	left := o.Size
	for place, lots := range o.Trades {
		if m.timeOf(number, place) <= ms {
			left -= lots
		}
	}
	return left
}

// LargeOrders returns those that were placed from a time to another, ms, the end not included.
func (m *Market) LargeOrders(from, to int64) (list []LargeOrder) {
	for number := from / minute; number*minute < to; number++ {
		if o, ok := m.largeOf(number); ok && o.Start >= from && o.Start < to {
			list = append(list, o)
		}
	}
	return list
}

// putLarge puts the large order that rests at a time, ms, into its side of a book and, of a market
// that has such, something behind all others.
func (m *Market) putLarge(bids, asks []Level, mid, ms int64) (withBids, withAsks []Level) {
	if m.Large > 0 {
		percent := apartAt(mid) * 1000
		bids, asks = append(bids, Level{max(1, mid/percent-2) * percent, 1}), append(asks, Level{(mid/percent + 3) * percent, 1})
	}
	number := ms / minute
	o, ok := m.largeOf(number)
	if !ok || ms < o.Start || ms >= o.End {
		return bids, asks
	}
	level := Level{o.Price, o.left(m, number, ms)}
	if level.Size <= 0 {
		return bids, asks
	}
	if o.Bid {
		return insert(bids, level, func(l Level) bool { return l.Price < level.Price }), asks
	}
	return bids, insert(asks, level, func(l Level) bool { return l.Price > level.Price })
}

// insert puts a level before the first that is worse.
func insert(levels []Level, level Level, worse func(Level) bool) []Level {
	for i := range levels {
		if worse(levels[i]) {
			return append(levels[:i:i], append([]Level{level}, levels[i:]...)...)
		}
	}
	return append(levels, level)
}
