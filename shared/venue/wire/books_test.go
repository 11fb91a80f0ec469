package wire_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"quotary/localstack/sim/venue"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/venue/wire"
)

// levels reads "px:sz:n px:sz:n".
func levels(text string) []market.Level {
	list := []market.Level{}
	for _, part := range strings.Fields(text) {
		var l market.Level
		fields := strings.Split(part, ":")
		l.Px, l.Sz = fields[0], fields[1]
		fmt.Sscan(fields[2], &l.N)
		list = append(list, l)
	}
	return list
}

// TestBooksAreGroupedAsTheVenueGroupsThem compares with the simulated venue,
// which joins the orders of its plain book. The plain book ends with
// its 20th price, so the last group may hold more there.
func TestBooksAreGroupedAsTheVenueGroupsThem(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	v := must.Get(venue.Open(venue.Config{Traders: 60, HistoryDays: 1, Clock: func() time.Time { return noon }}))(t)
	defer v.Close()
	ask := func(question string) market.Book {
		t.Helper()
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/info", strings.NewReader(question))
		r.Header.Set("Content-Type", "application/json")
		v.Handler().ServeHTTP(w, r)
		b, err := wire.ParseBook(w.Body.Bytes())
		if err != nil {
			t.Fatalf("%s answers %s: %v", question, w.Body, err)
		}
		if again := string(b.AppendJSON(nil, false)); again != w.Body.String() {
			t.Errorf("the book is written as\n%s\nwant\n%s", again, w.Body)
		}
		return b
	}
	compared := 0
	for _, coin := range []string{"BTC", "ETH", "SOL", "DOGE", "kPEPE", "PURR/USDC"} {
		plain := ask(`{"type":"l2Book","coin":"` + coin + `"}`)
		for _, g := range []market.Grouping{{Figs: 2, Mantissa: 1}, {Figs: 3, Mantissa: 1}, {Figs: 4, Mantissa: 1}, {Figs: 5, Mantissa: 1}, {Figs: 5, Mantissa: 2}, {Figs: 5, Mantissa: 5}} {
			question := fmt.Sprintf(`{"type":"l2Book","coin":%q,"nSigFigs":%d}`, coin, g.Figs)
			if g.Mantissa > 1 {
				question = fmt.Sprintf(`{"type":"l2Book","coin":%q,"nSigFigs":%d,"mantissa":%d}`, coin, g.Figs, g.Mantissa)
			}
			want, got := ask(question), plain.Group(g)
			for side, pair := range map[string][2][]market.Level{"bids": {want.Bids, got.Bids}, "asks": {want.Asks, got.Asks}} {
				want, got := pair[0], pair[1]
				for i := range got {
					if i == len(got)-1 {
						if got[i].Px != want[i].Px {
							t.Errorf("%s %+v %s: the last group is at %s, want %s", coin, g, side, got[i].Px, want[i].Px)
						}
					} else if got[i] != want[i] {
						t.Errorf("%s %+v %s: group %d is %v, want %v", coin, g, side, i, got[i], want[i])
					}
					compared++
				}
			}
		}
	}
	if compared < 100 {
		t.Errorf("only %d groups were compared", compared)
	}
}

func TestWhatIsNoBookIsRefused(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{}`: "0 sides",
		`{"coin":"BTC","time":1,"levels":[[],[],[]]}`:                                                       "3 sides",
		`{"coin":"","time":1,"levels":[[],[]]}`:                                                             "no coin",
		`{"coin":"BTC","levels":[[],[]]}`:                                                                   "no time",
		`{"coin":"BTC","time":1,"levels":[[{"px":"-1","sz":"1","n":1}],[]]}`:                                "px",
		`{"coin":"BTC","time":1,"levels":[[{"px":"1","sz":"1e9","n":1}],[]]}`:                               "sz",
		`{"coin":"BTC","time":1,"levels":[[{"px":"1","sz":"1","n":-1}],[]]}`:                                "orders at one price",
		`{"coin":"BTC","time":1,"levels":[[{"px":"1","sz":"1","n":1},{"px":"2","sz":"1","n":1}],[]]}`:       "bids: 2 does not come after 1",
		`{"coin":"BTC","time":1,"levels":[[],[{"px":"1","sz":"1","n":1},{"px":"1.0","sz":"1","n":1}]]}`:     "asks: 1.0 does not come after 1",
		`{"coin":"BTC","time":1,"levels":[[],[{"px":"1","sz":"1","n":1},{"px":"0.9","sz":"1","n":"one"}]]}`: "read a book",
	} {
		if b, err := wire.ParseBook([]byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %+v, %v; want an error of %q", body, b, err, want)
		}
	}
}

func TestAStaleBookSaysSo(t *testing.T) {
	t.Parallel()
	b := market.Book{Coin: "xyz:GOLD", Time: 7, Asks: levels("1.5:2.0:3")}
	const want = `{"coin":"xyz:GOLD","time":7,"levels":[[],[{"px":"1.5","sz":"2.0","n":3}]],"stale":true}`
	if got := b.AppendJSON(nil, true); string(got) != want || !json.Valid(got) {
		t.Errorf("got %s", got)
	}
}

// FuzzParseBook wants what is read as a book to be written as the same book, and
// to be grouped into one.
func FuzzParseBook(f *testing.F) {
	f.Add([]byte(`{"coin":"BTC","time":1,"levels":[[{"px":"105056.0","sz":"1.5","n":1},{"px":"0.00000001","sz":"0","n":0}],[]]}`))
	f.Add([]byte(`{"coin":"x","time":9999999999999,"levels":[[],[{"px":"0","sz":"1","n":1},{"px":"123456789012345678901234567890.1234567","sz":"1","n":1}]]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		b, err := wire.ParseBook(body)
		if err != nil {
			return
		}
		again, err := wire.ParseBook(b.AppendJSON(nil, false))
		if err != nil {
			t.Fatalf("%q is written as %q: %v", body, b.AppendJSON(nil, false), err)
		}
		if string(again.AppendJSON(nil, true)) != string(b.AppendJSON(nil, true)) {
			t.Fatalf("%q is written as %q", body, again.AppendJSON(nil, true))
		}
		for _, g := range []market.Grouping{{Figs: 2, Mantissa: 1}, {Figs: 5, Mantissa: 5}} {
			joined := b.Group(g)
			if _, err := wire.ParseBook(joined.AppendJSON(nil, false)); err != nil {
				t.Fatalf("%q grouped by %+v: %v", body, g, err)
			}
		}
	})
}

// BenchmarkBook measures a frame of the feed, 20 prices a side: reading it,
// writing it, grouping it.
func BenchmarkBook(b *testing.B) {
	var book market.Book
	book.Coin, book.Time = "BTC", 1
	for i := range 20 {
		book.Bids = append(book.Bids, market.Level{Px: fmt.Sprintf("%d.0", 105056-i*3), Sz: "1.53201", N: 3})
		book.Asks = append(book.Asks, market.Level{Px: fmt.Sprintf("%d.0", 105057+i*3), Sz: "0.53201", N: 3})
	}
	body := book.AppendJSON(nil, false)
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			must.Get(wire.ParseBook(body))(b)
		}
	})
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			body = book.AppendJSON(body[:0], false)
		}
	})
	b.Run("group", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			book.Group(market.Grouping{Figs: 5, Mantissa: 1})
		}
	})
}
