package market_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/localstack/venue"
	"quotary/shared/market"
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

func TestABookIsGroupedWithBidsDownAndAsksUp(t *testing.T) {
	t.Parallel()
	b := market.Book{Coin: "BTC", Time: 1,
		Bids: levels("105056.0:1.5:1 105051.0:0.25:2 104999.0:3.0:1"),
		Asks: levels("105057.0:0.00001:1 105061.0:2.0:5 105149.0:1.0:1")}
	for g, want := range map[market.Grouping][2]string{
		{}:                     {"105056.0:1.5:1 105051.0:0.25:2 104999.0:3.0:1", "105057.0:0.00001:1 105061.0:2.0:5 105149.0:1.0:1"},
		{Figs: 5, Mantissa: 1}: {"105050.0:1.75:3 104990.0:3.0:1", "105060.0:0.00001:1 105070.0:2.0:5 105150.0:1.0:1"},
		{Figs: 5, Mantissa: 2}: {"105040.0:1.75:3 104980.0:3.0:1", "105060.0:0.00001:1 105080.0:2.0:5 105160.0:1.0:1"},
		{Figs: 5, Mantissa: 5}: {"105050.0:1.75:3 104950.0:3.0:1", "105100.0:2.00001:6 105150.0:1.0:1"},
		{Figs: 4, Mantissa: 1}: {"105000.0:1.75:3 104900.0:3.0:1", "105100.0:2.00001:6 105200.0:1.0:1"},
		{Figs: 2, Mantissa: 1}: {"100000.0:4.75:4", "110000.0:3.00001:7"},
	} {
		got := b.Group(g)
		if diff := cmp.Diff(market.Book{Coin: "BTC", Time: 1, Bids: levels(want[0]), Asks: levels(want[1])}, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", g, diff)
		}
	}
}

func TestTheStepChangesWithTheMagnitude(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		figs         int
		px, down, up string
	}{
		{5, "9999.96", "9999.9", "10000.0"},
		{5, "10000.3", "10000.0", "10001.0"},
		{5, "0.0123456", "0.012345", "0.012346"},
		{2, "0.0123456", "0.012", "0.013"},
		{2, "0.99", "0.99", "0.99"},
		{2, "0.991", "0.99", "1.0"},
		{3, "7", "7", "7"}, // nothing to join
		{2, "12345678901234567890", "12000000000000000000.0", "13000000000000000000.0"},
		{5, "0.0000000000000000123", "0.0000000000000000123", "0.0000000000000000123"},
		{2, "0.0", "0.0", "0.0"},
	} {
		one := []market.Level{{Px: c.px, Sz: "1", N: 1}}
		b := market.Book{Coin: "X", Bids: one, Asks: one}
		got := b.Group(market.Grouping{Figs: c.figs, Mantissa: 1})
		down, up := trimmed(t, c.down), trimmed(t, c.up)
		if got.Bids[0].Px != down || got.Asks[0].Px != up {
			t.Errorf("%s to %d figures is %s and %s, want %s and %s", c.px, c.figs, got.Bids[0].Px, got.Asks[0].Px, down, up)
		}
	}
}

func trimmed(t *testing.T, s string) string {
	t.Helper()
	d, err := market.ParseDecimal(s)
	if err != nil {
		t.Fatal(err)
	}
	return market.Text(d)
}

func TestGroupingsAreThoseOfTheVenue(t *testing.T) {
	t.Parallel()
	n := func(i int) *int { return &i }
	for _, c := range []struct {
		figs, mantissa *int
		want           market.Grouping
		err            error
	}{
		{nil, nil, market.Grouping{}, nil},
		{n(2), nil, market.Grouping{Figs: 2, Mantissa: 1}, nil},
		{n(5), nil, market.Grouping{Figs: 5, Mantissa: 1}, nil},
		{n(5), n(5), market.Grouping{Figs: 5, Mantissa: 5}, nil},
		{n(1), nil, market.Grouping{}, market.ErrSigFigs},
		{n(6), nil, market.Grouping{}, market.ErrSigFigs},
		{n(4), n(2), market.Grouping{}, market.ErrMantissa},
		{nil, n(1), market.Grouping{}, market.ErrMantissa},
		{n(5), n(3), market.Grouping{}, market.ErrMantissa},
	} {
		if got, err := market.NewGrouping(c.figs, c.mantissa); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%v, %v: %+v, %v; want %+v, %v", c.figs, c.mantissa, got, err, c.want, c.err)
		}
	}
}

// TestBooksAreGroupedAsTheVenueGroupsThem compares with the simulated venue,
// which joins the orders of its whole book. What is told of it here ends with
// its 20th price, so the last group may hold more there.
func TestBooksAreGroupedAsTheVenueGroupsThem(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	v, err := venue.Open(venue.Config{Traders: 60, HistoryDays: 1, Clock: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	ask := func(question string) market.Book {
		t.Helper()
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/info", strings.NewReader(question))
		r.Header.Set("Content-Type", "application/json")
		v.Handler().ServeHTTP(w, r)
		b, err := market.ParseBook(w.Body.Bytes())
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
		whole := ask(`{"type":"l2Book","coin":"` + coin + `"}`)
		for _, g := range []market.Grouping{{Figs: 2, Mantissa: 1}, {Figs: 3, Mantissa: 1}, {Figs: 4, Mantissa: 1}, {Figs: 5, Mantissa: 1}, {Figs: 5, Mantissa: 2}, {Figs: 5, Mantissa: 5}} {
			question := fmt.Sprintf(`{"type":"l2Book","coin":%q,"nSigFigs":%d}`, coin, g.Figs)
			if g.Mantissa > 1 {
				question = fmt.Sprintf(`{"type":"l2Book","coin":%q,"nSigFigs":%d,"mantissa":%d}`, coin, g.Figs, g.Mantissa)
			}
			want, got := ask(question), whole.Group(g)
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

func TestGroupingLosesNoOrderAndPromisesNoBetterPrice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := market.Grouping{Figs: rapid.IntRange(2, 5).Draw(t, "figs"), Mantissa: 1}
		if g.Figs == 5 {
			g.Mantissa = rapid.SampledFrom([]int{1, 2, 5}).Draw(t, "mantissa")
		}
		b := market.Book{Coin: "X", Time: 1}
		px := rapid.IntRange(1, 1_000_000).Draw(t, "px")
		places := rapid.IntRange(0, 6).Draw(t, "places")
		for range rapid.IntRange(0, 30).Draw(t, "levels") {
			px += rapid.IntRange(1, 2000).Draw(t, "step")
			text := fmt.Sprintf("%d.%0*d", px, places+1, 0)
			if places > 0 {
				text = fmt.Sprintf("0.%0*d", places+7, px)
			}
			l := market.Level{Px: text, Sz: fmt.Sprintf("%d.5", px%7), N: int64(px % 3)}
			b.Asks = append(b.Asks, l)
			b.Bids = append([]market.Level{l}, b.Bids...)
		}
		body := b.AppendJSON(nil, false)
		if _, err := market.ParseBook(body); err != nil {
			t.Fatal(err)
		}
		joined := b.Group(g)
		if _, err := market.ParseBook(joined.AppendJSON(nil, false)); err != nil {
			t.Fatalf("%s: %v", joined.AppendJSON(nil, false), err)
		}
		for side, pair := range map[string][2][]market.Level{"bids": {b.Bids, joined.Bids}, "asks": {b.Asks, joined.Asks}} {
			if len(pair[0]) == 0 {
				continue
			}
			if sum(t, pair[0]) != sum(t, pair[1]) {
				t.Fatalf("%s hold %s, were %s", side, sum(t, pair[1]), sum(t, pair[0]))
			}
			best, was := decimal(t, pair[1][0].Px), decimal(t, pair[0][0].Px)
			if side == "bids" && best.GreaterThan(was) || side == "asks" && best.LessThan(was) {
				t.Fatalf("the best of the %s is %s, was %s", side, best, was)
			}
		}
	})
}

func sum(t *rapid.T, levels []market.Level) string {
	var sz market.Decimal
	n := int64(0)
	for _, l := range levels {
		sz = sz.Add(decimal(t, l.Sz))
		n += l.N
	}
	return fmt.Sprint(sz, " in ", n)
}

func decimal(t *rapid.T, s string) market.Decimal {
	d, err := market.ParseDecimal(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
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
		if b, err := market.ParseBook([]byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %+v, %v; want an error of %q", body, b, err, want)
		}
	}
}

func TestTheDepthIsWhatRestsOnEachSide(t *testing.T) {
	t.Parallel()
	b := market.Book{Bids: levels("3.0:1.5:1 2.0:0.25:2"), Asks: levels("4.0:0.00001:1")}
	if bids, asks := b.Depth(); market.Text(bids) != "1.75" || market.Text(asks) != "0.00001" {
		t.Errorf("got %s and %s", bids, asks)
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

// TestPricesAreComparedAsNumbers asks with books of two bids whether one price is
// higher than another.
func TestPricesAreComparedAsNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string {
			s := rapid.StringMatching(`[01]{1,3}(\.[01]{1,4})?`).Draw(t, name)
			return s
		}
		high, low := text("high"), text("low")
		_, err := market.ParseBook([]byte(fmt.Sprintf(`{"coin":"X","time":1,"levels":[[{"px":%q,"sz":"1","n":1},{"px":%q,"sz":"1","n":1}],[]]}`, high, low)))
		if higher := decimal(t, high).GreaterThan(decimal(t, low)); higher != (err == nil) {
			t.Fatalf("%s over %s: %v", high, low, err)
		}
	})
}

// FuzzParseBook wants what is read as a book to be written as the same book, and
// to be grouped into one.
func FuzzParseBook(f *testing.F) {
	f.Add([]byte(`{"coin":"BTC","time":1,"levels":[[{"px":"105056.0","sz":"1.5","n":1},{"px":"0.00000001","sz":"0","n":0}],[]]}`))
	f.Add([]byte(`{"coin":"x","time":9999999999999,"levels":[[],[{"px":"0","sz":"1","n":1},{"px":"123456789012345678901234567890.1234567","sz":"1","n":1}]]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		b, err := market.ParseBook(body)
		if err != nil {
			return
		}
		again, err := market.ParseBook(b.AppendJSON(nil, false))
		if err != nil {
			t.Fatalf("%q is written as %q: %v", body, b.AppendJSON(nil, false), err)
		}
		if string(again.AppendJSON(nil, true)) != string(b.AppendJSON(nil, true)) {
			t.Fatalf("%q is written as %q", body, again.AppendJSON(nil, true))
		}
		for _, g := range []market.Grouping{{Figs: 2, Mantissa: 1}, {Figs: 5, Mantissa: 5}} {
			joined := b.Group(g)
			if _, err := market.ParseBook(joined.AppendJSON(nil, false)); err != nil {
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
			if _, err := market.ParseBook(body); err != nil {
				b.Fatal(err)
			}
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
