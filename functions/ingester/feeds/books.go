package feeds

import (
	"slices"
	"sync"
	"time"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/market"
	"quotary/shared/source/hyperliquid"
	"quotary/shared/source/hyperliquid/wire"
)

// books keeps the last book and the best prices of every coin.
type books struct {
	hub *hub.Hub
	now func() time.Time
	// silence is how old a book may be that is not stale.
	silence time.Duration
	joined  *hyperliquid.JoinedBooks // nil: the plain books are joined

	mu    sync.Mutex
	coins map[string]*coinBook
}

// groupings are all that can be subscribed to, the plain book first.
var groupings = append([]market.Grouping{{}}, market.Groupings[:]...)

// joinWait is how long a book that the venue is to join is waited for, before the
// plain book is joined in its place.
const joinWait = 3 * time.Second

type coinBook struct {
	book  market.Book
	heard time.Time // zero: only best prices are known
	views [1 + len(market.Groupings)]bookView

	best  market.BBO
	topic string // of the best prices
}

// bookView is the book in one grouping. Its frame is made when it is wanted.
type bookView struct {
	topic string
	frame []byte
	time  int64 // of what was pushed last, ms

	joined market.Book // by the venue
	heard  time.Time   // when it came; zero: none did
}

// joinedNow tells whether the venue joins the book of a view, at present or in a
// moment.
func (b *books) joinedNow(v *bookView, coin string, g market.Grouping) bool {
	if b.joined == nil || g.Figs == 0 {
		return false
	}
	since, wanted := b.joined.Since(hyperliquid.JoinedBook{Grouping: g, Coin: coin})
	if !wanted {
		return false
	}
	now := b.now()
	return now.Sub(v.heard) < b.silence || now.Sub(since) < joinWait
}

func (b *books) coin(name string) *coinBook {
	c := b.coins[name]
	if c == nil {
		c = &coinBook{topic: topicOf(bboTopic, name)}
		for i := range c.views {
			c.views[i].topic = bookTopicOf(name, groupings[i])
		}
		b.coins[name] = c
	}
	return c
}

// take pushes a book to whoever follows it in any grouping.
func (b *books) take(book *market.Book) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.coin(book.Coin)
	c.book, c.heard = *book, b.now()
	for i := range c.views {
		v := &c.views[i]
		if b.joinedNow(v, book.Coin, groupings[i]) {
			continue
		}
		if v.frame = nil; b.hub.Watched(v.topic) && book.Time >= v.time {
			v.frame, v.time = bookFrame(&c.book, groupings[i], false), book.Time
			b.hub.Publish(v.topic, v.frame, hub.State)
		}
	}
	// The best prices have a channel of their own, which is ahead of the books
	// where it is followed.
	if book.Time > c.best.Time {
		b.takeBest(c, &market.BBO{Coin: book.Coin, Time: book.Time, Bid: top(book.Bids), Ask: top(book.Asks)})
	}
}

// takeJoined pushes a book that the venue has joined.
func (b *books) takeJoined(which hyperliquid.JoinedBook, book *market.Book) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.coin(book.Coin)
	for i := range c.views {
		v := &c.views[i]
		if groupings[i] != which.Grouping || book.Time < v.time {
			continue
		}
		v.joined, v.heard, v.time = *book, b.now(), book.Time
		v.frame = bookFrame(book, market.Grouping{}, false)
		b.hub.Publish(v.topic, v.frame, hub.State)
	}
}

// join has the venue join the books that are followed so, and no others.
func (b *books) join() {
	if b.joined == nil {
		return
	}
	b.mu.Lock()
	var wanted []hyperliquid.JoinedBook
	for coin, c := range b.coins {
		for i := range c.views {
			if i > 0 && b.hub.Watched(c.views[i].topic) {
				wanted = append(wanted, hyperliquid.JoinedBook{Grouping: groupings[i], Coin: coin})
			}
		}
	}
	b.mu.Unlock()
	b.joined.Keep(func(one hyperliquid.JoinedBook) bool { return slices.Contains(wanted, one) })
	for _, one := range wanted {
		b.joined.Want(one)
	}
}

// prepare has the venue join a book that somebody is about to follow, if it is of
// a coin that there is.
func (b *books) prepare(coin string, g market.Grouping) {
	if b.joined == nil || g.Figs == 0 {
		return
	}
	b.mu.Lock()
	known := b.coins[coin] != nil
	b.mu.Unlock()
	if known {
		b.joined.Want(hyperliquid.JoinedBook{Grouping: g, Coin: coin})
	}
}

func top(levels []market.Level) *market.Level {
	if len(levels) == 0 {
		return nil
	}
	return &levels[0]
}

func (b *books) takeBBO(best *market.BBO) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.takeBest(b.coin(best.Coin), best)
}

func (b *books) takeBest(c *coinBook, best *market.BBO) {
	changed := c.best.Time == 0 || !sameLevel(c.best.Bid, best.Bid) || !sameLevel(c.best.Ask, best.Ask)
	c.best = *best
	if changed && b.hub.Watched(c.topic) {
		b.hub.Publish(c.topic, bestFrame(best), hub.State)
	}
}

func sameLevel(a, b *market.Level) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// snapshot is the last book in a grouping. The hub holds the lock.
func (b *books) snapshot(coin string, g market.Grouping) []byte {
	c := b.coins[coin]
	if c == nil || c.heard.IsZero() {
		return nil
	}
	v := &c.views[slices.Index(groupings, g)]
	if b.joinedNow(v, coin, g) {
		if b.now().Sub(v.heard) >= b.silence {
			return nil // it comes in a moment
		}
		return v.frame
	}
	if b.now().Sub(c.heard) >= b.silence {
		return bookFrame(&c.book, g, true)
	}
	if v.frame == nil || !v.heard.IsZero() {
		v.frame = bookFrame(&c.book, g, false)
	}
	return v.frame
}

// bestSnapshot is the last best prices. The hub holds the lock.
func (b *books) bestSnapshot(coin string) []byte {
	c := b.coins[coin]
	if c == nil || c.best.Time == 0 {
		return nil
	}
	return bestFrame(&c.best)
}

func bookFrame(book *market.Book, g market.Grouping, stale bool) []byte {
	grouped := book.Group(g)
	return append(wire.AppendBook(inChannel("l2Book"), &grouped, stale), '}')
}

func bestFrame(best *market.BBO) []byte { return append(wire.AppendBBO(inChannel("bbo"), best), '}') }
