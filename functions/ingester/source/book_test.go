package source

import (
	"context"
	"fmt"
	"hash/crc32"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/market"
	"quotary/shared/text/jsonscan"
)

// truth is an order book at an exchange, sizes by price, with all of its updates.
type truth struct {
	bids, asks map[int64]int64
	last       int64
}

func level(px, sz int64) market.PairLevel {
	l, err := ParseLevel(strconv.FormatInt(px, 10), strconv.FormatInt(sz, 10))
	if err != nil {
		panic(err)
	}
	return l
}

// best are the best levels of a side, at most n.
func best(side map[int64]int64, sign int64, n int) (levels []market.PairLevel) {
	var prices []int64
	for px := range side {
		prices = append(prices, px)
	}
	slices.SortFunc(prices, func(a, b int64) int { return int(sign * (b - a)) })
	for _, px := range prices[:min(n, len(prices))] {
		levels = append(levels, level(px, side[px]))
	}
	return levels
}

// change makes some changes, of which each has a number, and the update that says so. Bids
// are below 1000, asks above.
func (b *truth) change(t *rapid.T) BookUpdate {
	u := BookUpdate{Symbol: "X", Prev: b.last, First: b.last + 1 + rapid.Int64Range(0, 3).Draw(t, "unused numbers")}
	u.Last = u.First
	for range rapid.IntRange(0, 5).Draw(t, "changes") {
		off, sz := rapid.Int64Range(1, 40).Draw(t, "price"), max(0, rapid.Int64Range(-5, 9).Draw(t, "size"))
		side, levels, px := b.bids, &u.Bids, 1000-off
		if rapid.Bool().Draw(t, "ask") {
			side, levels, px = b.asks, &u.Asks, 1000+off
		}
		if side[px] = sz; sz == 0 {
			delete(side, px)
		}
		*levels = append(*levels, level(px, sz))
		u.Last++
	}
	b.last = u.Last
	return u
}

func (b *truth) all(n int) BookUpdate {
	return BookUpdate{Symbol: "X", Snapshot: true, Last: b.last, Best: n, Bids: best(b.bids, 1, n), Asks: best(b.asks, -1, n)}
}

// Whatever updates are lost, come twice or come before the snapshot: what is known of the
// best levels is what the exchange has.
func TestABookIsThatOfTheExchangeOrWaitsForAWholeOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		exchange := truth{bids: map[int64]int64{}, asks: map[int64]int64{}}
		history := map[int64][2][]market.PairLevel{}
		const shown = 4
		note := func() {
			history[exchange.last] = [2][]market.PairLevel{best(exchange.bids, 1, shown), best(exchange.asks, -1, shown)}
		}
		var b book
		var last BookUpdate
		gaps, lost := 0, 0
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				exchange.change(t)
				note()
				lost++
				continue
			case 1:
				if last.Last > 0 {
					b.accept(&last)
				}
			case 2:
				snapshot := exchange.all(rapid.IntRange(5, 60).Draw(t, "levels"))
				note()
				b.accept(&snapshot)
			default:
				last = exchange.change(t)
				note()
				if b.accept(&last) == gap {
					gaps++
				}
			}
			if b.last == 0 {
				continue
			}
			for i, of := range []*side{&b.bids, &b.asks} {
				got, enough := of.best(shown)
				want := history[b.last][i]
				if enough {
					if diff := cmp.Diff(want, got, equal); diff != "" {
						t.Fatalf("side %d at number %d (-want +got):\n%s", i, b.last, diff)
					}
				} else if diff := cmp.Diff(want[:min(len(got), len(want))], got, equal); diff != "" {
					t.Fatalf("side %d at number %d, as far as it is known (-want +got):\n%s", i, b.last, diff)
				}
			}
		}
		if gaps > lost+1 { // each loss is found once, and a repetition before the first whole book
			t.Fatalf("%d gaps of %d losses", gaps, lost)
		}
	})
}

var equal = cmp.Comparer(func(a, b market.Decimal) bool { return a.Equal(b) })

func TestTheWholeBookContinuesWithTheChangesThatWaited(t *testing.T) {
	t.Parallel()
	var b book
	change := func(first, last, prev int64, sz int64) fate {
		return b.accept(&BookUpdate{First: first, Last: last, Prev: prev, Bids: []market.PairLevel{level(last, sz)}})
	}
	for _, got := range []fate{change(8, 10, 7, 1), change(11, 15, 10, 1), change(16, 16, 15, 1)} {
		if got != kept {
			t.Fatalf("%d before the snapshot", got)
		}
	}
	// Numbered 12, in the middle of the second.
	if got := b.accept(&BookUpdate{Snapshot: true, Last: 12}); got != applied || b.last != 16 {
		t.Fatalf("%d, at number %d", got, b.last)
	}
	if levels, enough := b.bids.best(9); len(levels) != 2 || !enough { // not of the first
		t.Errorf("%v, %t", levels, enough)
	}
	for _, step := range []struct {
		first, last, prev int64
		want              fate
		at                int64
	}{
		{16, 16, 15, old, 16}, {17, 17, 16, applied, 17}, {17, 17, 17, applied, 17}, {30, 31, 17, applied, 31},
		{5, 6, 31, applied, 6}, // numbers begin again
		{8, 9, 7, gap, 0},
	} {
		if got := change(step.first, step.last, step.prev, 1); got != step.want || b.last != step.at {
			t.Errorf("from %d to %d after %d: %d, at number %d; want %d, at %d", step.first, step.last, step.prev, got, b.last, step.want, step.at)
		}
	}
	if got := b.accept(&BookUpdate{Snapshot: true, Last: 5}); got != gap || b.last != 0 {
		t.Errorf("a snapshot before what waited: %d, at number %d", got, b.last)
	}
	if got := b.accept(&BookUpdate{Snapshot: true, Last: 9}); got != applied || b.last != 9 {
		t.Errorf("the next: %d, at number %d", got, b.last)
	}
}

func TestABookOfWhichBidsAndAsksCrossIsGivenUp(t *testing.T) {
	t.Parallel()
	var b book
	b.accept(&BookUpdate{Snapshot: true, Last: 1, Bids: []market.PairLevel{level(10, 1)}, Asks: []market.PairLevel{level(11, 1)}})
	if got := b.accept(&BookUpdate{First: 2, Last: 2, Prev: 1, Bids: []market.PairLevel{level(11, 1)}}); got != gap || b.last != 0 {
		t.Errorf("%d, at number %d", got, b.last)
	}
	// As it is of a snapshot: what waited for it waits for the next.
	crossed := BookUpdate{Snapshot: true, Last: 2, Bids: []market.PairLevel{level(11, 1)}, Asks: []market.PairLevel{level(11, 1)}}
	if got := b.accept(&crossed); got != gap || b.last != 0 || len(b.waiting) != 0 {
		t.Errorf("a snapshot: %d, at number %d", got, b.last)
	}
	b.accept(&BookUpdate{First: 3, Last: 3, Prev: 2})
	if got := b.accept(&crossed); got != gap || b.last != 0 || len(b.waiting) != 1 {
		t.Errorf("a snapshot that was waited for: %d, at number %d, %d wait", got, b.last, len(b.waiting))
	}
}

// A stream that begins with the book says nothing twice. An update whose numbers are below
// those of the book is of numbers that began again, unnoticed.
func TestATopicWithoutAnotherSourceOfBooksBeginsAgainUnlessUpdatesFollow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		next       BookUpdate
		again      bool
		gaps, last int64
	}{
		{"what follows", BookUpdate{First: 104, Last: 104, Prev: 100}, false, 0, 104},
		{"nothing new", BookUpdate{First: 100, Last: 100, Prev: 100}, false, 0, 100},
		{"numbers that begin again", BookUpdate{First: 3, Last: 3, Prev: 100}, false, 0, 3},
		{"a missing update", BookUpdate{First: 107, Last: 107, Prev: 104}, true, 1, 0},
		{"a missing update in which numbers began again", BookUpdate{First: 7, Last: 7, Prev: 3}, true, 1, 0},
		{"another checksum than the venue says", BookUpdate{First: 104, Last: 104, Prev: 100, Summed: true, Checksum: 9}, true, 1, 0},
		{"the checksum that the venue says", BookUpdate{First: 104, Last: 104, Prev: 100, Summed: true, Checksum: 1, Bids: []market.PairLevel{level(7, 1)}}, false, 0, 104},
		{"bids and asks that cross", BookUpdate{First: 104, Last: 104, Prev: 100, Bids: []market.PairLevel{level(7, 1)}, Asks: []market.PairLevel{level(7, 1)}}, true, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var stats Stats
			f := follower{Stream: &Stream{Books: &Books{Checksum: countLevels}, Stats: &stats}, pairs: map[string]*followedPair{"X": {}}}
			k := f.keepBooks()
			one := k.bySymbol["X"]
			if k.waitsFor(one) {
				t.Error("it begins again before its first snapshot")
			}
			k.apply(&BookUpdate{Symbol: "X", Snapshot: true, Last: 100})
			c.next.Symbol = "X"
			if k.apply(&c.next); k.waitsFor(one) != c.again || stats.Gaps.Load() != c.gaps || one.last != c.last {
				t.Errorf("begins again %t, %d gaps, at number %d; want %t, %d, at %d", k.waitsFor(one), stats.Gaps.Load(), one.last, c.again, c.gaps, c.last)
			}
		})
	}
}

// countLevels is a checksum: how many levels there are.
func countLevels(bids, asks []market.PairLevel) int32 {
	return int32(len(bids) + len(asks)) //nolint:gosec // a few
}

// A venue whose checksums are of something else, such as of the zeros that it writes, would have
// its books begin again all the time.
func TestChecksumsThatDoNotAgreeWithASnapshotItselfAreNotLookedAt(t *testing.T) {
	t.Parallel()
	var stats Stats
	f := follower{Stream: &Stream{Books: &Books{Checksum: countLevels}, Stats: &stats, Log: slog.New(slog.DiscardHandler)}, pairs: map[string]*followedPair{"X": {}}}
	k := f.keepBooks()
	for _, step := range []struct {
		update BookUpdate
		last   int64
		wrong  int64
	}{
		{BookUpdate{Snapshot: true, Last: 100, Summed: true, Checksum: 9}, 100, 1},
		{BookUpdate{First: 101, Last: 101, Prev: 100, Summed: true, Checksum: 9}, 101, 1},
		{BookUpdate{Snapshot: true, Last: 110, Summed: true, Checksum: 0}, 110, 1},
		{BookUpdate{First: 111, Last: 111, Prev: 110, Summed: true, Checksum: 9}, 0, 1},
	} {
		step.update.Symbol = "X"
		if k.apply(&step.update); k.order[0].last != step.last || stats.Malformed.Load() != step.wrong {
			t.Errorf("behind %+v: at number %d, %d malformed", step.update, k.order[0].last, stats.Malformed.Load())
		}
	}
}

// What is lost is said once, until the book is known again; all levels that are known are
// delivered, and a sign of life without changes is too.
func TestABookIsDeliveredWhenItChangesAndSaidToBeLost(t *testing.T) {
	t.Parallel()
	f := follower{Stream: &Stream{Books: &Books{Levels: 1, Most: 3}, Stats: new(Stats)}, pairs: map[string]*followedPair{"X": {Pair: market.Pair{Key: "x"}}}, now: func() time.Time { return time.UnixMilli(leastTime) }}
	k := f.keepBooks()
	bids := []market.PairLevel{level(7, 1), level(6, 1), level(5, 1), level(4, 1)}
	for i, step := range []struct {
		update   BookUpdate
		ok, lost bool
		levels   int
	}{
		{BookUpdate{}, true, true, 0},
		{BookUpdate{}, false, false, 0},
		{BookUpdate{Snapshot: true, Last: 7, Time: leastTime, Bids: bids}, true, false, 3},
		{BookUpdate{}, false, false, 0},
		{BookUpdate{First: 7, Last: 7, Prev: 7, Time: leastTime + 1}, true, false, 3},
		{BookUpdate{First: 9, Last: 9, Prev: 8, Time: leastTime + 2}, true, true, 0},
		{BookUpdate{}, false, false, 0},
		{BookUpdate{Snapshot: true, Last: 10, Time: leastTime + 3, Bids: bids[:2]}, true, false, 2},
	} {
		if step.update.Last > 0 {
			step.update.Symbol = "X"
			k.apply(&step.update)
		}
		if got, ok := k.changed(k.order[0], mostTime); ok != step.ok || got.Lost != step.lost || len(got.Bids) != step.levels || ok && got.Pair != "x" {
			t.Errorf("step %d: %+v, %t", i, got, ok)
		}
	}
}

// Where snapshots are asked for, what is below the book's number is old right behind a whole
// one alone: later numbers have begun again.
func TestABookIsAskedForAgainWhereItsNumbersBeganAgain(t *testing.T) {
	t.Parallel()
	var stats Stats
	fetch := func(context.Context, market.Pair) (BookUpdate, error) { return BookUpdate{}, errBehind }
	f := follower{Stream: &Stream{Books: &Books{FetchSnapshot: fetch}, Stats: &stats}, pairs: map[string]*followedPair{"X": {}}}
	k := f.keepBooks()
	for _, step := range []struct {
		update     BookUpdate
		last, gaps int64
	}{
		{BookUpdate{First: 90, Last: 95, Prev: 89}, 0, 0},
		{BookUpdate{Snapshot: true, Last: 100}, 100, 0},
		{BookUpdate{First: 96, Last: 99, Prev: 95}, 100, 0},
		{BookUpdate{First: 100, Last: 101, Prev: 99}, 101, 0},
		{BookUpdate{First: 6, Last: 7, Prev: 5}, 0, 1},
		{BookUpdate{First: 8, Last: 9, Prev: 7}, 0, 1},
		{BookUpdate{Snapshot: true, Last: 8}, 9, 1},
	} {
		step.update.Symbol = "X"
		if k.apply(&step.update); k.order[0].last != step.last || stats.Gaps.Load() != step.gaps {
			t.Fatalf("behind %+v: at number %d, %d gaps", step.update, k.order[0].last, stats.Gaps.Load())
		}
	}
}

// A snapshot whose number is beyond all that comes is asked for again: else its book would stand still.
func TestABookWhoseSnapshotIsFarAheadIsAskedForAgain(t *testing.T) {
	t.Parallel()
	fetch := func(context.Context, market.Pair) (BookUpdate, error) { return BookUpdate{}, errBehind }
	f := follower{Stream: &Stream{Books: &Books{FetchSnapshot: fetch}, Stats: new(Stats)}, pairs: map[string]*followedPair{"X": {}}}
	k := f.keepBooks()
	one := k.bySymbol["X"]
	k.apply(&BookUpdate{Symbol: "X", Snapshot: true, Last: math.MaxInt64})
	for n := range int64(mostOld + 1) {
		if k.waitsFor(one) {
			t.Fatalf("it is asked for behind %d updates that are old", n)
		}
		k.apply(&BookUpdate{Symbol: "X", First: n + 1, Last: n + 1, Prev: n})
	}
	k.apply(&BookUpdate{Symbol: "X", First: mostOld + 2, Last: mostOld + 2, Prev: mostOld + 1})
	if !k.waitsFor(one) {
		t.Error("it is not asked for")
	}
}

func TestAWholeBookOfNoTimeIsDeliveredWithItsNextChange(t *testing.T) {
	t.Parallel()
	f := follower{Stream: &Stream{Books: &Books{Levels: 1}, Stats: new(Stats)}, pairs: map[string]*followedPair{"X": {}}}
	k := f.keepBooks()
	for _, step := range []struct {
		update BookUpdate
		want   bool
	}{
		{BookUpdate{Snapshot: true, Last: 7}, false},
		{BookUpdate{First: 8, Last: 8, Prev: 7, Time: leastTime}, true},
	} {
		step.update.Symbol = "X"
		k.apply(&step.update)
		if got, ok := k.changed(k.order[0], mostTime); ok != step.want || got.Time != step.update.Time {
			t.Errorf("number %d: %+v, %t", step.update.Last, got, ok)
		}
	}
}

func TestLevelsAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		`[]`: 0, `[["1.5","2"]]`: 1, `[["1.5","0.000"],["1","2","0","7"]]`: 2,
		`[["1.5"]]`: -1, `[["0","2"]]`: -1, `[["1","-2"]]`: -1, `[[1,2]]`: -1, `[["x","2"]]`: -1, `{}`: -1,
	} {
		p := jsonscan.New(text)
		var got []market.PairLevel
		if ok := ReadLevels(&p, &got); ok != (want >= 0) || ok && len(got) != want {
			t.Errorf("%s: %t, %v", text, ok, got)
		}
	}
}

func TestAnUpdateHasNoMoreLevelsThanABook(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]bool{5000: true, 5001: false} {
		p := jsonscan.New("[" + strings.Repeat(`["1","2"],`, n-1) + `["1","2"]]`)
		var got []market.PairLevel
		if ok := ReadLevels(&p, &got); ok != want {
			t.Errorf("%d levels: %t", n, ok)
		}
	}
}

// Whatever an exchange pushes while it gives no snapshot, what is kept of it is bounded, by count
// and by levels, and the newest is kept.
func TestWhatWaitsForASnapshotIsBounded(t *testing.T) {
	t.Parallel()
	for _, levels := range []int{0, 1, 100, 30_000} {
		var b book
		for n := range int64(1500) {
			u := BookUpdate{Symbol: "X", Prev: n, First: n + 1, Last: n + 1}
			for px := range min(levels, 1_000_000/int(n+1)) {
				u.Bids = append(u.Bids, level(int64(px+1), 1))
			}
			b.accept(&u)
			held := len(b.waiting)
			for i := range b.waiting {
				held += len(b.waiting[i].Bids)
			}
			if len(b.waiting) > 1000 || held > 10_002 || held != b.weight {
				t.Fatalf("%d updates that weigh %d wait, counted as %d", len(b.waiting), held, b.weight)
			}
		}
		if last := len(b.waiting) - 1; last < 0 || b.waiting[last].Last != 1500 {
			t.Errorf("updates of %d levels: the newest is not kept", levels)
		}
	}
}

// All books of a connection hold so much together, of which a pair that is refused its snapshot
// takes no other's room.
func TestWhatWaitsForSnapshotsIsBoundedTogether(t *testing.T) {
	t.Parallel()
	f := follower{Stream: &Stream{Stats: new(Stats), Books: &Books{FetchSnapshot: func(context.Context, market.Pair) (BookUpdate, error) { return BookUpdate{}, errBehind }}},
		pairs: map[string]*followedPair{}}
	for i := range 200 {
		symbol := strconv.Itoa(i)
		f.pairs[symbol] = &followedPair{Pair: market.Pair{Symbol: symbol}}
	}
	k := f.keepBooks()
	levels := make([]market.PairLevel, 0, 5000)
	for px := range cap(levels) {
		levels = append(levels, level(int64(px+1), 1))
	}
	for n := range int64(3) {
		for symbol := range f.pairs {
			k.apply(&BookUpdate{Symbol: symbol, Prev: n, First: n + 1, Last: n + 1, Bids: levels})
		}
	}
	held := 0
	for _, one := range k.order {
		for i := range one.waiting {
			if held += one.waiting[i].weight(); one.waiting[i].Symbol != "" {
				t.Fatal("a frame is held by the symbol of what waits")
			}
		}
	}
	if held > maxWaitingTogether || held < maxWaitingTogether-2*5001 || held != k.weight {
		t.Errorf("%d is held, counted as %d", held, k.weight)
	}
	small := BookUpdate{Symbol: "0", Prev: 3, First: 4, Last: 4}
	if k.apply(&small); !k.waitsFor(k.bySymbol["0"]) {
		t.Error("an update finds no room")
	}
}

// A side holds the best levels, so many.
func TestASideIsBounded(t *testing.T) {
	t.Parallel()
	s := side{sign: 1}
	for px := range int64(7000) {
		s.change([]market.PairLevel{level(px+1, 1)})
	}
	if best, enough := s.best(1); len(s.levels) != 5000 || !enough || !best[0].Px.Equal(market.DecimalFromInt(7000)) {
		t.Errorf("%d levels, the best at %v", len(s.levels), best)
	}
}

// What a side knows is what the exchange has, also where it holds no more levels.
func TestAFullSideIsThatOfTheExchangeAsFarAsItIsKnown(t *testing.T) {
	t.Parallel()
	for _, sign := range []int{1, -1} {
		r := rand.New(rand.NewPCG(1, 2))
		s, exchange := side{sign: sign}, map[int64]int64{}
		for range 150 {
			var u []market.PairLevel
			for range r.IntN(400) {
				px, sz := 1+r.Int64N(12_000), max(0, r.Int64N(20)-4)
				u = append(u, level(px, sz))
				if exchange[px] = sz; sz == 0 {
					delete(exchange, px)
				}
			}
			s.change(u)
			got, enough := s.best(maxLevels)
			want := best(exchange, int64(sign), maxLevels)
			if !enough {
				want = want[:min(len(got), len(want))]
			}
			same := func(a, b market.PairLevel) bool { return a.Px.Equal(b.Px) && a.Sz.Equal(b.Sz) }
			if !slices.EqualFunc(want, got, same) || len(s.levels) > maxLevels {
				t.Fatalf("%d levels, enough: %t (-want +got):\n%s", len(s.levels), enough, cmp.Diff(want, got, equal))
			}
		}
		if len(s.levels) < 4000 || !s.bounded {
			t.Errorf("%d levels, bounded: %t", len(s.levels), s.bounded)
		}
	}
}

// An update moves each level once at most, and those behind the worst of a full side none.
func TestTheWorkOfAnUpdateIsThatOfItsLevelsAndTheBook(t *testing.T) {
	t.Parallel()
	full := func() side {
		s := side{sign: 1}
		var u []market.PairLevel
		for n := range int64(maxLevels) {
			u = append(u, level(10_000+2*n, 1))
		}
		s.change(u)
		return s
	}
	for name, c := range map[string]struct {
		px   func(n int64) int64
		most int
	}{
		"behind the worst":         {func(n int64) int64 { return 1 + n }, 0},
		"behind, the worst first":  {func(n int64) int64 { return 9999 - n }, 0},
		"just before the worst":    {func(n int64) int64 { return 10_001 + 2*n }, 2 * maxLevels},
		"before it, the best last": {func(n int64) int64 { return 10_001 + 2*(maxLevels-n) }, 2 * maxLevels},
		"the best":                 {func(n int64) int64 { return 30_000 + n }, maxLevels},
		"those that are there":     {func(n int64) int64 { return 10_000 + 2*n }, 2 * maxLevels},
	} {
		s := full()
		before := s.moved
		var u []market.PairLevel
		for n := range int64(maxLevels) {
			u = append(u, level(c.px(n), 1))
		}
		if s.change(u); s.moved-before > c.most {
			t.Errorf("%s: %d levels are moved, at most %d may be", name, s.moved-before, c.most)
		}
		if s.bounded == (name == "those that are there") {
			t.Errorf("%s: that others are left out: %t", name, s.bounded)
		}
	}
}

// BenchmarkBookUpdate reads the levels of an update as long as half of those of a recorded session
// are, 12 a side near the best prices, and applies it to a book of 1,000 levels a side; with
// "summed" it has a checksum, too.
func BenchmarkBookUpdate(b *testing.B) {
	sum := func(bids, asks []market.PairLevel) int32 {
		text := make([]byte, 0, 4096)
		for _, side := range [...][]market.PairLevel{bids, asks} {
			for _, l := range side {
				text = market.AppendDecimal(market.AppendDecimal(text, l.Px), l.Sz)
			}
		}
		return int32(crc32.ChecksumIEEE(text)) //nolint:gosec // the bits are read as signed
	}
	for name, checksum := range map[string]func(bids, asks []market.PairLevel) int32{"plain": nil, "summed": sum} {
		b.Run(name, func(b *testing.B) {
			f := follower{Stream: &Stream{Stats: new(Stats), Books: &Books{Checksum: checksum}}, pairs: map[string]*followedPair{"X": {Pair: market.Pair{Symbol: "X"}}}}
			k := f.keepBooks()
			whole := BookUpdate{Symbol: "X", Snapshot: true, Last: 1}
			for n := range int64(1000) {
				whole.Bids = append(whole.Bids, level(600_000-n, 7))
				whole.Asks = append(whole.Asks, level(600_001+n, 7))
			}
			k.apply(&whole)
			var frames [16][2]string
			for i := range frames {
				for s, px := range [...]int{600_000 - i, 600_001 + i} {
					var levels []string
					for n := range 12 {
						levels = append(levels, fmt.Sprintf(`["%d","%d.%03d"]`, px+(2*s-1)*3*n, (i+n)%5, i*n%1000+1))
					}
					frames[i][s] = "[" + strings.Join(levels, ",") + "]"
				}
			}
			var u BookUpdate
			n := int64(1)
			b.ReportAllocs()
			for b.Loop() {
				u.Reset()
				bids, asks := jsonscan.New(frames[n%16][0]), jsonscan.New(frames[n%16][1])
				if !ReadLevels(&bids, &u.Bids) || !ReadLevels(&asks, &u.Asks) {
					b.Fatal("the levels cannot be read")
				}
				u.Symbol, u.Prev, u.First, u.Last = "X", n, n+1, n+1
				if checksum != nil {
					checksum(k.order[0].bids.top(), k.order[0].asks.top())
				}
				k.apply(&u)
				n++
			}
			if k.order[0].last != n {
				b.Fatalf("at number %d, want %d", k.order[0].last, n)
			}
		})
	}
}
