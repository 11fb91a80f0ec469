// Package coins is the view of the coins that the service knows, with their names:
// those that a source of prices lists, and those that an operator has dropped; and the
// log of what was dropped, of which the view is made again if it is lost.
//
// A coin is listed for as long as the source names it: one whose figures are a day older
// than the newest of all ([MaxAge]) has no rank and no place in the list, unless a drop
// names it. Where the source is silent, all of them grow old together and stay.
package coins

import (
	"cmp"
	"crypto/sha256"
	_ "embed" // the schema
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"quotary/shared/data/drop"
	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view, and of the drops that name coins.
const Name = "coins"

// MaxAge is by how much the figures of a listed coin may be older than the newest ones.
const MaxAge = 24 * time.Hour

// View is the state of all coins.
type View struct {
	Time  int64  `json:"time"`  // of the newest figures of a listing, ms
	Coins []Coin `json:"coins"` // those that are listed first: by rank, those without one behind, then by key; then those that are not
}

// Coin is what is known of a coin, and from whom. At least one of Listing and Entry
// is there.
type Coin struct {
	Key     string      `json:"key"`
	Listing *Listing    `json:"listing,omitempty"` // by the source of prices
	Entry   *Entry      `json:"entry,omitempty"`   // by a drop
	Place   *drop.Place `json:"place,omitempty"`   // of the entry
}

// Listing is a coin as a source of prices lists it.
type Listing struct {
	Time   int64  `json:"time"`   // of the figures, ms
	Symbol string `json:"symbol"` // in capitals
	Name   string `json:"name"`   // in English
	Rank   int64  `json:"rank"`   // by market value, from 1; 0 is unknown
}

// Compare orders listings of a coin by their time; of the same time, by what they say.
func (l *Listing) Compare(m *Listing) int {
	return cmp.Or(cmp.Compare(l.Time, m.Time), cmp.Compare(l.Rank, m.Rank), cmp.Compare(l.Symbol, m.Symbol), cmp.Compare(l.Name, m.Name))
}

// Entry is a line of a drop of coins. It adds a coin, or replaces what a source of
// prices says of one: a name that is empty here is the source's.
type Entry struct {
	// Coin key: clients send exactly this text. A coin that the source of prices lists has its key, such as bitcoin.
	CoinKey string `json:"coin_key" required:"true" maxlen:"64" pattern:"^[A-Za-z0-9:._/@+-]+$"`
	// Short name, such as BTC.
	Show string `json:"show" maxlen:"32"`
	// Name in Chinese.
	CNName string `json:"cn_name" maxlen:"100"`
	// Name in English.
	ENName string `json:"en_name" maxlen:"100"`
	// Whether the coin is left out of the list of coins. A later entry without it lists the coin again.
	Hidden bool `json:"hidden"`
}

// Entries is the type of a line of a drop of coins, and Schema its JSON Schema.
var (
	Entries = drop.TypeOf[Entry]()
	//go:embed coins.schema.json
	Schema []byte
)

// Dropped is an entry of a drop with its place.
type Dropped struct {
	Entry
	Place drop.Place `json:"place"`
}

// log has a row of every entry, under its coin.
var log = dataset.Log[Dropped]{Name: Name, Row: row, Decode: DecodeRow}

func row(d *Dropped) store.Row { return dataset.PlaceRow(d.CoinKey, d.Place, dataset.JSON(d)) }

// AppendRows appends the row of each entry to rows.
func AppendRows(rows []store.Row, entries []Dropped) []store.Row {
	return log.AppendRows(rows, entries)
}

var errRow = errors.New("a stored entry of a drop has no coin, file or line")

// DecodeRow reads a row.
func DecodeRow(r store.Row) (Dropped, error) {
	d, err := dataset.FromJSON[Dropped](r.Body)
	if err == nil && (!market.ValidCoinKey(d.CoinKey) || d.Place.File == "" || d.Place.Line < 1) {
		err = errRow
	}
	return d, err
}

// HashKey is an id of fixed length that follows from a coin key alone: the first 32
// hexadecimal digits of its SHA-256.
func HashKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

// Show is the coin's short name.
func (c *Coin) Show() string {
	return cmp.Or(c.entry().Show, c.listing().Symbol, c.Key)
}

// ENName is the coin's name in English.
func (c *Coin) ENName() string { return cmp.Or(c.entry().ENName, c.listing().Name) }

// CNName is the coin's name in Chinese, empty where no drop gives one.
func (c *Coin) CNName() string { return c.entry().CNName }

// ShortName is the short name, in lower case, of a coin that is named by its key, by a short
// name, by a key in another letter case, or by one of its pairs ([market.CoinOf]): by the first
// of these that is known. It is that by which [market.Pair.Coin] calls the coin.
func (v View) ShortName(name string) string {
	short, other := "", ""
	for i := range v.Coins {
		switch c := &v.Coins[i]; {
		case c.Key == name:
			return market.CoinOfBase(c.Show())
		case strings.EqualFold(c.Show(), name):
			short = market.CoinOfBase(name)
		case other == "" && strings.EqualFold(c.Key, name):
			other = market.CoinOfBase(c.Show())
		}
	}
	return cmp.Or(short, other, market.CoinOf(name))
}

// ByShow returns the coin of a short name, in any letter case: of several the largest.
func (v View) ByShow(show string) (Coin, bool) {
	for i := range v.Coins {
		if c := &v.Coins[i]; !c.hidden() && strings.EqualFold(c.Show(), show) {
			return *c, true
		}
	}
	return Coin{}, false
}

func (c *Coin) entry() (none Entry) {
	if c.Entry == nil {
		return none
	}
	return *c.Entry
}

func (c *Coin) listing() (none Listing) {
	if c.Listing == nil {
		return none
	}
	return *c.Listing
}

func (c *Coin) hidden() bool { return c.Entry != nil && c.Entry.Hidden }

// order is that of [View.Coins].
func order(a, b Coin) int {
	rank := func(c *Coin) int64 {
		if l := c.listing(); l.Rank > 0 {
			return l.Rank
		}
		return math.MaxInt64
	}
	last := func(c *Coin) int {
		if c.hidden() {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(last(&a), last(&b)), cmp.Compare(rank(&a), rank(&b)), cmp.Compare(a.Key, b.Key))
}

// Page returns the listed coins of a page, from 1 on, and how many are listed in
// all. Beyond the last page there are none.
func (v View) Page(page, size int) (coins []Coin, total int) {
	total, _ = slices.BinarySearchFunc(v.Coins, true, func(c Coin, hidden bool) int {
		if c.hidden() == hidden {
			return 0
		}
		return -1
	})
	if page-1 > total/size {
		return nil, total
	}
	return v.Coins[min((page-1)*size, total):min(page*size, total)], total
}

// Named is a coin with the short name by which [market.Pair.Coin] calls it: "" where another coin
// with the same one is listed before it, as the pairs are of that one.
type Named struct {
	Coin
	Pairs string
}

// ByKey is the view, read as the coins that are listed by their keys.
var ByKey = store.ViewType[map[string]Named]{Name: Name, Period: Published.Period, Read: func(body []byte) (map[string]Named, error) {
	v, err := Published.Decode(body)
	named, taken := make(map[string]Named, len(v.Coins)), map[string]bool{}
	for _, c := range v.Coins {
		if c.hidden() {
			continue
		}
		short := market.CoinOfBase(c.Show())
		if taken[short] {
			short = ""
		}
		taken[short], named[c.Key] = true, Named{c, short}
	}
	return named, err
}}

// Published is how the view is stored. Names change seldom.
var Published = store.ViewType[View]{Name: Name, Period: 10 * time.Second, Before: func(v *View) {
	slices.SortFunc(v.Coins, order)
}}
