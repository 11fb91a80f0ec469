// Package books is the view of the last order book of each coin, however old, in
// full precision.
package books

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/text/jsontext"
)

// Name of the view.
const Name = "books"

// View is the books of all coins. Each is kept encoded, so that a reader decodes
// only what it is asked for and the ingester encodes only what has changed.
type View struct {
	Time  int64           `json:"time"` // of the newest book, ms
	Books map[string]Body `json:"books"`
}

// Body is one encoded book.
type Body = json.RawMessage

// NewBody encodes a book that passed [market.Book.Check].
func NewBody(b *market.Book) Body {
	return b.AppendJSON(make([]byte, 0, 128+48*(len(b.Bids)+len(b.Asks))), false)
}

// NewView is the view of some books.
func NewView(list ...market.Book) View {
	v := View{Books: make(map[string]Body, len(list))}
	for i := range list {
		v.Time = max(v.Time, list[i].Time)
		v.Books[list[i].Coin] = NewBody(&list[i])
	}
	return v
}

// Lookup returns the book of a coin; ok is false where there is none. The book passes
// [market.Book.Check].
func (v View) Lookup(coin string) (b market.Book, ok bool, err error) {
	body, ok := v.Books[coin]
	if !ok {
		return market.Book{}, false, nil
	}
	if b, err = decode(body); err == nil && b.Coin != coin {
		err = fmt.Errorf("it is the book of %.80q", b.Coin)
	}
	if err != nil {
		return market.Book{}, false, fmt.Errorf("read the book of %s in view %s: %w", coin, Name, err)
	}
	return b, true, nil
}

func decode(body Body) (market.Book, error) {
	var w struct {
		Coin   string    `json:"coin"`
		Time   int64     `json:"time"`
		Levels [][]level `json:"levels"`
	}
	if err := json.Unmarshal(body, &w); err != nil {
		return market.Book{}, err
	}
	if len(w.Levels) != 2 {
		return market.Book{}, errors.New("it has not two sides")
	}
	b := market.Book{Coin: w.Coin, Time: w.Time, Bids: levels(w.Levels[0]), Asks: levels(w.Levels[1])}
	return b, b.Check()
}

// level is a market.Level as it is stored.
type level struct {
	Px string `json:"px"`
	Sz string `json:"sz"`
	N  int64  `json:"n"`
}

func levels(stored []level) []market.Level {
	list := make([]market.Level, len(stored))
	for i, l := range stored {
		list[i] = market.Level(l)
	}
	return list
}

// Published is how the view is stored. What is read of it has the books themselves as they
// are, which [View.Of] reads.
var Published = store.ViewType[View]{Name: Name, Period: time.Second, Write: encode}

func encode(v View) []byte {
	size := 64
	for coin, body := range v.Books {
		size += len(coin) + len(body) + 8
	}
	b := strconv.AppendInt(append(make([]byte, 0, size), `{"time":`...), v.Time, 10)
	b = append(b, `,"books":{`...)
	for i, coin := range slices.Sorted(maps.Keys(v.Books)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(jsontext.AppendString(b, coin), ':'), v.Books[coin]...)
	}
	return append(b, "}}"...)
}
