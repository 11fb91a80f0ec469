package exchange

import (
	"testing"
	"time"

	"quotary/shared/data/pairbooks"
	"quotary/shared/market"
)

func TestTheViewHasTheBestLevelsOfBooksThatChange(t *testing.T) {
	t.Parallel()
	p := newBooks()
	now := noon
	apply := func(pair string, at time.Time, bid int64, levels int) {
		t.Helper()
		book := market.PairBook{Pair: pair, Time: at.UnixMilli(), Asks: []market.PairLevel{{Px: dec(bid + 1), Sz: dec(3)}}}
		for i := range levels {
			book.Bids = append(book.Bids, market.PairLevel{Px: dec(bid - int64(i)), Sz: dec(2)})
		}
		if err := p.Apply(&Batch{PairEvents: market.PairEvents{Books: []market.PairBook{book}}}, nil, now); err != nil {
			t.Fatal(err)
		}
	}
	published := func() (pairbooks.View, bool) {
		t.Helper()
		views := p.Changes(now, false).Views
		if len(views) == 0 {
			return pairbooks.View{}, false
		}
		v, err := pairbooks.Decode(views[0].Body)
		if err != nil {
			t.Fatal(err)
		}
		return v, true
	}
	apply("b:x", now, 500, 150)
	apply("a:x", now, 600, 1)
	apply("b:x", now.Add(-time.Second), 900, 1) // late
	v, ok := published()
	b, _ := v.Of("b:x")
	if !ok || len(v.Books) != 2 || len(b.Bids) != pairbooks.Levels || !b.Bids[0][0].Equal(dec(500)) || !b.Bids[99][0].Equal(dec(401)) || !b.Asks[0][1].Equal(dec(3)) || v.Time != now.UnixMilli() {
		t.Fatalf("%+v", v)
	}
	apply("a:x", now.Add(time.Minute+time.Millisecond), 601, 1)
	if _, ok := published(); ok {
		t.Error("a second view comes at once")
	}
	now = now.Add(booksEvery)
	if v, _ = published(); len(v.Books) != 1 || v.Books[0].Pair != "a:x" {
		t.Errorf("of a book that stands still there is %+v", v)
	}
	now = now.Add(booksEvery)
	if _, ok := published(); ok {
		t.Error("nothing has changed, and a view comes")
	}
}
