// Package companies is the view of companies whose shares are quoted: their name, how many
// shares there are, and their cash and debt, as they have filed it or an operator says it; and
// the log of what was dropped, of which the view is made again if it is lost.
// Keys are those of their shares in the dataset indices, such as i:mstr:nasdaq.
package companies

import (
	"cmp"
	_ "embed" // the schema
	"errors"
	"slices"
	"strings"
	"time"

	"quotary/shared/data/drop"
	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view, and of the drops.
const Name = "companies"

// View is all companies.
type View struct {
	Companies []Company `json:"companies"` // by key
}

// Company is what is known of a company, and from whom. At least one of Filing and Entry is
// there.
type Company struct {
	Key    string      `json:"key"`
	Filing *Filing     `json:"filing,omitempty"`
	Entry  *Entry      `json:"entry,omitempty"` // by a drop
	Place  *drop.Place `json:"place,omitempty"` // of the entry
}

// Filing is what a company has filed. A fact without a value is not known.
type Filing struct {
	Asked   int64       `json:"asked"` // when it was asked for, ms
	Name    string      `json:"name"`
	Shares  market.Fact `json:"shares"`  // outstanding
	Diluted market.Fact `json:"diluted"` // shares that there would be if all that may become one did
	Cash    market.Fact `json:"cash"`    // US dollars
	Debt    market.Fact `json:"debt"`    // of the long term, US dollars
}

// Filed is a filing of a company.
type Filed struct {
	Key string
	Filing
}

// FiledOf is what was filed, as it was asked for at a time (ms).
func FiledOf(f market.CompanyFacts, asked int64) Filed {
	return Filed{f.Key, Filing{asked, f.Name, f.Shares, f.Diluted, f.Cash, f.Debt}}
}

// Compare is below 0 where g holds against f: what was asked for later. Of two of the same
// moment one is chosen by what it says.
func (f *Filing) Compare(g *Filing) int {
	return cmp.Or(cmp.Compare(f.Asked, g.Asked), strings.Compare(string(dataset.JSON(f)), string(dataset.JSON(g))))
}

// Entry is a line of a drop of companies. It adds a company, or replaces what one has filed: what is absent here is as it was filed.
type Entry struct {
	// Key of the company's share: clients send exactly this text, such as i:mstr:nasdaq.
	Key string `json:"key" required:"true" maxlen:"64" pattern:"^[A-Za-z0-9:._/@+-]+$"`
	// Name of the company.
	Name string `json:"name" maxlen:"100"`
	// Country or region, such as US.
	Country string `json:"country" maxlen:"64"`
	// A few sentences about the company.
	Description string `json:"description" maxlen:"2000"`
	// Shares outstanding, as a decimal.
	Shares string `json:"shares" maxlen:"40" pattern:"^([0-9]{1,19}([.][0-9]{1,19})?)?$"`
	// Shares that there would be if all that may become one did, as a decimal.
	Diluted string `json:"diluted" maxlen:"40" pattern:"^([0-9]{1,19}([.][0-9]{1,19})?)?$"`
	// Cash and what is as good as cash, US dollars, as a decimal.
	Cash string `json:"cash" maxlen:"40" pattern:"^([0-9]{1,19}([.][0-9]{1,19})?)?$"`
	// Debt of the long term, US dollars, as a decimal.
	Debt string `json:"debt" maxlen:"40" pattern:"^([0-9]{1,19}([.][0-9]{1,19})?)?$"`
}

// Entries is the type of a line of a drop of companies, and Schema its JSON Schema.
var (
	Entries = drop.TypeOf[Entry]()
	//go:embed companies.schema.json
	Schema []byte
)

// Dropped is an entry of a drop with its place.
type Dropped struct {
	Entry
	Place drop.Place `json:"place"`
}

// log has a row of every entry, under its company.
var log = dataset.Log[Dropped]{Name: Name, Row: row, Decode: DecodeRow}

func row(d *Dropped) store.Row { return dataset.PlaceRow(d.Key, d.Place, dataset.JSON(d)) }

// AppendRows appends the row of each entry to rows.
func AppendRows(rows []store.Row, entries []Dropped) []store.Row {
	return log.AppendRows(rows, entries)
}

var errRow = errors.New("a stored entry of a drop has no key, file or line")

// DecodeRow reads a row.
func DecodeRow(r store.Row) (Dropped, error) {
	d, err := dataset.FromJSON[Dropped](r.Body)
	if err == nil && (!market.ValidCoinKey(d.Key) || d.Place.File == "" || d.Place.Line < 1) {
		err = errRow
	}
	return d, err
}

// Name is the company's name, empty where it is not known.
func (c *Company) Name() string { return cmp.Or(c.entry().Name, c.filing().Name) }

// Shares is how many shares are outstanding, empty where it is not known.
func (c *Company) Shares() string { return cmp.Or(c.entry().Shares, c.filing().Shares.Value) }

// Diluted is how many shares there would be if all that may become one did, empty where it is
// not known.
func (c *Company) Diluted() string { return cmp.Or(c.entry().Diluted, c.filing().Diluted.Value) }

// Country is where the company is, empty where no drop says it.
func (c *Company) Country() string { return c.entry().Country }

// Description is what the company does, empty where no drop says it.
func (c *Company) Description() string { return c.entry().Description }

// Cash is what the company has in US dollars, empty where it is not known.
func (c *Company) Cash() string { return cmp.Or(c.entry().Cash, c.filing().Cash.Value) }

// Debt is what the company owes for long in US dollars, empty where it is not known.
func (c *Company) Debt() string { return cmp.Or(c.entry().Debt, c.filing().Debt.Value) }

func (c *Company) entry() (none Entry) {
	if c.Entry == nil {
		return none
	}
	return *c.Entry
}

func (c *Company) filing() (none Filing) {
	if c.Filing == nil {
		return none
	}
	return *c.Filing
}

// Lookup returns a company by its key.
func (v View) Lookup(key string) (Company, bool) {
	return dataset.Find(v.Companies, key, func(c *Company) string { return c.Key })
}

// Published is how the view is stored. Filings come once a quarter.
var Published = store.ViewType[View]{Name: Name, Period: time.Minute, Before: func(v *View) {
	slices.SortFunc(v.Companies, func(a, b Company) int { return strings.Compare(a.Key, b.Key) })
}}
