package okx

import (
	"hash/crc32"
	"strings"

	"quotary/localstack/sim/trading"
)

// booksChannel has order books: all of one, then what changes.
const booksChannel = "books"

// bookUpdate is what the channel says of a book.
type bookUpdate struct {
	Asks      [][4]string `json:"asks"`
	Bids      [][4]string `json:"bids"`
	Ts        string      `json:"ts"`
	Checksum  int32       `json:"checksum"`
	SeqID     int64       `json:"seqId"`
	PrevSeqID int64       `json:"prevSeqId"`
}

// seqEvery is how far apart the numbers of two updates are: those of the exchange are not
// one apart.
const seqEvery = 7

// seqID is the number of what a book is at a time, ms.
func seqID(at int64) int64 { return at / trading.BookEvery * seqEvery }

// wholeBook is a book at a time, ms.
func wholeBook(m *trading.Market, at int64) bookUpdate {
	bids, asks := m.Book(at)
	return bookUpdate{bookLevels(m, asks), bookLevels(m, bids), text(at), checksum(m, at), seqID(at), -1}
}

// bookUpdates are the changes of a book between two times, ms.
func (x *Exchange) bookUpdates(m *trading.Market, from, to int64) (list []any) {
	for at := (from + trading.BookEvery - 1) / trading.BookEvery * trading.BookEvery; at < to; at += trading.BookEvery {
		if x.UpdateLost() {
			continue
		}
		bids, asks := m.BookChanges(at)
		list = append(list, bookUpdate{bookLevels(m, asks), bookLevels(m, bids), text(at), checksum(m, at), seqID(at), seqID(at) - seqEvery})
	}
	return list
}

// checksum is what a book at a time, ms, adds up to: the CRC-32 of its best 25 levels.
func checksum(m *trading.Market, at int64) int32 {
	bids, asks := m.Book(at)
	var texts []string
	for i := range 25 {
		for _, side := range [][]trading.Level{bids, asks} {
			if i < len(side) {
				texts = append(texts, plain(m.Price(side[i].Price)), plain(size(m, side[i].Size)))
			}
		}
	}
	return int32(crc32.ChecksumIEEE([]byte(strings.Join(texts, ":")))) //nolint:gosec // the bits are written as signed
}

// plain is a decimal without zeros at its end.
func plain(text string) string {
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// bookLevels writes levels: price, size, what nothing uses any more, and orders.
func bookLevels(m *trading.Market, levels []trading.Level) [][4]string {
	list := make([][4]string, len(levels))
	for i, l := range levels {
		list[i] = [4]string{m.Price(l.Price), size(m, l.Size), "0", text(min(l.Size, 1))}
	}
	return list
}
