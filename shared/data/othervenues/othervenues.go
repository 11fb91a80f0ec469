// Package othervenues is the view of who trades on which other venues, as an operator says it, whom no
// free upstream tells; and the log of what was dropped, of which the view is made again if it is lost.
// An address of which no line speaks is not known; one with an empty list trades on no other venue.
package othervenues

import (
	_ "embed" // the schema
	"errors"
	"slices"
	"strings"

	"quotary/shared/data/drop"
	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view, and of the drops.
const Name = "othervenues"

// What the view holds at most. What a line says beyond is left out, whole: a part of a list would be wrong.
const (
	Most      = 1_000_000 // addresses: as many as the table of traders is made for
	MostNames = 1000      // different names
	MostLists = 50_000    // different lists of them, as each is kept with its names
)

// Entry is a line of a drop of othervenues: on which other venues an address trades. A later line of an address replaces an earlier one.
type Entry struct {
	// Address of the trader, 0x and 40 hex digits.
	Address string `json:"address" required:"true" pattern:"^0x[0-9a-fA-F]{40}$" accepts:"0x and 40 hex digits"`
	// Names of the other venues on which the address trades; an empty list says that it trades on none.
	Venues []string `json:"venues" required:"true" most:"20" maxlen:"64"`
}

var (
	lines = drop.TypeOf[Entry]()

	// Schema is the JSON Schema of a line.
	//go:embed othervenues.schema.json
	Schema []byte
)

// Dropped is an entry of a drop with its place. Its address is in lower case, and its venues are in order.
type Dropped struct {
	Entry
	Place drop.Place `json:"place"`
}

// Parse reads a line of a drop. The error says what is wrong, for whoever wrote it.
func Parse(line []byte, at drop.Place) (Dropped, error) {
	e, err := lines.Decode(line)
	e.Address = strings.ToLower(e.Address)
	slices.Sort(e.Venues)
	return Dropped{e, at}, err
}

// log has a row of every entry, under its address.
var log = dataset.Log[Dropped]{Name: Name, Row: row, Decode: DecodeRow}

func row(d *Dropped) store.Row { return dataset.PlaceRow(d.Address, d.Place, dataset.JSON(d)) }

// AppendRows appends the row of each entry to rows.
func AppendRows(rows []store.Row, entries []Dropped) []store.Row {
	return log.AppendRows(rows, entries)
}

var errRow = errors.New("a stored entry of a drop has no address, file or line")

// DecodeRow reads a row.
func DecodeRow(r store.Row) (Dropped, error) {
	d, err := dataset.FromJSON[Dropped](r.Body)
	if _, ok := market.ParseAccount(d.Address); err == nil && (!ok || d.Place.File == "" || d.Place.Line < 1) {
		err = errRow
	}
	return d, err
}
