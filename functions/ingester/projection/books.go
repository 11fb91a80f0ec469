package projection

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"quotary/shared/market"
	"quotary/shared/store"
)

// books keeps the last book of each coin, and samples what rests in it.
type books struct {
	last    map[string]*lastBook
	time    int64 // of the newest, ms
	changed bool
	depth   sampler
}

type lastBook struct {
	book market.Book
	text []byte // the book as the view has it; nil while it is to be written anew
}

// freshFor is how old a book may be to be sampled: the venue tells one that
// does not change too.
const freshFor = time.Minute

func newBooks() books {
	return books{last: map[string]*lastBook{}, depth: newSampler(store.DepthSeries)}
}

func (p *books) apply(b *market.Book) {
	have := p.last[b.Coin]
	if have == nil {
		have = new(lastBook)
		p.last[b.Coin] = have
	} else if b.Time < have.book.Time {
		return
	}
	have.book, have.text = *b, nil
	p.time = max(p.time, b.Time)
	p.changed = true
}

// samples appends a row of each coin whose book is fresh, once a minute:
//
//	{"time":s,"coin":"BTC","bidVolume":"..","askVolume":".."}
func (p *books) samples(rows []store.SeriesRow, now time.Time) []store.SeriesRow {
	for _, coin := range sortedCoins(p.last) {
		b := &p.last[coin].book
		if now.Sub(time.UnixMilli(b.Time)) > freshFor || !p.depth.due(coin, now) {
			continue
		}
		bids, asks := b.Depth()
		rows = p.depth.add(rows, coin, now, encode(struct {
			Time int64  `json:"time"`
			Coin string `json:"coin"`
			Bids string `json:"bidVolume"`
			Asks string `json:"askVolume"`
		}{b.Time / 1000, coin, market.Text(bids), market.Text(asks)}))
	}
	return rows
}

// body writes the view; books that have not changed are not encoded again.
func (p *books) body() []byte {
	p.changed = false
	b := strconv.AppendInt([]byte(`{"time":`), p.time, 10)
	b = append(b, `,"books":{`...)
	for i, coin := range sortedCoins(p.last) {
		if i > 0 {
			b = append(b, ',')
		}
		last := p.last[coin]
		if last.text == nil {
			last.text = append(append(encode(coin), ':'), last.book.AppendJSON(nil, false)...)
		}
		b = append(b, last.text...)
	}
	return append(b, "}}"...)
}

func (p *books) restore(bodies map[string][]byte) error {
	var v struct {
		Time  int64                      `json:"time"`
		Books map[string]json.RawMessage `json:"books"`
	}
	if err := restore(bodies, store.BooksView, &v); err != nil {
		return err
	}
	p.time = v.Time
	for coin, text := range v.Books {
		b, err := market.ParseBook(text)
		if err != nil {
			return fmt.Errorf("read view %s: %s: %w", store.BooksView, coin, err)
		}
		p.last[coin] = &lastBook{book: b}
	}
	return nil
}
