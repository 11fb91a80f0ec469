package table

import "math/bits"

const wordBits = 64

// Bits are a set of rows, 64 to a word.
type Bits []uint64

// NewBits is a set that has room for so many rows, and none of them.
func NewBits(rows int) Bits { return make(Bits, (rows+wordBits-1)/wordBits) }

// Has reports whether a row is in the set.
func (b Bits) Has(row int) bool { return b[row/wordBits]>>(row%wordBits)&1 != 0 }

// Set adds a row.
func (b Bits) Set(row int) { b[row/wordBits] |= 1 << (row % wordBits) }

// Unset removes a row.
func (b Bits) Unset(row int) { b[row/wordBits] &^= 1 << (row % wordBits) }

// fill makes it the first n rows.
func (b Bits) fill(n int) {
	for w := range b {
		switch left := n - w*wordBits; {
		case left >= wordBits:
			b[w] = ^uint64(0)
		case left > 0:
			b[w] = 1<<left - 1
		default:
			b[w] = 0
		}
	}
}

// and leaves the rows that another set has too, which may have room for more.
func (b Bits) and(other Bits) {
	for w := range b {
		b[w] &= other[w]
	}
}

// andNot leaves the rows that another set has not, which may have room for more.
func (b Bits) andNot(other Bits) {
	for w := range b {
		b[w] &^= other[w]
	}
}

// andSame leaves the rows in which two other sets, which may have room for more, do not differ.
func (b Bits) andSame(one, other Bits) {
	for w := range b {
		b[w] &^= one[w] ^ other[w]
	}
}

// or adds the rows of another set, which has room for no more.
func (b Bits) or(other Bits) {
	for w, word := range other {
		b[w] |= word
	}
}

func (b Bits) count() (n int) {
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// each calls f with the rows, ascending.
func (b Bits) each(f func(row int)) {
	for w, word := range b {
		for ; word != 0; word &= word - 1 {
			f(w*wordBits + bits.TrailingZeros64(word))
		}
	}
}
