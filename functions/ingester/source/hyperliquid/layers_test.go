package hyperliquid

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"quotary/shared/market"
)

// bookOf is a book with bids down from and asks up from a price.
func bookOf(ms int64, bid, ask, bids, asks int) market.Book {
	b := market.Book{Coin: "BTC", Time: ms}
	for n := range bids {
		b.Bids = append(b.Bids, market.Level{Px: fmt.Sprint(bid - n), Sz: fmt.Sprint(ms)})
	}
	for n := range asks {
		b.Asks = append(b.Asks, market.Level{Px: fmt.Sprint(ask + n), Sz: fmt.Sprint(ms)})
	}
	return b
}

// show writes a book as its time, and for each side the first and last price and how many
// prices come from a frame of which time.
func show(b *market.Book) string {
	text := fmt.Sprint(b.Time)
	for _, side := range [][]market.Level{b.Bids, b.Asks} {
		if text += ":"; len(side) == 0 {
			continue
		}
		text += fmt.Sprint(" ", side[0].Px, " to ", side[len(side)-1].Px)
		for i := 0; i < len(side); {
			from := i
			for i < len(side) && side[i].Sz == side[from].Sz {
				i++
			}
			text += fmt.Sprint(" ", i-from, " of ", side[from].Sz)
		}
	}
	return text
}

func TestABookIsAsNewAsItsFastFramesAndAsDeepAsItsPlainOnes(t *testing.T) {
	t.Parallel()
	plain := bookOf(1000, 100, 101, 20, 20)
	for name, tt := range map[string]struct {
		frames []market.Book
		want   string // "" where the last frame makes no book
	}{
		"a plain frame":                         {[]market.Book{plain}, "1000: 100 to 81 20 of 1000: 101 to 120 20 of 1000"},
		"a fast frame alone":                    {[]market.Book{bookOf(1500, 100, 101, 5, 5)}, "1500: 100 to 96 5 of 1500: 101 to 105 5 of 1500"},
		"a fast frame after a plain one":        {[]market.Book{plain, bookOf(1500, 99, 102, 5, 5)}, "1500: 99 to 81 5 of 1500 14 of 1000: 102 to 120 5 of 1500 14 of 1000"},
		"prices that have come before the best": {[]market.Book{plain, bookOf(1500, 102, 103, 5, 5)}, "1500: 102 to 83 5 of 1500 15 of 1000: 103 to 120 5 of 1500 13 of 1000"},
		"a side that has no more":               {[]market.Book{plain, bookOf(1500, 100, 101, 4, 0)}, "1500: 100 to 97 4 of 1500:"},
		"a plain frame after a fast one":        {[]market.Book{bookOf(1500, 100, 101, 5, 5), bookOf(2000, 100, 101, 20, 20)}, "2000: 100 to 81 20 of 2000: 101 to 120 20 of 2000"},
		"a plain frame that is behind":          {[]market.Book{bookOf(1500, 100, 101, 5, 5), plain}, "1500: 100 to 81 5 of 1500 15 of 1000: 101 to 120 5 of 1500 15 of 1000"},
		"both of one time":                      {[]market.Book{plain, bookOf(1000, 100, 101, 5, 5)}, "1000: 100 to 81 20 of 1000: 101 to 120 20 of 1000"},
		"a fast frame that is behind":           {[]market.Book{plain, bookOf(500, 100, 101, 5, 5)}, ""},
		"a frame that comes late":               {[]market.Book{bookOf(1500, 100, 101, 5, 5), bookOf(1000, 99, 101, 5, 5)}, ""},
		"plain frames that have ended":          {[]market.Book{plain, bookOf(16_001, 100, 101, 5, 3)}, "16001: 100 to 96 5 of 16001: 101 to 103 3 of 16001"},
	} {
		books, got := layers{}, ""
		for i := range tt.frames {
			got = ""
			if b, ok := books.join(&tt.frames[i]); ok {
				got = show(&b)
				if err := b.Check(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		if got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, tt.want)
		}
	}
}

func TestEveryCoinHasABookBeforeAnyHasAFastOne(t *testing.T) {
	t.Parallel()
	f := Feed{Trades: true, Books: true, Stats: new(Stats), Log: quiet, known: map[subscription]bool{}, news: make(chan struct{}, 1)}
	var coins []string
	for n := range 400 {
		coins = append(coins, fmt.Sprintf(`{"name":"C%d"}`, n))
	}
	f.wantAll(&market.Meta{Perps: map[string]json.RawMessage{"": json.RawMessage(`{"universe":[` + strings.Join(coins, ",") + `]}`)}})
	ways := map[string]int{}
	for _, s := range f.wanted {
		if s.Type == "l2Book" {
			if ways[s.Coin]++; s.Fast != (ways[s.Coin] == 2) {
				t.Errorf("%+v is subscription %d of the coin", s, ways[s.Coin])
			}
		}
	}
	if len(f.wanted) != maxSubscriptions || len(ways) != 400 || ways["C0"] != 2 || ways["C98"] != 2 || ways["C399"] != 1 {
		t.Errorf("%d subscriptions, %d of them of books", len(f.wanted), len(ways))
	}
}

func TestBooksOfCoinsThatNobodyAskedForAreNotKept(t *testing.T) {
	t.Parallel()
	l := layers{}
	for n := range 2 * mostBooks {
		l.join(&market.Book{Coin: fmt.Sprint(n), Time: 1})
	}
	if len(l) != mostBooks {
		t.Errorf("%d books are kept", len(l))
	}
}

// One book of the future hides none of those that follow.
func TestABookOfTheFutureIsNone(t *testing.T) {
	t.Parallel()
	frame := func(ahead time.Duration) []byte {
		return fmt.Appendf(nil, `{"channel":"l2Book","data":{"coin":"BTC","time":%d,"levels":[[{"px":"1.0","sz":"1.0","n":1}],[]]}}`, time.Now().Add(ahead).UnixMilli())
	}
	f := &Feed{Stats: new(Stats), known: map[subscription]bool{{Type: "l2Book", Coin: "BTC"}: true}}
	books := layers{}
	for _, tt := range []struct {
		ahead time.Duration
		want  int
	}{{0, 1}, {time.Hour, 0}, {time.Second, 1}} {
		if e, err := f.frame(frame(tt.ahead), books); len(e.Books) != tt.want || (err == nil) != (tt.want == 1) {
			t.Errorf("%s ahead: %d books, %v", tt.ahead, len(e.Books), err)
		}
		if book, err := joinedFrame(frame(tt.ahead)); (err == nil) != (tt.want == 1) {
			t.Errorf("%s ahead, joined: %+v, %v", tt.ahead, book, err)
		}
	}
}
