package bybit

import (
	"context"
	"errors"
	"fmt"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/text/jsonscan"
)

var errBook = errors.New("is no order book")

// Topics of order books: their names go on with how many levels of a side they have, and the
// symbol.
const (
	bookTopic  = "orderbook."
	bookLevels = 200
)

// bookPairs is how many pairs the topics of a connection have room for, of 21,000 characters
// together.
const bookPairs = 500

// FollowBooks delivers the order books of pairs, over a connection of its own, until ctx ends
// or the sink fails. It follows the topics orderbook.200, which begin with the best 200 levels
// of each side and say every 100 ms, of spot every 200, what has changed of them: more than
// 200 are refused. Of the other topics those with fewer levels send five times as many frames,
// and the next has 1000. Where an update is missing the topic of that pair begins again. It
// counts in stats.
func (m *Market) FollowBooks(ctx context.Context, pairs []market.Pair, books source.Books, stats *source.Stats, sink source.EventSink) error {
	if books.Levels > bookLevels {
		return fmt.Errorf("%d levels of books are wanted, and %d known", books.Levels, bookLevels)
	}
	books.Topic = func(pair market.Pair) any { return fmt.Sprintf("%s%d.%s", bookTopic, bookLevels, pair.Symbol) }
	p := protocol(m.Swap)
	p.MaxPairs, p.Unnumbered = bookPairs, false
	p.Topics = func(pairs []market.Pair) (topics []any) {
		for _, pair := range pairs {
			topics = append(topics, books.Topic(pair))
		}
		return topics
	}
	s := source.Stream{Protocol: p, URL: m.streamURL(), Stats: stats, Log: m.Log, Now: m.Now, Books: &books}
	return s.Follow(ctx, pairs, sink)
}

// readBook reads what is said of a book: {"s":"BTCUSDT","b":[["61737.6","0.5"],..],"a":[..],
// "u":18521288,"seq":7961638724}.
func readBook(p *jsonscan.Scanner, u *source.BookUpdate) bool {
	seen := 0
	ok := p.Object(func(key string) (ok bool) {
		switch key {
		case "s":
			u.Symbol, ok = p.Text()
		case "b":
			ok = source.ReadLevels(p, &u.Bids)
		case "a":
			ok = source.ReadLevels(p, &u.Asks)
		case "u":
			u.Last, ok = integer(p)
		default:
			return p.Skip()
		}
		seen++
		return ok
	})
	return ok && seen == bookFields
}

// bookFields are those that a book must have, each once.
const bookFields = 4

// endBook completes an update with what its frame says outside of the data. Updates are
// numbered one by one; the exchange begins again with a snapshot of number 1.
func endBook(u *source.BookUpdate, kind string, ts int64) error {
	if u.Symbol == "" || u.Last < 1 {
		return errBook
	}
	u.Time = ts
	switch {
	case kind == snapshot || kind == delta && u.Last == 1:
		u.Snapshot = true
	case kind == delta:
		u.First, u.Prev = u.Last, u.Last-1
	default:
		return errBook
	}
	return source.CheckTime(ts)
}
