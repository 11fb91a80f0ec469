package coins

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/drop"
	"quotary/shared/data/drop/droptest"
	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market/markettest"
	"quotary/shared/store"
)

// drawn draws a view with up to so many coins.
func drawn(most int) *rapid.Generator[View] {
	return rapid.Custom(func(t *rapid.T) View {
		v := View{Time: markettest.Time().Draw(t, "time")}
		name := rapid.OneOf(rapid.Just(""), rapid.StringN(0, 5, -1))
		for i := range rapid.IntRange(0, most).Draw(t, "coins") {
			c := Coin{Key: fmt.Sprint("coin", i)}
			known := rapid.IntRange(1, 3).Draw(t, "known by")
			if known&1 != 0 {
				c.Listing = &Listing{Time: markettest.Time().Draw(t, "listed"), Symbol: name.Draw(t, "symbol"), Name: name.Draw(t, "name"), Rank: rapid.Int64Range(0, 9).Draw(t, "rank")}
			}
			if known&2 != 0 {
				c.Entry = &Entry{CoinKey: c.Key, Show: name.Draw(t, "show"), CNName: name.Draw(t, "cn"), Hidden: rapid.Bool().Draw(t, "hidden")}
				c.Place = &drop.Place{Time: markettest.Time().Draw(t, "put"), File: "a.ndjson", Line: 1}
			}
			v.Coins = append(v.Coins, c)
		}
		Published.Encode(v) // sorts
		return v
	})
}

func TestTheStoredView(t *testing.T) {
	datasettest.Codec[View]{Values: drawn(8), Encode: Published.Encode, Decode: Published.Decode, Use: func(v View) {
		page, _ := v.Page(1, 5)
		for i := range page {
			_ = page[i].Show() + page[i].CNName() + page[i].ENName()
		}
	}}.Test(t)
}

func TestStoredEntries(t *testing.T) {
	text := rapid.StringN(0, 5, -1)
	datasettest.Codec[Dropped]{
		Values: rapid.Custom(func(t *rapid.T) Dropped {
			return Dropped{Entry{CoinKey: rapid.StringMatching(`[a-z-]{1,9}`).Draw(t, "key"), Show: text.Draw(t, "show"), CNName: text.Draw(t, "cn"), ENName: text.Draw(t, "en"), Hidden: rapid.Bool().Draw(t, "hidden")},
				drop.Place{Time: markettest.Time().Draw(t, "put"), File: "a.ndjson", Line: rapid.Int64Range(1, 9).Draw(t, "line")}}
		}),
		Encode: func(d Dropped) []byte { return row(&d).Body },
		Decode: func(body []byte) (Dropped, error) { return DecodeRow(store.Row{Body: body}) },
	}.Test(t)
}

// All pages together are the listed coins in their order, each once.
func TestPagesTogetherAreTheList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := drawn(30).Draw(t, "view")
		var want, got []string
		for i := range v.Coins {
			if !v.Coins[i].hidden() {
				want = append(want, v.Coins[i].Key)
			}
		}
		size := rapid.IntRange(1, 12).Draw(t, "size")
		for page := 1; ; page++ {
			coins, total := v.Page(page, size)
			if total != len(want) || len(coins) > size {
				t.Fatalf("page %d: %d coins of %d, want %d", page, len(coins), total, len(want))
			}
			if len(coins) == 0 {
				break
			}
			for i := range coins {
				got = append(got, coins[i].Key)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		for _, beyond := range []int{1000, 1 << 53} {
			if coins, _ := v.Page(beyond, size); len(coins) > 0 {
				t.Fatalf("page %d has %d coins", beyond, len(coins))
			}
		}
	})
}

func TestNamesOfADropComeFirst(t *testing.T) {
	t.Parallel()
	listing := &Listing{Symbol: "BTC", Name: "Bitcoin"}
	for _, c := range []struct {
		coin Coin
		want [3]string
	}{
		{Coin{Key: "bitcoin", Listing: listing}, [3]string{"BTC", "", "Bitcoin"}},
		{Coin{Key: "bitcoin", Listing: listing, Entry: &Entry{CNName: "比特币"}}, [3]string{"BTC", "比特币", "Bitcoin"}},
		{Coin{Key: "bitcoin", Listing: listing, Entry: &Entry{Show: "XBT", ENName: "Other"}}, [3]string{"XBT", "", "Other"}},
		{Coin{Key: "mine", Entry: &Entry{}}, [3]string{"mine", "", ""}},
	} {
		if got := [3]string{c.coin.Show(), c.coin.CNName(), c.coin.ENName()}; got != c.want {
			t.Errorf("%+v: got %q, want %q", c.coin, got, c.want)
		}
	}
}

func TestACoinIsFoundByAnyOfItsNames(t *testing.T) {
	t.Parallel()
	v := View{Coins: []Coin{
		{Key: "bitcoin", Listing: &Listing{Symbol: "BTC"}}, {Key: "true-usd", Listing: &Listing{Symbol: "TUSD"}},
		{Key: "PEPE", Listing: &Listing{Symbol: "OTHER"}}, {Key: "pepe", Listing: &Listing{Symbol: "PEPE"}},
		{Key: "1000cat", Listing: &Listing{Symbol: "1000CAT"}},
	}}
	for name, want := range map[string]string{
		"bitcoin": "btc", "Bitcoin": "btc", "BTC": "btc", "btcswapusdt:binance": "btc", "BTCUSDT": "btc",
		"TUSD": "tusd", "tusdusdt": "tusd", "PEPE": "other", "pepe": "pepe", "Pepe": "pepe", "1000pepe": "pepe", "1000CAT": "cat", "1000cat": "cat", "fdusd": "fdusd", "nobody": "nobody", "": "",
	} {
		if got := v.ShortName(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func TestOfCoinsOfOneShortNameTheLargestIsMeant(t *testing.T) {
	t.Parallel()
	v := View{Coins: []Coin{
		{Key: "other-bitcoin", Listing: &Listing{Symbol: "BTC", Rank: 900}}, {Key: "bitcoin", Listing: &Listing{Symbol: "BTC", Rank: 1}},
		{Key: "gone", Listing: &Listing{Symbol: "GONE", Rank: 2}, Entry: &Entry{Hidden: true}},
	}}
	Published.Encode(v) // sorts
	if c, ok := v.ByShow("btc"); !ok || c.Key != "bitcoin" {
		t.Errorf("btc is %+v", c)
	}
	for _, show := range []string{"gone", "eth", ""} {
		if c, ok := v.ByShow(show); ok {
			t.Errorf("%q is %+v", show, c)
		}
	}
}

func TestTheSchemaOfDrops(t *testing.T) {
	t.Parallel()
	droptest.Schema(t, Entries, Name, "coins.schema.json")
}

func TestLinesOfADrop(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"coin_key":"bitcoin","show":"BTC","cn_name":"比特币","en_name":"Bitcoin","hidden":false}`: "",
		`{"coin_key":"0x"}`:               "",
		`{"coin_key":"aB_c-1"}`:           "",
		`{"coin_key":"x","show":null}`:    "",
		`{"coin_key":"a,b"}`:              "coin_key must be",
		`{"coin_key":"a b"}`:              "coin_key must be",
		`{"coin_key":""}`:                 "coin_key must be",
		`{"coin_key":null}`:               "coin_key is missing",
		`{"show":"BTC"}`:                  "coin_key is missing",
		`{"coin_key":5}`:                  "coin_key must be",
		`{"coin_key":{"a":1}}`:            "coin_key must be",
		`{"coin_key":"x","hidden":"no"}`:  "hidden must be true or false",
		`{"coin_key":"x","coin_key":"y"}`: "twice",
		`{"coin_key":"x","Show":"X"}`:     `no member "Show"`,
		`{"coin_key":"x"} {}`:             "one JSON object",
		`{"coin_key":"x"`:                 "one JSON object",
		`[]`:                              "one JSON object",
		`"x"`:                             "one JSON object",
		`{"coin_key":"` + strings.Repeat("k", 65) + `"}`: "at most 64",
		"{\"coin_key\":\"\xff\"}":                        "UTF-8",
	} {
		_, err := Entries.Decode([]byte(line))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}
