package source

import (
	"fmt"
	"slices"
	"sync"

	"quotary/shared/market"
	"quotary/shared/text/jsonscan"
)

// BookUpdate is what an exchange says of an order book: all of it, or what has changed.
type BookUpdate struct {
	Symbol   string // "" says nothing
	Time     int64  // ms; 0 of a snapshot of which the exchange does not say
	Snapshot bool   // the levels are the book, not its changes

	// Exchanges number the changes of a book. An update has those from First to Last, and
	// follows the update whose Last is Prev. Of a snapshot Last alone is set.
	First, Last, Prev int64

	// Bids and Asks are levels in any order, of changes as they are now: a size of 0 is
	// of a level that is gone. Sizes are as the exchange counts them ([Sizes]).
	Bids, Asks []market.PairLevel

	// Best is how many levels of a side a snapshot has at most, where the exchange
	// holds back the others and yet tells how they change; 0 where it does not.
	Best int

	// Checksum is what the book adds up to with the update, where Summed is set; see
	// [Books.Checksum].
	Checksum int32
	Summed   bool
}

// Reset empties u for the next frame, and keeps the room.
func (u *BookUpdate) Reset() { *u = BookUpdate{Bids: u.Bids[:0], Asks: u.Asks[:0]} }

// ReadLevels reads [["61737.6","0.5"],..], of which further elements are of no interest. There
// may be no more levels than a side of a book has.
func ReadLevels(p *jsonscan.Scanner, levels *[]market.PairLevel) bool {
	return p.Array(func() bool {
		var texts [2]string
		n := 0
		ok := p.Array(func() (ok bool) {
			if n >= len(texts) {
				return p.Skip()
			}
			texts[n], ok = p.Text()
			n++
			return ok
		})
		if !ok || n < len(texts) {
			return false
		}
		if len(*levels) == maxLevels {
			return false
		}
		level, err := ParseLevel(texts[0], texts[1])
		*levels = append(*levels, level)
		return err == nil
	})
}

// ParseLevel reads a level from its texts.
func ParseLevel(px, sz string) (l market.PairLevel, err error) {
	if l.Px, err = market.ParseDecimal(px); err != nil {
		return l, fmt.Errorf("price of a level: %w", err)
	}
	if l.Sz, err = market.ParseDecimal(sz); err != nil {
		return l, fmt.Errorf("size of a level: %w", err)
	}
	if !l.Px.IsPos() || l.Sz.IsNeg() {
		return l, fmt.Errorf("price %s of a level must be above 0, and its size %s not below", px, sz)
	}
	return l, nil
}

// book is the order book of a pair as its updates tell it. The zero value waits for a
// snapshot.
type book struct {
	last       int64 // number of the last change, 0 while a snapshot is waited for
	time       int64 // of the last update, ms
	atSnapshot bool  // nothing has changed since the snapshot
	sumsWrong  bool  // the venue's checksum of the snapshot was not that of its levels
	bids       side
	asks       side

	waiting []BookUpdate // changes that came since then, oldest first
	weight  int          // of those
}

// What is kept while a snapshot is waited for: so many updates of a pair, which weigh so much in
// all, and those of a connection so much together, about 30 MB. An update weighs as much as it
// has levels, and one more.
const (
	maxWaiting         = 1000
	maxWaitingWeight   = 2 * (maxLevels + 1)
	maxWaitingTogether = 500_000
)

// fate is what became of an update.
type fate int

const (
	applied fate = iota
	old          // it is in the book already
	kept         // until the snapshot comes
	gap          // updates before it are missing: the snapshot is waited for again
)

// accept applies an update. The book may keep the levels of one that waits: they are copied.
func (b *book) accept(u *BookUpdate) fate {
	switch follows := u.Prev == b.last; {
	case u.Snapshot:
		return b.begin(u)
	case b.last == 0:
		b.keep(u)
		return kept
	case !follows && u.Last <= b.last:
		return old
	case !follows && (!b.atSnapshot || u.First > b.last+1):
		b.lose()
		b.keep(u)
		return gap
	}
	b.apply(u)
	b.atSnapshot = false
	if b.crossed() {
		b.lose()
		return gap
	}
	return applied
}

// begin makes the book again of a snapshot and of the changes that have waited.
func (b *book) begin(u *BookUpdate) fate {
	waiting, weight := b.waiting, b.weight
	*b = book{atSnapshot: true, bids: side{sign: 1}, asks: side{sign: -1}}
	b.apply(u)
	if u.Best > 0 {
		b.bids.bound(len(u.Bids) >= u.Best)
		b.asks.bound(len(u.Asks) >= u.Best)
	}
	if b.crossed() {
		*b = book{waiting: waiting, weight: weight}
		return gap
	}
	for i := range waiting {
		if b.accept(&waiting[i]) == gap {
			b.hold(waiting[i:])
			return gap
		}
	}
	return applied
}

// lose has the book wait for a snapshot.
func (b *book) lose() { *b = book{} }

// keep keeps an update until the snapshot comes. The oldest ones are dropped where there are too
// many: the snapshot is then older than the first that is left, and asked for again.
func (b *book) keep(u *BookUpdate) {
	one := *u
	one.Symbol = "" // which would hold the whole frame
	one.Bids, one.Asks = slices.Clone(u.Bids), slices.Clone(u.Asks)
	b.waiting = append(b.waiting, one)
	b.weight += one.weight()
	for len(b.waiting) > maxWaiting || b.weight > maxWaitingWeight {
		b.dropOldest()
	}
}

// dropOldest drops the oldest update that waits.
func (b *book) dropOldest() {
	b.weight -= b.waiting[0].weight()
	b.waiting[0] = BookUpdate{} // the array goes on to hold it
	b.waiting = b.waiting[1:]
}

// hold keeps those of updates that were kept before.
func (b *book) hold(waiting []BookUpdate) {
	b.waiting, b.weight = slices.Clone(waiting), 0
	for i := range b.waiting {
		b.weight += b.waiting[i].weight()
	}
}

func (u *BookUpdate) weight() int { return 1 + len(u.Bids) + len(u.Asks) }

func (b *book) apply(u *BookUpdate) {
	b.bids.change(u.Bids)
	b.asks.change(u.Asks)
	b.last, b.time = u.Last, u.Time
}

// crossed reports whether the best bid is not below the best ask, which is of no book.
func (b *book) crossed() bool {
	bid, ask := b.bids.levels, b.asks.levels
	return len(bid) > 0 && len(ask) > 0 && bid[len(bid)-1].Px.Cmp(ask[len(ask)-1].Px) >= 0
}

// side is the bids or the asks of a book, the best at the end: it changes most.
type side struct {
	sign   int // 1 for bids, -1 for asks: which of two prices is the better
	levels []market.PairLevel

	// worst is the price behind which levels are not all known, where bounded is set.
	worst   market.Decimal
	bounded bool

	moved int // how many levels changes have moved, and have been
}

// bookRoom is room for the changes of an update, and for the levels among which they are, which
// is as much as a side: few serve all books.
type bookRoom struct{ changes, tail []market.PairLevel }

var bookRooms = sync.Pool{New: func() any { return new(bookRoom) }}

// maxLevels bounds a side: the worst are dropped.
const maxLevels = 5000

// change sets the sizes at prices, of which the last of one price counts. Levels move once,
// however many change, and only those that are no worse than all that do: an exchange mostly
// changes the best ones, whoever wants to cost much does not.
func (s *side) change(levels []market.PairLevel) {
	room := bookRooms.Get().(*bookRoom)
	defer bookRooms.Put(room)
	changes := s.sorted(room.changes[:0], levels)
	room.changes = changes
	if len(changes) == 0 {
		return
	}
	from := s.worseThanBest(&changes[0].Px)
	room.tail = append(room.tail[:0], s.levels[from:]...)
	s.moved += len(room.tail) + len(changes)
	s.levels = s.levels[:from]
	tail := room.tail
	for i, l := range changes {
		if i+1 < len(changes) && l.Px.Equal(changes[i+1].Px) {
			continue
		}
		worse, found := s.find(tail, &changes[i].Px)
		s.levels = append(s.levels, tail[:worse]...)
		if tail = tail[worse:]; found {
			tail = tail[1:]
		}
		if !l.Sz.IsZero() {
			s.levels = append(s.levels, l)
		}
	}
	s.levels = append(s.levels, tail...)
	if over := len(s.levels) - maxLevels; over > 0 {
		s.levels = slices.Delete(s.levels, 0, over)
		s.bound(true)
	}
}

// find returns the place in levels, the worst first, of a price or of the next better one. What is
// near the first is found at once: changes are near each other.
func (s *side) find(levels []market.PairLevel, px *market.Decimal) (at int, found bool) {
	low, high := 0, 1
	for high <= len(levels) && s.compare(&levels[high-1].Px, px) < 0 {
		low, high = high, 2*high
	}
	high = min(high, len(levels))
	for low < high {
		middle := (low + high) / 2
		switch c := s.compare(&levels[middle].Px, px); {
		case c == 0:
			return middle, true
		case c < 0:
			low = middle + 1
		default:
			high = middle
		}
	}
	return low, false
}

// worseThanBest is how many levels are worse than a price, of which the best are looked at first.
func (s *side) worseThanBest(px *market.Decimal) int {
	from, step := len(s.levels), 16
	for from > 0 && s.compare(&s.levels[max(0, from-step)].Px, px) >= 0 {
		from, step = max(0, from-step), 2*step
	}
	low := max(0, from-step)
	at, _ := s.find(s.levels[low:from], px)
	return low + at
}

// sorted appends the changes of a side, the worst first, without those behind the worst level that
// change nothing: where none is, or none is kept as the side is full.
func (s *side) sorted(changes, levels []market.PairLevel) []market.PairLevel {
	full := len(s.levels) == maxLevels
	for i := range levels {
		l := &levels[i]
		switch {
		case !full || s.compare(&s.levels[0].Px, &l.Px) <= 0: // where it is not full what is gone may be in the update, too
			changes = append(changes, *l)
		case !l.Sz.IsZero():
			s.bound(true)
		}
	}
	// Exchanges mostly write a side from the best price on, each once.
	if s.bestFirst(changes) {
		slices.Reverse(changes)
	} else {
		slices.SortStableFunc(changes, func(a, b market.PairLevel) int { return s.compare(&a.Px, &b.Px) })
	}
	return changes
}

// bestFirst reports whether each level is worse than the one before it.
func (s *side) bestFirst(levels []market.PairLevel) bool {
	for i := 1; i < len(levels); i++ {
		if s.compare(&levels[i].Px, &levels[i-1].Px) >= 0 {
			return false
		}
	}
	return true
}

// compare is below 0 for a price that is worse than another.
func (s *side) compare(px, other *market.Decimal) int {
	return s.sign * market.ComparePositive(px, other)
}

// bound notes, if there are others behind, that levels are known up to the worst.
func (s *side) bound(others bool) {
	if others && len(s.levels) > 0 && (!s.bounded || s.sign*s.levels[0].Px.Cmp(s.worst) > 0) {
		s.worst, s.bounded = s.levels[0].Px, true
	}
}

// best returns the best levels that are known, at most n. They are all of the book's best n
// where enough is set; else levels are missing behind them.
func (s *side) best(n int) (levels []market.PairLevel, enough bool) {
	for i := len(s.levels) - 1; i >= 0 && len(levels) < n; i-- {
		l := s.levels[i]
		if s.bounded && s.sign*l.Px.Cmp(s.worst) < 0 {
			return levels, false
		}
		levels = append(levels, l)
	}
	return levels, len(levels) == n || !s.bounded
}

// top are the best levels that checksums are of, the best first.
func (s *side) top() []market.PairLevel {
	n := min(len(s.levels), ChecksumLevels)
	top := make([]market.PairLevel, 0, ChecksumLevels)
	for i := range n {
		top = append(top, s.levels[len(s.levels)-1-i])
	}
	return top
}
