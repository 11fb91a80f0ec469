package source

import (
	"context"
	"time"

	"quotary/shared/backoff"
	"quotary/shared/market"
)

// largeLevels notes how the large levels of a book change. It looks at what an update says, not at
// the book, but for behind a snapshot.
type largeLevels struct {
	pair       *market.Pair
	from, left market.Decimal // US dollars: see [market.LargeLevels]

	// least is a size, as the exchange counts, below which a level that nobody follows is not
	// large: that of a price of twice the best. 0 is not known.
	least market.Decimal

	followed map[levelKey]bool // true of each
	bits     [16]uint64        // has a bit of each that is followed, and of some that are not

	begun bool  // all levels have been said, and each change since
	said  int64 // time of what was said last, ms
	notes []market.LargeLevels
	noted int // what they weigh
}

const (
	// largeEvery is between two deliveries of what has changed, where books are not delivered more often, and saysRightEvery how long
	// nothing is said of a book that is followed and has no change, ms.
	largeEvery     = 500 * time.Millisecond
	saysRightEvery = 10_000

	// mostNotes is how many changes of levels wait to be delivered; then all levels are said again.
	mostNotes = 10_000

	// mostFollowed is how many levels are followed, twice as many as a book has: of those that the
	// book has dropped as its worst nothing may ever be said again. Then all levels are said again, too.
	mostFollowed = 4 * maxLevels

	// mostOfSide is how many levels of a side are said behind a snapshot, the best.
	mostOfSide = 500
)

// levelKey is a level without the zeros that may be written behind its price.
type levelKey struct {
	bid   bool
	units uint64
	prec  uint8
}

// keyOf is the key of a level; false where the price has more digits than any market.
func keyOf(bid bool, px market.Decimal) (levelKey, bool) {
	_, hi, lo, prec, ok := px.ToHiLo()
	if !ok || hi != 0 {
		return levelKey{}, false
	}
	for prec > 0 && lo%10 == 0 {
		lo, prec = lo/10, prec-1
	}
	return levelKey{bid, lo, prec}, true
}

// bit is where a key has its bit.
func (k levelKey) bit() (word int, mask uint64) {
	h := k.units * 0x9e3779b97f4a7c15
	return int(h >> 60), 1 << (h >> 54 & 63)
}

func newLargeLevels(pair *market.Pair, from market.Decimal) *largeLevels {
	return &largeLevels{pair: pair, from: from, left: market.LargeLeft(from)}
}

// size is what the exchange counts, as [market.LargeLevel] has it.
func (l *largeLevels) size(counted market.Decimal) market.Decimal {
	if l.pair.Contract.IsZero() {
		return counted
	}
	return counted.Mul(l.pair.Contract)
}

// value is what a level is worth, US dollars.
func (l *largeLevels) value(level *market.PairLevel) market.Decimal {
	size := l.size(level.Sz)
	if l.pair.Inverse {
		return size
	}
	return market.Notional(level.Px, size)
}

// note takes an update that the book has applied.
func (l *largeLevels) note(u *BookUpdate, b *book) {
	if u.Snapshot || !l.begun || l.noted >= mostNotes || len(l.followed) >= mostFollowed {
		l.begin(b)
		return
	}
	var levels []market.LargeLevel
	levels = l.changes(levels, market.Buy, u.Bids, &b.bids)
	levels = l.changes(levels, market.Sell, u.Asks, &b.asks)
	if len(levels) > 0 {
		l.say(b, levels, false)
	}
}

func (l *largeLevels) say(b *book, levels []market.LargeLevel, whole bool) {
	l.notes = append(l.notes, market.LargeLevels{
		Pair: l.pair.Key, Time: b.time, Number: b.last, Whole: whole, From: l.from, Contract: l.pair.Contract, Inverse: l.pair.Inverse, Levels: levels,
	})
	l.noted += l.notes[len(l.notes)-1].Weight()
	l.said = b.time
}

// changes appends the changes of large levels of a side, which has them already.
func (l *largeLevels) changes(levels []market.LargeLevel, of market.Side, changed []market.PairLevel, now *side) []market.LargeLevel {
	for i := range changed {
		level := &changed[i]
		key, ok := keyOf(of == market.Buy, level.Px)
		if !ok {
			continue
		}
		word, mask := key.bit()
		followed := l.bits[word]&mask != 0 && l.followed[key]
		if !followed && level.Sz.Cmp(l.least) < 0 {
			continue
		}
		value := l.value(level)
		switch {
		case !followed && value.Cmp(l.from) < 0:
			continue
		case !followed:
			l.follow(key)
		case value.Cmp(l.left) < 0:
			delete(l.followed, key)
		}
		levels = append(levels, market.LargeLevel{
			Side: of, Px: level.Px, Sz: l.size(level.Sz), Unseen: level.Sz.IsZero() && (len(now.levels) == 0 || now.compare(&now.levels[0].Px, &level.Px) > 0),
		})
	}
	return levels
}

func (l *largeLevels) follow(key levelKey) {
	word, mask := key.bit()
	l.bits[word] |= mask
	l.followed[key] = true
}

// begin says all levels of which a tenth of a large one rests, once the time of the book is known.
func (l *largeLevels) begin(b *book) {
	l.forget()
	if b.time == 0 {
		return
	}
	l.followed, l.bits = map[levelKey]bool{}, [16]uint64{}
	var levels []market.LargeLevel
	for of, s := range [...]*side{&b.bids, &b.asks} {
		of, n := [...]market.Side{market.Buy, market.Sell}[of], 0
		for i := len(s.levels) - 1; i >= 0 && n < mostOfSide; i-- {
			level := &s.levels[i]
			if l.value(level).Cmp(l.left) < 0 {
				continue
			}
			if key, ok := keyOf(of == market.Buy, level.Px); ok {
				l.follow(key)
				levels = append(levels, market.LargeLevel{Side: of, Px: level.Px, Sz: l.size(level.Sz)})
				n++
			}
		}
	}
	l.setLeast(b)
	l.say(b, levels, true)
	l.begun = true
}

// setLeast sets the size below which no level is large whose price is not above twice the best ask.
func (l *largeLevels) setLeast(b *book) {
	l.least = l.from
	if !l.pair.Inverse {
		l.least = market.Decimal{}
		if n := len(b.asks.levels); n > 0 {
			best := b.asks.levels[n-1].Px
			l.least = quotient(l.from, best.Add(best))
		}
	}
	if !l.pair.Contract.IsZero() {
		l.least = quotient(l.least, l.pair.Contract)
	}
}

// quotient is 0 where it is not known.
func quotient(a, b market.Decimal) market.Decimal {
	q, err := a.Div(b)
	if err != nil {
		return market.Decimal{}
	}
	return q
}

// deliverLarge passes how large levels have changed to the queue.
func (k *keptBooks) deliverLarge(ctx context.Context, queue *eventQueue) error {
	for {
		if err := backoff.Sleep(ctx, min(k.Every, largeEvery)); err != nil {
			return err
		}
		var changed market.PairEvents
		latest := k.follower.now().Add(MostAhead).UnixMilli()
		k.mu.Lock()
		for _, one := range k.order {
			changed.LargeLevels = one.large.take(changed.LargeLevels, &one.book, latest)
		}
		k.mu.Unlock()
		if err := queue.add(ctx, &changed); err != nil {
			return err
		}
	}
}

// take appends what has changed, or that a book is as it was. Where something is of the future, ms,
// all levels are said again.
func (l *largeLevels) take(list []market.LargeLevels, b *book, latest int64) []market.LargeLevels {
	if b.last != 0 && l.begun && len(l.notes) == 0 && b.time-l.said >= saysRightEvery {
		l.say(b, nil, false)
	}
	if l.said > latest {
		l.forget()
		l.said = 0
	}
	list = append(list, l.notes...)
	l.notes, l.noted = nil, 0
	return list
}

// forget has all levels be said again, and not how they changed.
func (l *largeLevels) forget() {
	clear(l.notes)
	l.notes, l.noted, l.begun = l.notes[:0], 0, false
}
