package live

import (
	"sync"
	"time"

	"quotary/shared/feed"
	"quotary/shared/market"
)

// books keeps the last book and the best prices of every coin.
type books struct {
	hub *feed.Hub
	now func() time.Time
	// silence is how old a book may be that is not stale.
	silence time.Duration

	mu    sync.Mutex
	coins map[string]*coinBook
}

// groupings are all that can be subscribed to.
var groupings = [...]market.Grouping{{}, {Figs: 2, Mantissa: 1}, {Figs: 3, Mantissa: 1}, {Figs: 4, Mantissa: 1},
	{Figs: 5, Mantissa: 1}, {Figs: 5, Mantissa: 2}, {Figs: 5, Mantissa: 5}}

type coinBook struct {
	book  market.Book
	heard time.Time // zero: only best prices are known
	views [len(groupings)]bookView

	best  market.BBO
	topic string // of the best prices
}

// bookView is the book in one grouping. Its frame is made when it is wanted.
type bookView struct {
	topic string
	frame []byte
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
		if v.frame = nil; b.hub.Watched(v.topic) {
			v.frame = bookFrame(&c.book, groupings[i], false)
			b.hub.Publish(v.topic, v.frame, feed.State)
		}
	}
	// The best prices have a channel of their own, which is ahead of the books
	// where it is followed.
	if book.Time > c.best.Time {
		b.takeBest(c, &market.BBO{Coin: book.Coin, Time: book.Time, Bid: top(book.Bids), Ask: top(book.Asks)})
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
		b.hub.Publish(c.topic, bestFrame(best), feed.State)
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
	if b.now().Sub(c.heard) >= b.silence {
		return bookFrame(&c.book, g, true)
	}
	for i := range c.views {
		if v := &c.views[i]; groupings[i] == g {
			if v.frame == nil {
				v.frame = bookFrame(&c.book, g, false)
			}
			return v.frame
		}
	}
	return bookFrame(&c.book, g, false)
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
	return append(grouped.AppendJSON(inChannel("l2Book"), stale), '}')
}

func bestFrame(best *market.BBO) []byte { return append(best.AppendJSON(inChannel("bbo")), '}') }
