package wire

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"quotary/shared/market"
	"quotary/shared/text/jsonscan"
	"quotary/shared/text/lenient"
)

// maxBookLevels bounds a side of a book that is read.
const maxBookLevels = 10_000

// ParseBook reads a book as the venue writes it:
//
//	{"coin":"BTC","time":ms,"levels":[[{"px","sz","n"}, ...],[...]]}
//
// Unknown members are skipped. It fails on anything that is no book: a coin,
// time, price or size that cannot be one, or sides that are not in the order of
// their prices.
func ParseBook(body []byte) (market.Book, error) {
	if !utf8.Valid(body) {
		return market.Book{}, fmt.Errorf("read a book: %w: invalid UTF-8", errSyntax)
	}
	r := bookReader{Scanner: jsonscan.New(string(body))}
	if !r.Object(r.member) || !r.End() {
		return market.Book{}, fmt.Errorf("read a book: %w at byte %d", errSyntax, r.Offset())
	}
	if r.sides != 2 {
		return market.Book{}, fmt.Errorf("read a book: it has %d sides", r.sides)
	}
	if err := r.book.Check(); err != nil {
		return market.Book{}, fmt.Errorf("read a book: %w", err)
	}
	return r.book, nil
}

// bookReader is the state of one ParseBook. The texts of the book are parts of
// the frame that it reads.
type bookReader struct {
	jsonscan.Scanner
	book  market.Book
	sides int
}

func (r *bookReader) member(key string) (ok bool) {
	switch key {
	case "coin":
		r.book.Coin, ok = r.Text()
		return ok
	case "time":
		r.book.Time, ok = r.integer()
		return ok
	case "levels":
		return r.sides == 0 && r.Array(func() bool {
			r.sides++
			levels, ok := r.levels()
			switch r.sides {
			case 1:
				r.book.Bids = levels
			case 2:
				r.book.Asks = levels
			}
			return ok
		})
	default:
		return r.Skip()
	}
}

// levels reads a side. Most have the twenty prices of the public feed.
func (r *bookReader) levels() ([]market.Level, bool) {
	levels := make([]market.Level, 0, 20)
	ok := r.Array(func() bool {
		levels = append(levels, market.Level{})
		l := &levels[len(levels)-1]
		return len(levels) <= maxBookLevels && r.Object(func(key string) (ok bool) {
			switch key {
			case "px":
				l.Px, ok = r.Text()
			case "sz":
				l.Sz, ok = r.Text()
			case "n":
				l.N, ok = r.integer()
			default:
				ok = r.Skip()
			}
			return ok
		})
	})
	return levels, ok
}

// integer reads a number without fraction or exponent.
func (r *bookReader) integer() (int64, bool) {
	text, ok := r.Number()
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// ParseBBO reads the best bid and offer of a coin as the venue writes them:
//
//	{"coin","time":ms,"bbo":[bid or null, ask or null]}
//
// with the checks of a book of one price a side.
func ParseBBO(data []byte) (market.BBO, error) {
	var w struct {
		Coin string `json:"coin"`
		Time int64  `json:"time"`
		BBO  [2]*struct {
			Px string `json:"px"`
			Sz string `json:"sz"`
			N  int64  `json:"n"`
		} `json:"bbo"`
	}
	if err := lenient.Object(data, &w); err != nil {
		return market.BBO{}, fmt.Errorf("read best prices: %w", err)
	}
	if !market.ValidCoin(w.Coin) || w.Time <= 0 || w.Time > market.MaxTime {
		return market.BBO{}, errors.New("read best prices: no coin, or no time in ms")
	}
	b := market.BBO{Coin: w.Coin, Time: w.Time}
	for i, to := range [...]**market.Level{&b.Bid, &b.Ask} {
		l := w.BBO[i]
		if l == nil {
			continue
		}
		if err := market.CheckQuantity(l.Px, l.Sz); err != nil {
			return market.BBO{}, fmt.Errorf("read best prices: %w", err)
		}
		*to = &market.Level{Px: l.Px, Sz: l.Sz, N: l.N}
	}
	return b, nil
}
