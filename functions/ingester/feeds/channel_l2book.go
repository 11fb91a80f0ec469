package feeds

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"quotary/functions/ingester/feeds/hub"
	"quotary/functions/ingester/guard"
	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/data/followrequests"
	"quotary/shared/gate/channel"
	"quotary/shared/market"
)

// books publishes the books of all coins, each in the groupings that are followed.
type books struct {
	base
	notJoined atomic.Int64 // books that are followed so and that the venue does not join

	mu    sync.Mutex
	coins map[string]*coinBook
}

// groupings are all that can be subscribed to, the plain book first.
var groupings = append([]market.Grouping{{}}, market.Groupings[:]...)

const (
	// joinWait is how long a book that the venue is to join is waited for, before the
	// plain book is joined in its place.
	joinWait = 3 * time.Second
	// joinEvery is the time between two looks at which books the venue is to join.
	joinEvery = 500 * time.Millisecond
)

type coinBook struct {
	book     market.Book
	received time.Time // zero: none was
	views    [1 + len(market.Groupings)]bookView
}

// bookView is the book in one grouping.
type bookView struct {
	cuts [len(depths)]bookCut
	time int64 // of the book that was published last, ms

	received time.Time // when the venue has joined it last; zero: never
}

// bookCut is a view as deep as a subscription goes. Its frame is made when it is wanted.
type bookCut struct {
	topic string
	frame []byte
}

// depths are how many prices a side a subscription gets, and a fast one. Ours are as
// often: the venue's books are joined from both of its ways, and a client that asks for
// a fast one has less to read.
var depths = [...]int{math.MaxInt, hyperliquid.FastLevels}

func depthOf(s *channel.Subscription) int {
	if s.Fast {
		return 1
	}
	return 0
}

func newBooks(b base) publisher { return &books{base: b, coins: map[string]*coinBook{}} }

// groupingOf is how the prices of a subscription of a book are joined.
func groupingOf(s *channel.Subscription) market.Grouping {
	g := market.Grouping{Figs: s.NSigFigs, Mantissa: s.Mantissa}
	if g.Figs > 0 {
		g.Mantissa = max(1, g.Mantissa)
	}
	return g
}

func (b *books) about(s *channel.Subscription) string {
	return aboutBook(s.Coin, groupingOf(s), depthOf(s))
}

// aboutBook has the coin last, which may hold a space.
func aboutBook(coin string, g market.Grouping, depth int) string {
	return fmt.Sprint(g.Figs, " ", g.Mantissa, " ", depth, " ", coin)
}

func (b *books) topic(about string) hub.Topic {
	var g market.Grouping
	var depth int
	parts := strings.SplitN(about, " ", 4)
	for i, n := range []*int{&g.Figs, &g.Mantissa, &depth} {
		*n, _ = strconv.Atoi(parts[i]) // all were written by aboutBook
	}
	coin := parts[3]
	return hub.Topic{Guard: &b.mu, Snapshot: func() [][]byte { return hub.Single(b.snapshot(coin, g, depth)) }, Silence: b.Silence, Stale: markStale}
}

// coin returns what is known of a coin. The caller holds b.mu.
func (b *books) coin(name string) *coinBook {
	c := b.coins[name]
	if c == nil {
		c = &coinBook{}
		for i := range c.views {
			for depth := range depths {
				c.views[i].cuts[depth].topic = b.topicName(aboutBook(name, groupings[i], depth))
			}
		}
		b.coins[name] = c
	}
	return c
}

func (b *books) consume(e *market.Events) {
	for i := range e.Books {
		b.publish(&e.Books[i])
	}
}

// publish publishes a book in the groupings that are followed.
func (b *books) publish(book *market.Book) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.coin(book.Coin)
	c.book, c.received = *book, b.Now()
	for i := range c.views {
		v := &c.views[i]
		if b.joinedByVenue(v, book.Coin, groupings[i]) {
			continue
		}
		var grouped *market.Book // for all depths, where one of them is wanted
		for depth := range v.cuts {
			cut := &v.cuts[depth]
			if cut.frame = nil; b.hub.Watched(cut.topic) && book.Time >= v.time {
				if grouped == nil {
					grouped = new(c.book.Group(groupings[i]))
				}
				cut.frame, v.time = bookFrame(grouped, market.Grouping{}, depth, false), book.Time
				b.hub.Publish(cut.topic, cut.frame, hub.State)
			}
		}
	}
}

// snapshot is the last book in a grouping. The caller holds b.mu.
func (b *books) snapshot(coin string, g market.Grouping, depth int) []byte {
	c := b.coins[coin]
	if c == nil || c.received.IsZero() {
		return nil
	}
	v := &c.views[slices.Index(groupings, g)]
	cut := &v.cuts[depth]
	if b.joinedByVenue(v, coin, g) {
		if b.Now().Sub(v.received) >= b.Silence {
			return nil // it comes in a moment
		}
		return cut.frame
	}
	if b.Now().Sub(c.received) >= b.Silence {
		return bookFrame(&c.book, g, depth, true)
	}
	if cut.frame == nil || !v.received.IsZero() {
		cut.frame = bookFrame(&c.book, g, depth, false)
	}
	return cut.frame
}

// run has the venue join the books that are followed so, until ctx ends.
func (b *books) run(ctx context.Context) error {
	if b.Joined == nil {
		return nil
	}
	group, ctx := guard.WithContext(ctx)
	group.Go(func() error { return b.Joined.Run(ctx, b.publishJoined) })
	group.Go(func() error {
		tick := time.NewTicker(joinEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
				b.requestJoined()
			}
		}
	})
	return group.Wait()
}

// requestJoined has the venue join the books that are followed so, and no others. It sees who
// follows them without b.mu, for which all books wait.
func (b *books) requestJoined() {
	b.mu.Lock()
	coins := maps.Clone(b.coins) // the names of their topics never change
	b.mu.Unlock()
	by := map[string][]hyperliquid.JoinedBook{} // distributor
	for coin, c := range coins {
		for i := 1; i < len(c.views); i++ {
			var topics [len(depths)]string
			for depth := range depths {
				topics[depth] = c.views[i].cuts[depth].topic
			}
			for _, of := range b.hub.Followers(topics[:]...) {
				by[of] = append(by[of], hyperliquid.JoinedBook{Grouping: groupings[i], Coin: coin})
			}
		}
	}
	b.notJoined.Store(int64(b.Joined.Follow(followrequests.ListOf(by))))
}

// prepare has the venue join a book that is about to be followed, if it is of a coin
// that there is.
func (b *books) prepare(of string, s *channel.Subscription) (load func(context.Context) error, release func()) { //nolint:unparam // the interface asks for what it does not need
	g := groupingOf(s)
	if b.Joined == nil || g.Figs == 0 {
		return nil, nil
	}
	b.mu.Lock()
	known := b.coins[s.Coin] != nil
	b.mu.Unlock()
	if known {
		b.Joined.Want(of, hyperliquid.JoinedBook{Grouping: g, Coin: s.Coin})
	}
	return nil, nil
}

// publishJoined publishes a book that the venue has joined.
func (b *books) publishJoined(which hyperliquid.JoinedBook, book *market.Book) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.coin(book.Coin)
	for i := range c.views {
		v := &c.views[i]
		if groupings[i] != which.Grouping || book.Time < v.time {
			continue
		}
		v.received, v.time = b.Now(), book.Time
		for depth := range v.cuts {
			cut := &v.cuts[depth]
			cut.frame = bookFrame(book, market.Grouping{}, depth, false)
			b.hub.Publish(cut.topic, cut.frame, hub.State)
		}
	}
}

// joinedByVenue reports whether the venue joins the book of a view, at present or in
// a moment.
func (b *books) joinedByVenue(v *bookView, coin string, g market.Grouping) bool {
	if b.Joined == nil || g.Figs == 0 {
		return false
	}
	since, wanted := b.Joined.Since(hyperliquid.JoinedBook{Grouping: g, Coin: coin})
	if !wanted {
		return false
	}
	now := b.Now()
	return now.Sub(v.received) < b.Silence || now.Sub(since) < joinWait
}

func bookFrame(book *market.Book, g market.Grouping, depth int, stale bool) []byte {
	grouped := book.Group(g)
	grouped = grouped.Top(depths[depth])
	return append(grouped.AppendJSON(inChannel(channel.L2Book), stale), '}')
}

// markStale marks the frame of a book as old.
func markStale(frame []byte) []byte {
	const mark = `,"stale":true}}`
	body, ok := bytes.CutSuffix(frame, []byte("}}"))
	if !ok || bytes.HasSuffix(frame, []byte(mark)) {
		return frame
	}
	return append(append(make([]byte, 0, len(frame)+len(mark)), body...), mark...)
}
