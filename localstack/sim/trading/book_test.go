package trading

import (
	"testing"
)

// The changes of each step turn the book of the step before into that of this one, whose
// bids are below its asks.
func TestTheChangesOfABookMakeTheNext(t *testing.T) {
	t.Parallel()
	m := Open(7, []*Market{{Symbol: "BTCUSDT", Base: "BTC", Quote: "USDT", Tick: 1, Lot: 5, MaxLots: 1000, PerMinute: 60}})[0]
	const start = 1_790_000_000_000
	book := func(ms int64) (bids, asks map[int64]int64) {
		b, a := m.Book(ms)
		of := func(levels []Level) map[int64]int64 {
			sizes := map[int64]int64{}
			for _, l := range levels {
				sizes[l.Price] = l.Size
			}
			return sizes
		}
		if b[0].Price >= a[0].Price || len(b) < bookLevels/2 || len(a) < bookLevels/2 {
			t.Fatalf("%d bids below %d, %d asks above %d", len(b), b[0].Price, len(a), a[0].Price)
		}
		return of(b), of(a)
	}
	bids, asks := book(start)
	changed := 0
	for ms := int64(start); ms < start+600*BookEvery; {
		ms += BookEvery
		b, a := m.BookChanges(ms)
		for side, list := range map[*map[int64]int64][]Level{&bids: b, &asks: a} {
			for _, l := range list {
				changed++
				if (*side)[l.Price] = l.Size; l.Size == 0 {
					delete(*side, l.Price)
				}
			}
		}
		wantBids, wantAsks := book(ms + BookEvery/2) // until the next step
		for price, size := range wantBids {
			if bids[price] != size {
				t.Fatalf("a bid at %d of %d, want %d", price, bids[price], size)
			}
		}
		for price, size := range wantAsks {
			if asks[price] != size {
				t.Fatalf("an ask at %d of %d, want %d", price, asks[price], size)
			}
		}
		if len(bids) != len(wantBids) || len(asks) != len(wantAsks) {
			t.Fatalf("%d bids and %d asks, want %d and %d", len(bids), len(asks), len(wantBids), len(wantAsks))
		}
	}
	if changed < 1200 || changed > 60_000 {
		t.Errorf("%d changes in 600 steps", changed)
	}
}
