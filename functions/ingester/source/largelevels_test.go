package source

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"quotary/shared/market"
)

// largeBook is a book, and updates of 70 levels each, of which one in two hundred is large.
func largeBook() (*book, []BookUpdate) {
	random := rand.New(rand.NewPCG(1, 2))
	one := new(book)
	whole := BookUpdate{Snapshot: true, Last: 1, Time: 1_795_000_000_000}
	for i := range int64(1000) {
		whole.Bids = append(whole.Bids, level(60_000-i, 1+random.Int64N(3)))
		whole.Asks = append(whole.Asks, level(60_001+i, 1+random.Int64N(3)))
	}
	one.accept(&whole)
	size := func() int64 {
		if random.IntN(200) == 0 {
			return 34 + random.Int64N(10)
		}
		return random.Int64N(4)
	}
	var updates []BookUpdate
	for n := range int64(1000) {
		u := BookUpdate{First: n + 2, Last: n + 2, Prev: n + 1, Time: whole.Time + n}
		for range 35 {
			u.Bids = append(u.Bids, level(60_000-random.Int64N(200), size()))
			u.Asks = append(u.Asks, level(60_001+random.Int64N(200), size()))
		}
		updates = append(updates, u)
	}
	return one, updates
}

// What is said of large levels, change by change, is what the book has.
func TestLargeLevelsAreThoseOfTheBook(t *testing.T) {
	t.Parallel()
	one, updates := largeBook()
	pair := market.Pair{Key: "btcusdt:x", Base: "BTC", Quote: "USDT"}
	from := market.LargeFrom("btc")
	l := newLargeLevels(&pair, from)
	l.note(&BookUpdate{Snapshot: true}, one)
	known := map[string]market.Decimal{}
	large := 0
	for i := range updates[:100] {
		if one.accept(&updates[i]) != applied {
			t.Fatal("an update does not follow")
		}
		l.note(&updates[i], one)
		for _, e := range l.take(nil, one, 1<<60) {
			if e.Time != one.time || e.Number > one.last {
				t.Fatalf("%+v of the book at %d", e, one.time)
			}
			for _, level := range e.Levels {
				key := fmt.Sprint(level.Side, level.Px)
				if known[key] = level.Sz; market.Notional(level.Px, level.Sz).Cmp(market.LargeLeft(from)) < 0 {
					delete(known, key)
				}
			}
		}
		there := 0
		for _, s := range [...]*side{&one.bids, &one.asks} {
			of := market.Buy
			if s == &one.asks {
				of = market.Sell
			}
			for _, level := range s.levels {
				sz, said := known[fmt.Sprint(of, level.Px)]
				if value := market.Notional(level.Px, level.Sz); value.Cmp(from) >= 0 && !said || said && !sz.Equal(level.Sz) {
					t.Fatalf("update %d: %s at %s, said is %s", i, level.Sz, level.Px, sz)
				}
				if said {
					there++
				}
			}
		}
		if there != len(known) {
			t.Fatalf("%d levels are said, and %d of them are there", len(known), there)
		}
		large += there
	}
	if large == 0 {
		t.Error("no level was large: the test proves nothing")
	}
}

// However many large levels an exchange changes at once, so many changes wait.
func TestSoManyChangesOfLargeLevelsWait(t *testing.T) {
	t.Parallel()
	one, _ := largeBook()
	l := newLargeLevels(&market.Pair{Key: "btcusdt:x", Base: "BTC", Quote: "USDT"}, market.LargeFrom("btc"))
	l.note(&BookUpdate{Snapshot: true}, one)
	for n := range int64(100) {
		u := BookUpdate{First: n + 2, Last: n + 2, Prev: n + 1, Time: one.time + 1}
		for i := range int64(500) {
			u.Bids = append(u.Bids, level(60_000-i, 1000+n))
		}
		if one.accept(&u) != applied {
			t.Fatal("an update does not follow")
		}
		l.note(&u, one)
		waits := 0
		for i := range l.notes {
			waits += l.notes[i].Weight()
		}
		if waits != l.noted || waits > mostNotes+501 {
			t.Fatalf("behind %d updates %d wait, counted are %d", n+1, waits, l.noted)
		}
	}
	if l.take(nil, one, 1<<60); l.noted != 0 || len(l.notes) != 0 {
		t.Errorf("behind a delivery %d wait", l.noted)
	}
}

// An exchange that says ever better large levels has the worst dropped from its book, and never says
// that they are over.
func TestSoManyLargeLevelsAreFollowed(t *testing.T) {
	t.Parallel()
	one := new(book)
	one.accept(&BookUpdate{Snapshot: true, Last: 1, Time: 1_795_000_000_000, Bids: []market.PairLevel{level(1, 1)}, Asks: []market.PairLevel{level(2_000_000_000, 1)}})
	l := newLargeLevels(&market.Pair{Key: "btcusdt:x", Base: "BTC", Quote: "USDT"}, market.LargeFrom("btc"))
	l.note(&BookUpdate{Snapshot: true}, one)
	px, whole := int64(10), 0
	for n := range int64(40) {
		u := BookUpdate{First: n + 2, Last: n + 2, Prev: n + 1, Time: one.time + 1}
		for range 2000 {
			px++
			u.Bids = append(u.Bids, level(px, 1_000_000))
		}
		if one.accept(&u) != applied {
			t.Fatal("an update does not follow")
		}
		l.note(&u, one)
		for _, e := range l.take(nil, one, 1<<60) {
			if e.Whole {
				whole++
			}
		}
		if len(l.followed) > mostFollowed+len(u.Bids) {
			t.Fatalf("behind %d updates %d levels are followed", n+1, len(l.followed))
		}
	}
	if whole < 2 {
		t.Errorf("all levels are said %d times: what is followed no more must be said", whole)
	}
}

// BenchmarkLargeLevels is what a frame of 70 changes costs: the book alone, and with its large
// levels.
func BenchmarkLargeLevels(b *testing.B) {
	for _, noted := range []bool{false, true} {
		b.Run(fmt.Sprintf("noted=%t", noted), func(b *testing.B) {
			one, updates := largeBook()
			l := newLargeLevels(&market.Pair{Key: "btcusdt:x", Base: "BTC"}, market.LargeFrom("btc"))
			l.begin(one)
			n := int64(1)
			for b.Loop() {
				u := &updates[int(n)%len(updates)]
				u.Prev, u.First, u.Last = one.last, one.last+1, one.last+1
				one.accept(u)
				if noted {
					l.note(u, one)
				}
				if n++; n%50 == 0 {
					l.take(nil, one, 1<<60)
				}
			}
		})
	}
}
