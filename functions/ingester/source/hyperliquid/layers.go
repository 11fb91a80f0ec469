package hyperliquid

import (
	"errors"
	"time"

	"quotary/shared/market"
	"quotary/shared/venue/wire"
)

// The venue pushes a book in two ways: a plain subscription gets twenty prices a side
// every five seconds, a fast one the best five twice a second. A frame does not say
// which it is.
const (
	// FastLevels is how many prices a side of a fast book has at most.
	FastLevels = 5

	plainLevels = 20
	// plainFor is how long a plain book is used after its time: longer than it takes
	// until the next one comes. Where none comes the book has become so short that its
	// plain frames are taken for fast ones, which have all there is of it.
	plainFor = 15 * time.Second
)

// mostBookText is how long the text of a book may be, in bytes: twenty prices a side are below
// 4 KB. Whoever keeps a price keeps all of the text.
const mostBookText = 16 << 10

var (
	errBookText  = errors.New("a book is longer than twenty prices a side")
	errBookAhead = errors.New("a book is of the future")
)

// readBook reads a book that is pushed. One that is ahead of the clock is none: those that follow would
// be older than it.
func readBook(data []byte) (market.Book, error) {
	if len(data) > mostBookText {
		return market.Book{}, errBookText
	}
	book, err := wire.ParseBook(data)
	if err == nil && book.Time > time.Now().Add(aheadMost).UnixMilli() {
		return market.Book{}, errBookAhead
	}
	return book, err
}

// mostBooks is of how many coins a connection keeps books: more than may be subscribed to.
const mostBooks = 1000

// layers are the books of a connection, each subscribed to in both ways: the best
// prices are those of the newest frame, what is behind them that of the last plain one.
type layers map[string]*layered // by coin

type layered struct{ plain, fast market.Book }

// join returns the book that a frame makes; it is not ok where a newer one has been
// made.
func (l layers) join(frame *market.Book) (book market.Book, ok bool) {
	of := l[frame.Coin]
	if of == nil {
		if len(l) == mostBooks {
			return book, false
		}
		of = &layered{}
		l[frame.Coin] = of
	}
	way := &of.fast
	if len(frame.Bids) > FastLevels || len(frame.Asks) > FastLevels {
		way = &of.plain
	}
	if frame.Time < way.Time {
		return book, false
	}
	*way = *frame
	switch age := of.fast.Time - of.plain.Time; {
	case age > plainFor.Milliseconds():
		book = of.fast
	case age > 0:
		book = of.fast.Over(&of.plain, FastLevels)
	default:
		book = of.plain
	}
	return book.Top(plainLevels), way == &of.plain || frame.Time >= of.plain.Time
}
