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

	Themes []Theme `json:"themes,omitempty"` // by key
}

// Theme is the coins of a theme, as a source says.
type Theme struct {
	Key   string   `json:"key"`
	Time  int64    `json:"time"` // when it was asked for, ms
	Coins []string `json:"coins"`
}

// Compare orders what was said of a theme by its time; of the same time, by what it says.
func (t *Theme) Compare(u *Theme) int {
	return cmp.Or(cmp.Compare(t.Time, u.Time), slices.Compare(t.Coins, u.Coins))
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

	// Empty where they are not known.
	Logo   string `json:"logo,omitempty"`   // address
	Supply string `json:"supply,omitempty"` // coins in circulation
	Issued string `json:"issued,omitempty"` // coins that there will ever be
}

// Compare orders listings of a coin by their time; of the same time, by what they say.
func (l *Listing) Compare(m *Listing) int {
	return cmp.Or(cmp.Compare(l.Time, m.Time), cmp.Compare(l.Rank, m.Rank), cmp.Compare(l.Symbol, m.Symbol), cmp.Compare(l.Name, m.Name),
		cmp.Compare(l.Logo, m.Logo), cmp.Compare(l.Supply, m.Supply), cmp.Compare(l.Issued, m.Issued))
}

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

// Logo is the address of the coin's logo, empty where none is known.
func (c *Coin) Logo() string { return cmp.Or(c.entry().Logo, c.listing().Logo) }

// Supply is how many coins are in circulation, empty where it is not known.
func (c *Coin) Supply() string { return cmp.Or(c.entry().Supply, c.listing().Supply) }

// Issued is how many coins there will ever be, empty where it is not known.
func (c *Coin) Issued() string { return cmp.Or(c.entry().PublishAmount, c.listing().Issued) }

// Rank is that of the coin by market value, from 1; 0 where it is not known.
func (c *Coin) Rank() int64 { return c.listing().Rank }

// Described is what a drop says of the coin beside its names.
func (c *Coin) Described() Entry { return c.entry() }

// Listed reports whether the coin is among those that are listed.
func (c *Coin) Listed() bool { return !c.hidden() }

// OfTheme returns the listed coins of a theme, in their order: those that the source says and
// those of which a drop says it.
func (v View) OfTheme(key string) (list []*Coin) {
	said := map[string]bool{}
	for i := range v.Themes {
		if v.Themes[i].Key == key {
			for _, coin := range v.Themes[i].Coins {
				said[coin] = true
			}
		}
	}
	for i := range v.Coins {
		c := &v.Coins[i]
		if c.Listed() && (said[c.Key] || slices.Contains(strings.Split(c.entry().Themes, ","), key)) {
			list = append(list, c)
		}
	}
	return list
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
	slices.SortFunc(v.Themes, func(a, b Theme) int { return cmp.Compare(a.Key, b.Key) })
}}
