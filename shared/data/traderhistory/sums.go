package traderhistory

import (
	"iter"

	"quotary/shared/market"
	"quotary/shared/table"
)

// Sums adds up what traders did in the files of a window, in those columns that are wanted.
type Sums struct {
	from    int64
	columns []int
	values  map[int][]int64
	known   map[int]table.Bits
	did     table.Bits
}

// NewSums returns sums for so many traders, of a window that begins at from, ms.
func NewSums(from int64, traders int, columns []int) *Sums {
	s := &Sums{from: from, columns: columns, values: map[int][]int64{}, known: map[int]table.Bits{}, did: table.NewBits(traders)}
	for _, c := range columns {
		if c < firstContinued {
			s.values[c], s.known[c] = make([]int64, traders), table.NewBits(traders)
		}
	}
	return s
}

// AddAll adds the rows of a file, whose columns are loaded: each to the trader that to names, none to a
// negative one.
func (s *Sums) AddAll(p *table.Part, to []int32) {
	for _, c := range s.columns {
		switch {
		case c >= firstContinued:
			s.addContinued(p, c, func(rows iter.Seq[int], first int, n int64) {
				for row := range rows {
					if at := to[first+row]; at >= 0 {
						s.add(c-firstContinued+firstDistinct, int(at), n)
					}
				}
			})
		default:
			for b := range p.Columns[c] {
				first := b * table.BlockRows
				p.Columns[c][b].Each(func(row int, v int64) {
					if at := to[first+row]; at >= 0 {
						s.add(c, int(at), v)
					}
				})
			}
		}
	}
}

// AddRow adds one row of a file to a trader.
func (s *Sums) AddRow(p *table.Part, row, to int) {
	for _, c := range s.columns {
		if c >= firstContinued {
			sets := &p.Sets[c][row/table.BlockRows]
			sets.Each(func(text string, _ iter.Seq[int]) {
				if of, ok := parseContinued(text); ok && of.Hour < s.from && sets.Has(row%table.BlockRows, text) {
					s.add(c-firstContinued+firstDistinct, to, of.N)
				}
			})
			continue
		}
		if v, ok := p.At(row, c); ok {
			s.add(c, to, v)
		}
	}
}

// addContinued calls add for the rows in which something happened again that had happened last before
// the window.
func (s *Sums) addContinued(p *table.Part, column int, add func(rows iter.Seq[int], first int, n int64)) {
	for b := range p.Sets[column] {
		p.Sets[column][b].Each(func(text string, rows iter.Seq[int]) {
			if c, ok := parseContinued(text); ok && c.Hour < s.from {
				add(rows, b*table.BlockRows, c.N)
			}
		})
	}
}

func (s *Sums) add(column, at int, v int64) {
	components[column].addTo(s.values[column], s.known[column], at, v)
	s.did.Set(at)
}

// Did reports whether anything was added to a trader.
func (s *Sums) Did(trader int) bool { return s.did.Has(trader) }

// Facts sets what a trader did in the window, as far as that is in the wanted columns.
func (s *Sums) Facts(trader int, f *market.Facts) {
	*f = market.Facts{}
	for _, c := range s.columns {
		if c < firstContinued && s.known[c].Has(trader) {
			components[c].set(f, market.DecimalOf(s.values[c][trader], components[c].Scale))
		}
	}
}
