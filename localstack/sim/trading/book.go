package trading

import (
	"maps"
	"slices"

	"quotary/localstack/sim/prices"
)

// Level is what rests at a price.
type Level struct {
	Price int64 // ticks
	Size  int64 // lots
}

// BookEvery is how long a book stays as it is, ms: books change at multiples of it.
const BookEvery = int64(500)

// Shape of a book.
const (
	bookLevels = 80 // places of a side at which something may rest
	bookBroad  = 10_000
)

// Book returns what rests at a time (ms), the best first of both sides.
func (m *Market) Book(ms int64) (bids, asks []Level) {
	step := ms / BookEvery
	mid := m.price(step * BookEvery)
	apart := apartAt(mid)
	for i := range int64(bookLevels) {
		below, above := (mid-1)/apart-i, mid/apart+1+i
		if below > 0 {
			bids = m.rest(bids, 0, below*apart, step)
		}
		asks = m.rest(asks, 1, above*apart, step)
	}
	return m.putLarge(bids, asks, mid, step*BookEvery)
}

// apartAt is how far apart places are: about a hundredth of a percent, a power of ten of ticks, so
// that they stay where they are while the price moves.
func apartAt(mid int64) int64 {
	apart := int64(1)
	for mid/apart >= 10*bookBroad {
		apart *= 10
	}
	return apart
}

// rest appends what rests at a price, if anything does: it changes every few steps.
func (m *Market) rest(levels []Level, side uint64, price, step int64) []Level {
	h := prices.Hash(m.seed, 77, side, uint64(price))
	h = prices.Hash(h, uint64(step)/(3+h%13))
	if h%8 == 0 {
		return levels
	}
	return append(levels, Level{price, 1 + int64(h>>8%uint64(3*m.MaxLots))})
}

// BookChanges returns how the book at a time differs from that of the step before: levels
// as they are now, of which those that are gone have a size of 0.
func (m *Market) BookChanges(ms int64) (bids, asks []Level) {
	return m.BookChangesSince(ms-BookEvery, ms)
}

// BookChangesSince is [Market.BookChanges] for the book at an earlier time, ms.
func (m *Market) BookChangesSince(before, ms int64) (bids, asks []Level) {
	oldBids, oldAsks := m.Book(before)
	newBids, newAsks := m.Book(ms)
	return changes(oldBids, newBids), changes(oldAsks, newAsks)
}

func changes(before, after []Level) (changed []Level) {
	sizes := map[int64]int64{}
	for _, l := range before {
		sizes[l.Price] = l.Size
	}
	for _, l := range after {
		if sizes[l.Price] != l.Size {
			changed = append(changed, l)
		}
		delete(sizes, l.Price)
	}
	for _, price := range slices.Sorted(maps.Keys(sizes)) {
		changed = append(changed, Level{price, 0})
	}
	return changed
}
