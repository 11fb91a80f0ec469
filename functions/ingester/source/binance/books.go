package binance

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/text/jsonscan"
)

// bookLimit is how many levels of a side are asked for: the most of perpetuals. The price
// leaves fewer of them soon, and the book must be asked for again.
const bookLimit = 1000

// FollowBooks delivers the order books of pairs until ctx ends or the sink fails, over a
// connection of its own that stats counts for. Changes come from the calmest streams of all
// levels, @depth every second of spot and @depth@500ms of perpetuals, those of USD-M on the
// route /public. They begin with no book: it is asked for, with its best 1000 levels, and
// again when the price has left these or a change is missing.
func (m *Market) FollowBooks(ctx context.Context, pairs []market.Pair, books source.Books, stats *source.Stats, sink source.EventSink) error {
	if books.Levels > bookLimit {
		return fmt.Errorf("%d levels of books are wanted, and %d known", books.Levels, bookLimit)
	}
	books.FetchSnapshot = m.book
	protocol := m.rules.protocol()
	protocol.MaxPairs = maxStreams
	protocol.Topics = func(pairs []market.Pair) (topics []any) {
		for _, pair := range pairs {
			topics = append(topics, strings.ToLower(pair.Symbol)+m.rules.depth)
		}
		return topics
	}
	protocol.NewParser = func() source.Parser { return parse }
	s := source.Stream{Protocol: protocol, URL: m.stream + m.rules.bookRoute + "/stream", Stats: stats, Log: m.Log, Now: m.Now, Books: &books}
	return s.Follow(ctx, pairs, sink)
}

// bookSnapshot is the answer.
type bookSnapshot struct {
	Last int64  `json:"lastUpdateId"`
	Time int64  `json:"T"` // ms; not of spot
	Bids levels `json:"bids"`
	Asks levels `json:"asks"`
}

type levels []market.PairLevel

var (
	errBook   = errors.New("is no book")
	errLevels = errors.New("are no levels of a book")
)

// UnmarshalJSON reads the levels of a side, which are not nil where there are none.
func (l *levels) UnmarshalJSON(b []byte) error {
	*l = levels{}
	p := jsonscan.New(string(b))
	if !source.ReadLevels(&p, (*[]market.PairLevel)(l)) {
		return errLevels
	}
	return nil
}

// book asks for the snapshot of a pair.
func (m *Market) book(ctx context.Context, pair market.Pair) (source.BookUpdate, error) {
	var snapshot bookSnapshot
	query := url.Values{"symbol": {pair.Symbol}, "limit": {strconv.Itoa(bookLimit)}}
	if err := m.host.Get(ctx, m.rules.path+"/depth", query, m.rules.bookWeight, &snapshot); err != nil {
		return source.BookUpdate{}, fmt.Errorf("read the book of %s: %w", pair.Key, err)
	}
	if err := snapshot.check(m.rules.swap); err != nil {
		return source.BookUpdate{}, fmt.Errorf("read the book of %s: %w", pair.Key, err)
	}
	return source.BookUpdate{Time: snapshot.Time, Last: snapshot.Last, Bids: snapshot.Bids, Asks: snapshot.Asks, Best: bookLimit}, nil
}

// check returns an error for what is no book, of a perpetual or of spot.
func (b *bookSnapshot) check(swap bool) error {
	if b.Last <= 0 || b.Bids == nil || b.Asks == nil {
		return errBook
	}
	if swap {
		return source.CheckTime(b.Time)
	}
	return nil
}

// depthFields are those of the changes of a book that are read.
type depthFields struct {
	to     *source.BookUpdate
	time   int64 // of the event, ms
	seen   int   // of all books
	linked int   // of those of perpetuals
}

const (
	depthFieldCount  = 6
	linkedFieldCount = 2
)

var errDepth = errors.New("are no changes of a book")

func (d *depthFields) field(p *jsonscan.Scanner, key string) (ok bool) {
	count := &d.seen
	switch key {
	case "s":
		d.to.Symbol, ok = p.Text()
	case "E":
		d.time, ok = integer(p)
	case "U":
		d.to.First, ok = integer(p)
	case "u":
		d.to.Last, ok = integer(p)
	case "b":
		ok = source.ReadLevels(p, &d.to.Bids)
	case "a":
		ok = source.ReadLevels(p, &d.to.Asks)
	case "T":
		d.to.Time, ok = integer(p)
		count = &d.linked
	case "pu":
		d.to.Prev, ok = integer(p)
		count = &d.linked
	default:
		return p.Skip()
	}
	*count++
	return ok
}

// finish checks what was read. The numbers of spot go on without a break; perpetuals, whose
// numbers are those of all of them, name the one before and the time of the change.
func (d *depthFields) finish() error {
	if d.seen != depthFieldCount || d.to.Symbol == "" || d.to.Last < d.to.First {
		return errDepth
	}
	switch d.linked {
	case 0:
		d.to.Time, d.to.Prev = d.time, d.to.First-1
	case linkedFieldCount:
	default:
		return errDepth
	}
	return source.CheckTime(d.to.Time)
}
