package table

import (
	"fmt"
	"iter"
	"maps"
	"math/bits"
	"slices"
)

// SetBlock is a column of sets of names, of at most [BlockRows] rows. The zero value has no rows.
type SetBlock struct {
	rows    int
	members map[string]members
	counts  counters // to how many sets each row belongs
}

// NewSetBlock makes a block of rows of which the members of each set are told by its name,
// ascending and each once.
func NewSetBlock(rows int, sets map[string][]uint16) (SetBlock, error) {
	b := SetBlock{rows: rows, members: make(map[string]members, len(sets))}
	if rows > BlockRows {
		return SetBlock{}, fmt.Errorf("a block has at most %d rows, not %d", BlockRows, rows)
	}
	for name, list := range sets {
		for i, row := range list {
			if int(row) >= rows || i > 0 && row <= list[i-1] {
				return SetBlock{}, fmt.Errorf("member %d of set %q is row %d of %d", i, name, row, rows)
			}
		}
		b.put(name, membersOf(list))
	}
	return b, nil
}

// SetMaker makes a [SetBlock] of members that come in any order, and more than once. It takes no more
// memory than the block. The zero value is empty.
type SetMaker map[string]*members

// Add adds a row, of those of a block, to a set.
func (s SetMaker) Add(name string, row int) {
	m := s[name]
	if m == nil {
		m = new(members)
		s[name] = m
	}
	if m.rows != nil {
		m.rows.Set(row)
		return
	}
	at, known := slices.BinarySearch(m.positions, uint16(row)) //nolint:gosec // a block has no more rows
	if known {
		return
	}
	if m.positions = slices.Insert(m.positions, at, uint16(row)); len(m.positions) >= fewMembers { //nolint:gosec // as above
		*m = membersOf(m.positions)
	}
}

// Block is a block of so many rows with all sets. The maker is not to be used behind it.
func (s SetMaker) Block(rows int) (SetBlock, error) {
	if rows > BlockRows {
		return SetBlock{}, fmt.Errorf("a block has at most %d rows, not %d", BlockRows, rows)
	}
	b := SetBlock{rows: rows, members: make(map[string]members, len(s))}
	for name, m := range s {
		if n := len(m.positions); n > 0 && int(m.positions[n-1]) >= rows {
			return SetBlock{}, fmt.Errorf("a member of set %q is row %d of %d", name, m.positions[n-1], rows)
		}
		b.put(name, *m)
	}
	return b, nil
}

// put adds a set.
func (b *SetBlock) put(name string, m members) {
	b.members[name] = m
	for _, row := range m.positions {
		b.counts.addWord(int(row)/wordBits, 1<<(row%wordBits))
	}
	b.counts.add(m.rows)
}

// Bytes is about what the block takes in memory.
func (b *SetBlock) Bytes() int {
	n := 128 + len(b.counts)*BlockRows/8
	for name, m := range b.members {
		n += 64 + len(name) + 2*len(m.positions) + 8*len(m.rows)
	}
	return n
}

// Has reports whether a row belongs to a set.
func (b *SetBlock) Has(row int, name string) bool {
	m := b.members[name]
	if m.rows != nil {
		return m.rows.Has(row)
	}
	_, ok := slices.BinarySearch(m.positions, uint16(row)) //nolint:gosec // a block has no more rows
	return ok
}

// Of lists the sets that a row belongs to; nil where it belongs to none.
func (b *SetBlock) Of(row int) (names []string) {
	for name := range b.members {
		if b.Has(row, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Names lists of each row the sets that it belongs to.
func (b *SetBlock) Names() [][]string {
	rows := make([][]string, b.rows)
	for _, name := range slices.Sorted(maps.Keys(b.members)) {
		m := b.members[name]
		for _, row := range m.positions {
			rows[row] = append(rows[row], name)
		}
		m.rows.each(func(row int) { rows[row] = append(rows[row], name) })
	}
	return rows
}

// Each calls f for every set with the rows that belong to it, in no order of the sets.
func (b *SetBlock) Each(f func(name string, rows iter.Seq[int])) {
	for name, m := range b.members {
		f(name, func(yield func(int) bool) {
			for _, row := range m.positions {
				if !yield(int(row)) {
					return
				}
			}
			for w, word := range m.rows {
				for ; word != 0; word &= word - 1 {
					if !yield(w*wordBits + bits.TrailingZeros64(word)) {
						return
					}
				}
			}
		})
	}
}

// members are the rows that belong to a set: few as positions, many as bits.
type members struct {
	positions []uint16
	rows      Bits
}

// fewMembers is how many take less room as positions than as bits.
const fewMembers = BlockRows / 16

func membersOf(rows []uint16) members {
	if len(rows) < fewMembers {
		return members{positions: slices.Clip(rows)}
	}
	m := members{rows: NewBits(BlockRows)}
	for _, r := range rows {
		m.rows.Set(int(r))
	}
	return m
}

func (m *members) addTo(rows Bits) {
	for _, r := range m.positions {
		rows.Set(int(r))
	}
	rows.or(m.rows)
}

// SetFilter is one condition on a column of sets.
type SetFilter struct {
	Column int
	Names  []string // each once
	Kind   SetKind
}

// SetKind says how a [SetFilter] takes its names.
type SetKind int

// The kinds.
const (
	Any  SetKind = iota // to one of them at least
	All                 // to each of them
	None                // to none of them
	Only                // to none but these, and to one at least
	Some                // to any set at all
)

func (w *worker) set(f *SetFilter, b *SetBlock, rows Bits) {
	switch f.Kind {
	case Any:
		rows.and(w.union(b, f.Names...))
	case None:
		rows.andNot(w.union(b, f.Names...))
	case All:
		for _, name := range f.Names {
			rows.and(w.union(b, name))
		}
	case Only:
		rows.and(w.union(b, f.Names...))
		w.notOthers(f, b, rows)
	case Some:
		clear(w.other[:])
		for _, bit := range b.counts {
			Bits(w.other[:]).or(bit)
		}
		rows.and(w.other[:])
	}
}

// union are the rows that belong to one of some sets at least, until the next one is made.
func (w *worker) union(b *SetBlock, names ...string) Bits {
	clear(w.other[:])
	for _, name := range names {
		m := b.members[name]
		m.addTo(w.other[:])
	}
	return w.other[:]
}

// notOthers leaves the rows that belong to as many of the named sets as to all: to no other. The named
// ones that a row belongs to are never more.
func (w *worker) notOthers(f *SetFilter, b *SetBlock, rows Bits) {
	for i := range w.counts {
		clear(w.counts[i])
	}
	for _, name := range f.Names {
		w.counts.add(w.union(b, name))
	}
	for i, bit := range b.counts {
		if i < len(w.counts) {
			rows.andSame(w.counts[i], bit)
		} else {
			rows.andNot(bit)
		}
	}
}

// counters count to how many sets each row of a block belongs: of each bit of the numbers, the lowest
// first, the rows in whose number it is. So 64 rows are counted at once.
type counters []Bits

// add counts one more of some rows.
func (c *counters) add(rows Bits) {
	for w, word := range rows {
		c.addWord(w, word)
	}
}

// addWord counts one more of some rows of a word.
func (c *counters) addWord(w int, carry uint64) {
	for i := 0; carry != 0; i++ {
		if i == len(*c) {
			*c = append(*c, NewBits(BlockRows))
		}
		bit := &(*c)[i][w]
		*bit, carry = *bit^carry, *bit&carry
	}
}
