package traderhistory

import (
	"iter"
	"slices"

	"quotary/shared/market"
	"quotary/shared/table"
)

// Sums adds up what traders did in the files of a window, in those columns that are wanted.
type Sums struct {
	from   int64
	values map[int][]int64
	known  map[int]table.Bits
	did    table.Bits
}

// NewSums returns sums for so many traders, of a window that begins at from, ms.
func NewSums(from int64, traders int, columns []int) *Sums {
	s := &Sums{from: from, values: map[int][]int64{}, known: map[int]table.Bits{}, did: table.NewBits(traders)}
	for _, c := range columns {
		if c < firstContinued {
			s.values[c], s.known[c] = make([]int64, traders), table.NewBits(traders)
		}
	}
	return s
}

// AddAll adds the rows of a file, of which some columns are loaded: each to the trader that to names, none
// to a negative one.
func (s *Sums) AddAll(p *table.Part, columns []int, to []int32) {
	for _, c := range columns {
		for b := range p.Blocks() {
			add := func(column, row int, v int64) {
				if at := to[b*table.BlockRows+row]; at >= 0 {
					s.add(column, int(at), v)
				}
			}
			if c < firstContinued {
				p.Columns[c][b].Each(func(row int, v int64) { add(c, row, v) })
				continue
			}
			s.eachContinued(&p.Sets[c][b], func(rows iter.Seq[int], n int64) {
				for row := range rows {
					add(distinctOf(c), row, n)
				}
			})
		}
	}
}

// AddRows adds those rows of a file, of which some columns are loaded, to which a trader is told.
func (s *Sums) AddRows(p *table.Part, columns []int, to map[int]int) {
	if len(to) == 0 {
		return
	}
	for _, c := range columns {
		if c < firstContinued {
			for row, at := range to {
				if v, ok := p.At(row, c); ok {
					s.add(c, at, v)
				}
			}
			continue
		}
		for b := range p.Blocks() {
			s.eachContinued(&p.Sets[c][b], func(rows iter.Seq[int], n int64) {
				for row := range rows {
					if at, ok := to[b*table.BlockRows+row]; ok {
						s.add(distinctOf(c), at, n)
					}
				}
			})
		}
	}
}

// eachContinued calls f for what happened again that had happened last before the window.
func (s *Sums) eachContinued(b *table.SetBlock, f func(rows iter.Seq[int], n int64)) {
	b.Each(func(text string, rows iter.Seq[int]) {
		if c, ok := parseContinued(text); ok && c.Hour < s.from {
			f(rows, c.N)
		}
	})
}

// distinctOf is the component to which a column of what had happened before adds.
func distinctOf(continued int) int { return continued - firstContinued + firstDistinct }

func (s *Sums) add(column, at int, v int64) {
	components[column].addTo(s.values[column], s.known[column], at, v)
	s.did.Set(at)
}

// Did reports whether anything was added to a trader.
func (s *Sums) Did(trader int) bool { return s.did.Has(trader) }

// Known reports whether all of some columns of a trader are known: one of which a file does not know it is not.
func (s *Sums) Known(trader int, columns []int) bool {
	return !slices.ContainsFunc(columns, func(c int) bool {
		return c < firstContinued && s.known[c].Has(trader) && s.values[c][trader] == unknown
	})
}

// Facts sets what a trader did in the window, as far as that is in some of the wanted columns and is
// [Sums.Known].
func (s *Sums) Facts(trader int, columns []int, f *market.Facts) {
	*f = market.Facts{}
	for _, c := range columns {
		if c < firstContinued && s.known[c].Has(trader) && s.values[c][trader] != unknown {
			components[c].set(f, market.DecimalOf(s.values[c][trader], components[c].Scale))
		}
	}
}
