// Package traders is the table of all traders: one row each, with every figure of
// [traderfields.Columns] and the perpetuals that it traded, in each period. It is kept as Parquet
// files (package tablefile), of which a view, the manifest, names those of the newest version.
package traders

import (
	"time"

	"quotary/shared/store"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/traderfields"
)

// Name of the view that names the files.
const Name = "traders"

// Where the files are: their keys begin with Prefix, and the one of ListKey lists those of the
// newest version for engines that do not know the manifest.
const (
	Prefix  = "tables/traders/files/"
	ListKey = "tables/traders/newest/manifest"
)

// Newest is how the manifest is stored. It changes every five minutes.
var Newest = store.ViewType[tablefile.Manifest]{Name: Name, Period: time.Second}

// Trader is one row of the table.
type Trader struct {
	Address table.Address
	traderfields.Trader
}

var (
	figures = traderfields.Columns()
	texts   = traderfields.TextFields()
	columns = columnsOf(figures)
	places  = placesOf(columns)
)

// coinsName is the name of the columns of what was traded, with the suffix of a period: of each there is
// one behind those of the figures.
const coinsName = "coins"

func columnsOf(figures []traderfields.Column) (all []tablefile.Column) {
	for _, c := range figures {
		all = append(all, tablefile.Column{Name: c.Name(), Kind: kindOf(c.Field.Kind), Scale: c.Field.Scale})
	}
	for _, p := range traderfields.Periods {
		all = append(all, tablefile.Column{Name: coinsName + p.Suffix(), Kind: tablefile.Names})
	}
	for _, f := range texts {
		all = append(all, tablefile.Column{Name: f.Name, Kind: tablefile.Names})
	}
	return all
}

// textsAt is the field of texts of a column; false for a column of what was traded.
func textsAt(column int) (*traderfields.Field, bool) {
	if at := column - len(figures) - len(traderfields.Periods); at >= 0 {
		return texts[at], true
	}
	return nil, false
}

func kindOf(k traderfields.Kind) tablefile.Kind {
	switch k {
	case traderfields.Money:
		return tablefile.Money
	case traderfields.Ratio:
		return tablefile.Ratio
	case traderfields.Date:
		return tablefile.Date
	case traderfields.Count, traderfields.Text, traderfields.Address, traderfields.Names: // texts are in columns of sets
	}
	return tablefile.Count
}

func placesOf(columns []tablefile.Column) map[string]int {
	places := make(map[string]int, len(columns))
	for i, c := range columns {
		places[c.Name] = i
	}
	return places
}

// Coins is the place of the column of what was traded in a period.
func Coins(p traderfields.Period) int { return places[coinsName+p.Suffix()] }

// Columns are those of the files, in their order. They are not to be changed.
func Columns() []tablefile.Column { return columns }

// Column is the place of a column; false for a name that none has. Those of periods have its suffix:
// totalPnl7d, coins30d.
func Column(name string) (place int, ok bool) {
	place, ok = places[name]
	return place, ok
}

// Part is what a file of these traders is made of. Each figure is made when its column is written.
func Part(traders []Trader) *tablefile.Part {
	p := &tablefile.Part{Addresses: make([]table.Address, len(traders))}
	for i := range traders {
		p.Addresses[i] = traders[i].Address
	}
	p.Values = func(column int) ([]int64, table.Bits, error) {
		values, known := make([]int64, len(traders)), table.NewBits(len(traders))
		of := figures[column]
		for i := range traders {
			if v, ok := of.Field.Figure(&traders[i].Trader, of.Period); ok {
				values[i] = v
				known.Set(i)
			}
		}
		return values, known, nil
	}
	p.Names = func(column int) ([][]string, error) {
		names := make([][]string, len(traders))
		if f, ok := textsAt(column); ok {
			for i := range traders {
				names[i] = f.Texts(&traders[i].Trader)
			}
			return names, nil
		}
		period := traderfields.Periods[column-len(figures)]
		for i := range traders {
			if w := traders[i].Did[period]; w != nil {
				names[i] = w.Did.Coins
			}
		}
		return names, nil
	}
	return p
}

// Revalued is a part whose rows hold by now what now says of each address, and have by now what lists say
// of it. It is asked once for each.
func Revalued(p *tablefile.Part, now func(table.Address) traderfields.Trader) *tablefile.Part {
	return again(p, func(f *traderfields.Field) bool { return f.Adds == traderfields.Latest }, now)
}

// Relisted is a part whose rows have by now what lists say of each address.
func Relisted(p *tablefile.Part, now func(table.Address) traderfields.Trader) *tablefile.Part {
	return again(p, func(f *traderfields.Field) bool { return f.ByList }, now)
}

// Moved is a part, the slices of which it takes, in which what moves while an account does nothing is as some
// rows have it. These are in the part, and have what moves.
func Moved(p, rows *tablefile.Part) *tablefile.Part {
	if len(rows.Addresses) == 0 {
		return p
	}
	places, to := map[table.Address]int{}, make([]int, len(rows.Addresses))
	for row, a := range p.Addresses {
		places[a] = row
	}
	for row, a := range rows.Addresses {
		to[row] = places[a]
	}
	moved := *p
	moved.Values = func(column int) ([]int64, table.Bits, error) {
		values, known, err := p.Values(column)
		if err != nil || !figures[column].Field.Moves() {
			return values, known, err
		}
		anew, has, err := rows.Values(column)
		for row, at := range to {
			if values[at] = anew[row]; has.Has(row) {
				known.Set(at)
			} else {
				known.Unset(at)
			}
		}
		return values, known, err
	}
	return &moved
}

// again is a part of which some fields are made anew.
func again(p *tablefile.Part, which func(*traderfields.Field) bool, now func(table.Address) traderfields.Trader) *tablefile.Part {
	type column struct {
		values []int64
		known  table.Bits
	}
	anew, names := map[int]*column{}, map[int][][]string{}
	for i, c := range figures {
		if which(c.Field) {
			anew[i] = &column{make([]int64, len(p.Addresses)), table.NewBits(len(p.Addresses))}
		}
	}
	for _, f := range texts {
		if which(f) {
			names[places[f.Name]] = make([][]string, len(p.Addresses))
		}
	}
	for row, a := range p.Addresses {
		of := now(a)
		for i, c := range anew {
			if v, ok := figures[i].Field.Figure(&of, figures[i].Period); ok {
				c.values[row] = v
				c.known.Set(row)
			}
		}
		for i, list := range names {
			f, _ := textsAt(i)
			list[row] = f.Texts(&of)
		}
	}
	revalued := *p
	revalued.Values = func(place int) ([]int64, table.Bits, error) {
		if c := anew[place]; c != nil {
			return c.values, c.known, nil
		}
		return p.Values(place)
	}
	revalued.Names = func(place int) ([][]string, error) {
		if list, ok := names[place]; ok {
			return list, nil
		}
		return p.Names(place)
	}
	return &revalued
}
