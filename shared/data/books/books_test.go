package books

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/testing/must"
)

func TestTheStoredBook(t *testing.T) {
	datasettest.Codec[market.Book]{
		Values: markettest.Book(),
		Encode: func(b market.Book) []byte { return NewBody(&b) },
		Decode: func(body []byte) (market.Book, error) { return decode(body) },
		Use: func(b market.Book) {
			b.Depth()
			b.Group(market.Grouping{Figs: 3, Mantissa: 1})
		},
	}.Test(t)
}

func TestTheViewGivesEachBookByItsCoin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfNDistinct(markettest.Book(), 0, 5, func(b market.Book) string { return b.Coin }).Draw(t, "books")
		v := must.Get(Published.Decode(Published.Encode(NewView(list...))))(t)
		for _, want := range list {
			got, ok, err := v.Lookup(want.Coin)
			if err != nil || !ok {
				t.Fatalf("the book of %s is there: %t, %v", want.Coin, ok, err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("(-stored +read):\n%s", diff)
			}
			if v.Time < want.Time {
				t.Fatalf("the view is of %d, a book of %d", v.Time, want.Time)
			}
		}
		if _, ok, err := v.Lookup("none"); ok || err != nil {
			t.Fatalf("there is a book of no coin: %t, %v", ok, err)
		}
	})
}

func TestAnUnreadableBookIsAnErrorOfItsCoinAlone(t *testing.T) {
	t.Parallel()
	v := NewView(market.Book{Coin: "BTC", Time: 1}, market.Book{Coin: "ETH", Time: 1})
	v.Books["ETH"] = v.Books["BTC"]
	v.Books["SOL"] = Body(`{"coin":"SOL","time":1,"levels":[[]]}`)
	for coin, want := range map[string]string{"BTC": "", "ETH": `it is the book of "BTC"`, "SOL": "two sides"} {
		_, ok, err := v.Lookup(coin)
		if (err == nil) != (want == "") || ok != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %t, %v; want %q", coin, ok, err, want)
		}
	}
}
