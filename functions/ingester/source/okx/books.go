package okx

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
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
// included: more than 400 are refused. Where an update is missing, or a book has not the checksum
// that the exchange says, the channel of that pair begins again. It counts in stats.
func (m *Market) FollowBooks(ctx context.Context, pairs []market.Pair, books source.Books, stats *source.Stats, sink source.EventSink) error {
	if books.Levels > bookLevels {
		return fmt.Errorf("%d levels of books are wanted, and %d known", books.Levels, bookLevels)
	}
	books.Topic = func(pair market.Pair) any { return arg{Channel: booksChannel, InstID: pair.Symbol} }
	books.Checksum = checksum
	p := protocol
	p.Topics = func(pairs []market.Pair) (topics []any) {
		for _, pair := range pairs {
			topics = append(topics, books.Topic(pair))
		}
		return topics
	}
	s := source.Stream{Protocol: p, URL: m.stream + publicPath, Stats: stats, Log: m.Log, Now: m.Now, Books: &books}
	return s.Follow(ctx, pairs, sink)
}

// readBook reads what is said of a book: {"asks":[["61737.6","0.5","0","1"],..],"bids":[..],
// "ts":"..","checksum":-855196043,"prevSeqId":8,"seqId":9}. It may say no checksum, or 0 for none.
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
		case "checksum":
			var sum int64
			if ok = number(p, &sum); ok {
				u.Checksum = int32(sum) //nolint:gosec // one that does not fit is none
				u.Summed = sum != 0 && sum == int64(u.Checksum)
			}
			return ok
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

// checksum is what the exchange makes of the best 25 levels: the CRC-32 of their prices and sizes,
// of a bid and an ask in turn, joined by colons. It writes them without zeros at the end, as
// decimals are written here.
func checksum(bids, asks []market.PairLevel) int32 {
	var room [4096]byte
	b := room[:0]
	for i := range max(len(bids), len(asks)) {
		for _, side := range [...][]market.PairLevel{bids, asks} {
			if i < len(side) {
				b = market.AppendDecimal(append(market.AppendDecimal(b, side[i].Px), ':'), side[i].Sz)
				b = append(b, ':')
			}
		}
	}
	return int32(crc32.ChecksumIEEE(bytes.TrimSuffix(b, []byte(":")))) //nolint:gosec // the bits are read as signed
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
