package table

import (
	"encoding/binary"
	"fmt"
	"sync"
)

// Address names a row.
type Address = [20]byte

// Part is rows that were made together. It is read only, and may be read by several at once.
type Part struct {
	Addresses []Address          // of its rows, each once
	Columns   map[int][]Block    // of figures
	Sets      map[int][]SetBlock // columns of sets

	// Hidden are the rows of each block that a later part has anew; nil of a block without any, or of a part.
	Hidden []Bits

	index func() []uint32
}

// NewPart makes a part of rows without columns and sets.
func NewPart(addresses []Address) *Part {
	p := &Part{Addresses: addresses, Columns: map[int][]Block{}, Sets: map[int][]SetBlock{}}
	p.index = sync.OnceValue(p.build)
	return p
}

// With is the same rows with other columns.
func (p *Part) With(columns map[int][]Block, sets map[int][]SetBlock) *Part {
	other := *p
	other.Columns, other.Sets = columns, sets
	return &other
}

// Blocks is how many blocks each column has.
func (p *Part) Blocks() int { return (len(p.Addresses) + BlockRows - 1) / BlockRows }

// RowsOf is how many rows a block has.
func (p *Part) RowsOf(block int) int { return min(BlockRows, len(p.Addresses)-block*BlockRows) }

// At is a figure of a row; ok is false where it is not known.
func (p *Part) At(row, column int) (v int64, ok bool) {
	return p.Columns[column][row/BlockRows].At(row % BlockRows)
}

// Of lists the sets of a column that a row belongs to; nil where it belongs to none.
func (p *Part) Of(row, column int) []string {
	return p.Sets[column][row/BlockRows].Of(row % BlockRows)
}

// Find is the row of an address.
func (p *Part) Find(a Address) (row int, ok bool) {
	index := p.index()
	if len(index) == 0 {
		return 0, false
	}
	for at := slot(a, len(index)); ; at = (at + 1) % len(index) {
		switch n := index[at]; {
		case n == 0:
			return 0, false
		case p.Addresses[n-1] == a:
			return int(n - 1), true
		}
	}
}

// build makes the index of [Part.Find]: numbers of rows, one more than they are, each in the first
// free place behind the one that its address says.
func (p *Part) build() []uint32 {
	if len(p.Addresses) == 0 {
		return nil
	}
	index := make([]uint32, len(p.Addresses)*3/2+1)
	for i, a := range p.Addresses {
		at := slot(a, len(index))
		for index[at] != 0 {
			at = (at + 1) % len(index)
		}
		index[at] = uint32(i) + 1 //nolint:gosec // memory has no room for more
	}
	return index
}

// slot spreads addresses, the first bytes of which somebody may have chosen.
func slot(a Address, n int) int {
	h := binary.LittleEndian.Uint64(a[:]) ^ binary.LittleEndian.Uint64(a[8:])*0x9e3779b97f4a7c15 ^ uint64(binary.LittleEndian.Uint32(a[16:]))*0xff51afd7ed558ccd
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	return int((h ^ h>>32) % uint64(n)) //nolint:gosec // it is below n
}

// HideIn hides the rows that p has anew in an earlier part.
func (p *Part) HideIn(earlier *Part) {
	for _, a := range p.Addresses {
		row, ok := earlier.Find(a)
		if !ok {
			continue
		}
		if earlier.Hidden == nil {
			earlier.Hidden = make([]Bits, earlier.Blocks())
		}
		hidden := &earlier.Hidden[row/BlockRows]
		if *hidden == nil {
			*hidden = NewBits(BlockRows)
		}
		hidden.Set(row % BlockRows)
	}
}

// check reports what a query reads and the part has not.
func (p *Part) check(columns, sets []int) error {
	for _, c := range columns {
		if len(p.Columns[c]) != p.Blocks() {
			return fmt.Errorf("column %d is not loaded", c)
		}
	}
	for _, c := range sets {
		if len(p.Sets[c]) != p.Blocks() {
			return fmt.Errorf("column %d of sets is not loaded", c)
		}
	}
	return nil
}
