package pairbooks

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
)

// sides draws the levels of a book, the best first.
func sides(t *rapid.T, name string, sign int) (levels []market.PairLevel) {
	for range rapid.IntRange(0, 8).Draw(t, name) {
		l := market.PairLevel{Px: markettest.Parsed(14, 19).Draw(t, "price"), Sz: markettest.Parsed(17, 19).Draw(t, "size")}
		if l.Px.IsPos() && !slices.ContainsFunc(levels, func(o market.PairLevel) bool { return o.Px.Equal(l.Px) }) {
			levels = append(levels, l)
		}
	}
	slices.SortFunc(levels, func(a, b market.PairLevel) int { return sign * a.Px.Cmp(b.Px) })
	return levels
}

// drawn makes books. Each test has a generator of its own: they write notes to themselves.
func drawn() *rapid.Generator[market.PairBook] {
	return rapid.Custom(func(t *rapid.T) market.PairBook {
		return market.PairBook{Pair: "btcusdt:x", Time: markettest.Time().Draw(t, "time"), Bids: sides(t, "bids", -1), Asks: sides(t, "asks", 1)}
	})
}

func TestTheStoredView(t *testing.T) {
	datasettest.Codec[View]{
		Values: rapid.Custom(func(t *rapid.T) View { return NewView(time.UnixMilli(0), drawn().Draw(t, "book")) }),
		Encode: Published.Encode,
		Decode: Published.Decode,
		Use:    func(v View) { _, _, _ = v.Lookup("btcusdt:x", time.UnixMilli(0)) },
	}.Test(t)
}

func TestStoredSamples(t *testing.T) {
	datasettest.Codec[market.PairBook]{
		Values: drawn(),
		Encode: func(b market.PairBook) []byte {
			row, _ := SampleRow(&b)
			return append(row.Body, '\n') // of what is read and cannot be written there is that
		},
		Decode: func(body []byte) (b market.PairBook, err error) {
			one, err := samples.Decode(body)
			if err != nil {
				return b, err
			}
			b = market.PairBook{Pair: "btcusdt:x", Time: one.Time}
			b.Bids, b.Asks, err = unpack(one.Levels)
			return b, err
		},
	}.Test(t)
}

func TestABookThatNoExchangeHasIsLost(t *testing.T) {
	t.Parallel()
	level := func(px, sz string) market.PairLevel {
		p, err1 := market.ParseDecimal(px)
		s, err2 := market.ParseDecimal(sz)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		return market.PairLevel{Px: p, Sz: s}
	}
	const huge = "9999999999999999999999999999999999999999"
	for name, b := range map[string]market.PairBook{
		"bids that rise":           {Bids: []market.PairLevel{level("1", "1"), level("2", "1")}},
		"asks that fall":           {Asks: []market.PairLevel{level("2", "1"), level("1", "1")}},
		"a price that comes twice": {Asks: []market.PairLevel{level("2", "1"), level("2", "1")}},
		"a price of nothing":       {Bids: []market.PairLevel{level("0", "1")}},
		"a size below nothing":     {Bids: []market.PairLevel{level("1", "-1")}},
		"a huge price":             {Bids: []market.PairLevel{level(huge, "1")}},
		"a huge size":              {Asks: []market.PairLevel{level("1", huge), level("2", "0.1")}},
		"a book that is lost":      {Lost: true},
	} {
		b.Pair = "x"
		if got, followed, err := NewView(time.UnixMilli(5), b).Lookup("x", time.UnixMilli(5)); err != nil || !followed || !got.Lost {
			t.Errorf("%s: %+v, %t, %v", name, got, followed, err)
		}
		if _, ok := SampleRow(&b); ok {
			t.Errorf("%s is a sample", name)
		}
	}
}
