// Package table answers questions about a table of a million rows and hundreds of columns in
// milliseconds: which rows pass these filters, how many are they, and which come first.
//
// Every figure is a whole number, or not known; what a unit of a column is, is the business of
// who made the table. A column is cut into blocks of [BlockRows] rows ([NewBlock]), in which a
// figure is a code of one, two, four or eight bytes, so that a filter is one comparison of codes
// a row; a block that is mostly one value keeps the others alone, and its least and greatest value
// tell for most blocks that all of their rows pass a filter, or none.
//
// A [Part] is rows with blocks of those columns that are loaded, and a [Query] runs over several
// parts, of which a later one may hide rows of an earlier one. The package does no I/O: whoever
// keeps the table asks a query which columns it reads ([Query.Columns]), and loads these.
package table

import (
	"fmt"
	"math/bits"
	"slices"
)

// BlockRows is how many rows a block has, but for the last one of a part.
const BlockRows = 1 << 16

const blockWords = BlockRows / wordBits

// MostValue bounds values: what a table keeps lies between its negative and it.
const MostValue = 1<<62 - 1

// Block is a column of at most [BlockRows] rows. The zero value has no rows.
type Block struct {
	rows, known int
	min, max    int64 // of the known values

	// common is the code of all rows that are not at one of the positions; these are nil where
	// every row has a code of its own.
	common    uint64
	positions []uint16 // ascending
	codes     codes
}

// codes are what a block keeps of values: 0 of one that is not known, else one more than its
// distance from the least.
type codes interface {
	at(i int) uint64
	from(i int) codes
	bytes() int
	// keep clears the bits of those rows whose codes are not between low and high.
	keep(low, high uint64, rows Bits)
	// mark sets the bits of the positions of those codes that are between low and high, or outside.
	mark(low, high uint64, outside bool, positions []uint16, rows Bits)
}

// NewBlock makes a block of values. Those that are not in known are not known; a nil known says
// that all are. It fails with more than [BlockRows] values, or one beyond [MostValue].
func NewBlock(values []int64, known Bits) (Block, error) {
	if len(values) > BlockRows {
		return Block{}, fmt.Errorf("a block has at most %d rows, not %d", BlockRows, len(values))
	}
	b := Block{rows: len(values)}
	for i, v := range values {
		if known != nil && !known.Has(i) {
			continue
		}
		if v > MostValue || v < -MostValue {
			return Block{}, fmt.Errorf("value %d of a block is beyond %d", v, int64(MostValue))
		}
		if b.known == 0 {
			b.min, b.max = v, v
		}
		b.min, b.max = min(b.min, v), max(b.max, v)
		b.known++
	}
	code := func(i int) uint64 {
		if known != nil && !known.Has(i) {
			return 0
		}
		return b.code(values[i])
	}
	b.pack(code)
	return b, nil
}

// Unknown is a block of rows of which nothing is known.
func Unknown(rows int) Block {
	return Block{rows: rows, positions: []uint16{}, codes: dense[uint8]{}}
}

// pack keeps the codes in the form that takes least.
func (b *Block) pack(code func(i int) uint64) {
	width := 1
	if b.known > 0 {
		width = widthOf(b.code(b.max))
	}
	zero := uint64(0)
	if b.min <= 0 && b.max >= 0 && b.known > 0 {
		zero = b.code(0)
	}
	nulls, zeros := b.rows-b.known, 0
	if zero != 0 {
		for i := range b.rows {
			if code(i) == zero {
				zeros++
			}
		}
	}
	common, others := uint64(0), b.rows-nulls
	if zeros > nulls {
		common, others = zero, b.rows-zeros
	}
	if b.known == b.rows && b.min == b.max {
		common, others = b.code(b.min), 0
	}
	if others*(width+2) >= b.rows*width {
		b.codes = newCodes(width, b.rows, code)
		return
	}
	b.common, b.positions = common, make([]uint16, 0, others)
	for i := range b.rows {
		if code(i) != common {
			b.positions = append(b.positions, uint16(i)) //nolint:gosec // a block has no more rows
		}
	}
	b.codes = newCodes(width, others, func(i int) uint64 { return code(int(b.positions[i])) })
}

// widthOf is how many bytes hold codes up to one.
func widthOf(most uint64) int {
	switch n := bits.Len64(most); {
	case n <= 8:
		return 1
	case n <= 16:
		return 2
	case n <= 32:
		return 4
	}
	return 8
}

func newCodes(width, n int, code func(i int) uint64) codes {
	switch width {
	case 1:
		return fill(make(dense[uint8], n), code)
	case 2:
		return fill(make(dense[uint16], n), code)
	case 4:
		return fill(make(dense[uint32], n), code)
	}
	return fill(make(dense[uint64], n), code)
}

func fill[C code](d dense[C], code func(i int) uint64) dense[C] {
	for i := range d {
		d[i] = C(code(i)) //nolint:gosec // the width is that of the greatest
	}
	return d
}

// code is the code of a known value between the least and the greatest.
func (b *Block) code(v int64) uint64 { return uint64(v-b.min) + 1 } //nolint:gosec // values are half as large as an int64 at most

// Range is the least and the greatest known value; ok is false where none is known.
func (b *Block) Range() (least, most int64, ok bool) { return b.min, b.max, b.known > 0 }

// Bytes is about what the block takes in memory.
func (b *Block) Bytes() int {
	n := 128 + 2*len(b.positions)
	if b.codes != nil {
		n += b.codes.bytes()
	}
	return n
}

// At is the value of a row; ok is false where it is not known.
func (b *Block) At(row int) (v int64, ok bool) {
	return b.value(b.codeAt(row))
}

// Each calls f for every known value, in the order of the rows.
func (b *Block) Each(f func(row int, v int64)) {
	if b.positions != nil && b.common == 0 { // all others are not known
		for i, row := range b.positions {
			if v, ok := b.value(b.codes.at(i)); ok {
				f(int(row), v)
			}
		}
		return
	}
	next := 0 // of the positions
	for row := range b.rows {
		code := b.common
		switch {
		case b.positions == nil:
			code = b.codes.at(row)
		case next < len(b.positions) && int(b.positions[next]) == row:
			code = b.codes.at(next)
			next++
		}
		if v, ok := b.value(code); ok {
			f(row, v)
		}
	}
}

func (b *Block) value(code uint64) (v int64, ok bool) {
	return b.min + int64(code) - 1, code != 0 //nolint:gosec // it is the code of a value
}

// from is the block without its first rows; what is mostly one value is not cut.
func (b *Block) from(row int) *Block {
	cut := *b
	cut.codes = b.codes.from(row)
	return &cut
}

func (b *Block) codeAt(row int) uint64 {
	if b.positions == nil {
		return b.codes.at(row)
	}
	i, ok := slices.BinarySearch(b.positions, uint16(row)) //nolint:gosec // a block has no more rows
	if !ok {
		return b.common
	}
	return b.codes.at(i)
}

// keepRange clears the bits of those rows whose value is not known, or not between low and high.
func (b *Block) keepRange(low, high int64, rows Bits) {
	if b.known == 0 || high < b.min || low > b.max || low > high {
		clear(rows)
		return
	}
	if low <= b.min && high >= b.max && b.known == b.rows {
		return
	}
	b.keepCodes(b.code(max(low, b.min)), b.code(min(high, b.max)), rows)
}

// keepNull clears the bits of those rows whose value is known.
func (b *Block) keepNull(rows Bits) {
	if b.known == b.rows {
		clear(rows)
		return
	}
	b.keepCodes(0, 0, rows)
}

func (b *Block) keepCodes(low, high uint64, rows Bits) {
	if b.positions == nil {
		b.codes.keep(low, high, rows)
		return
	}
	var words [blockWords]uint64
	marked := Bits(words[:])
	if outside := low <= b.common && b.common <= high; outside {
		b.codes.mark(low, high, outside, b.positions, marked)
		rows.andNot(marked)
	} else {
		b.codes.mark(low, high, outside, b.positions, marked)
		rows.and(marked)
	}
}

type code interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64
}

// dense are codes of one width.
type dense[C code] []C

func (d dense[C]) at(i int) uint64 { return uint64(d[i]) }

func (d dense[C]) from(i int) codes { return d[i:] }

func (d dense[C]) bytes() int {
	return len(d) * bits.Len64(uint64(^C(0))) / 8
}

// keep takes 64 rows at a time, and looks at none of those that are out already. What is below
// low becomes large: one comparison does for both ends.
func (d dense[C]) keep(low, high uint64, rows Bits) {
	from, width := C(low), C(high-low) //nolint:gosec // both are codes of the block
	for w := range rows {
		if rows[w] == 0 {
			continue
		}
		at := d[w*wordBits:]
		var in uint64
		if len(at) >= wordBits {
			for _, c := range (*[wordBits]C)(at) {
				var passed uint64 // as a number: a branch would be guessed wrong half of the time
				if c-from <= width {
					passed = 1
				}
				in = in>>1 | passed<<63
			}
		} else {
			for i, c := range at {
				if c-from <= width {
					in |= 1 << i
				}
			}
		}
		rows[w] &= in
	}
}

func (d dense[C]) mark(low, high uint64, outside bool, positions []uint16, rows Bits) {
	from, width := C(low), C(high-low) //nolint:gosec // both are codes of the block
	for i, at := range positions {
		var marked uint64 // as in keep
		if (d[i]-from > width) == outside {
			marked = 1
		}
		rows[at/wordBits] |= marked << (at % wordBits)
	}
}
