package okx

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/text/jsonscan"
)

var errBook = errors.New("is no order book")

// booksChannel is that of order books: it needs no login, and has the most levels of those
// that do not.
const booksChannel = "books"

const bookLevels = 400 // of a side, in the channel

// FollowBooks delivers the order books of pairs, over a connection of its own, until ctx ends
// or the sink fails. It follows the channel books, which begins with the best 400 levels of
// each side and says every 100 ms what has changed, levels that are behind these 400 now
// included: more than 400 are refused. Where an update is missing the stream is connected
// again. It counts in stats.
func (m *Market) FollowBooks(ctx context.Context, pairs []market.Pair, books source.Books, stats *source.Stats, sink source.EventSink) error {
	if books.Levels > bookLevels {
		return fmt.Errorf("%d levels of books are wanted, and %d known", books.Levels, bookLevels)
	}
	p := protocol
	p.Topics = func(pairs []market.Pair) (topics []any) {
		for _, pair := range pairs {
			topics = append(topics, arg{Channel: booksChannel, InstID: pair.Symbol})
		}
		return topics
	}
	s := source.Stream{Protocol: p, URL: m.stream + publicPath, Stats: stats, Log: m.Log, Now: m.Now, Books: &books}
	return s.Follow(ctx, pairs, sink)
}

// readBook reads what is said of a book: {"asks":[["61737.6","0.5","0","1"],..],"bids":[..],
// "ts":"..","prevSeqId":8,"seqId":9}.
func readBook(p *jsonscan.Scanner, u *source.BookUpdate) error {
	if u.Last != 0 { // a frame is of one
		return errBook
	}
	seen := 0
	ok := p.Object(func(key string) (ok bool) {
		switch key {
		case "asks":
			ok = source.ReadLevels(p, &u.Asks)
		case "bids":
			ok = source.ReadLevels(p, &u.Bids)
		case "ts":
			ok = integer(p, &u.Time)
		case "seqId":
			ok = number(p, &u.Last)
		case "prevSeqId":
			ok = number(p, &u.Prev)
		default:
			return p.Skip()
		}
		seen++
		return ok
	})
	if !ok || seen != bookFields {
		return errBook
	}
	return source.CheckTime(u.Time)
}

// bookFields are those that a book must have, each once.
const bookFields = 5

// endBook completes an update with what its frame says outside of the data.
func endBook(u *source.BookUpdate, symbol, action string) error {
	if u.Last < 1 || symbol == "" {
		return errBook
	}
	u.Symbol = symbol
	switch action {
	case "snapshot":
		u.Snapshot, u.Prev = true, 0 // it says -1
	case "update":
		u.First = u.Prev + 1
	default:
		return errBook
	}
	return nil
}

// number reads a whole number that is written as one.
func number(p *jsonscan.Scanner, to *int64) bool {
	text, ok := p.Number()
	if !ok {
		return false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	*to = n
	return err == nil
}
