// Package packed writes and reads rows that are kept small: numbers as varints, exact
// decimals as their digits, texts with their length before them. What was written is
// read in the same order; nothing says what it is.
package packed

import (
	"encoding/binary"
	"math/bits"

	"github.com/quagmt/udecimal"

	"quotary/shared/market"
)

// Writer appends to B.
type Writer struct{ B []byte }

// Byte writes a byte as it is.
func (w *Writer) Byte(b byte) { w.B = append(w.B, b) }

// Bool writes a byte, 0 or 1.
func (w *Writer) Bool(is bool) {
	if is {
		w.Byte(1)
	} else {
		w.Byte(0)
	}
}

// Uint writes numbers as unsigned varints.
func (w *Writer) Uint(numbers ...uint64) {
	for _, n := range numbers {
		w.B = binary.AppendUvarint(w.B, n)
	}
}

// Int writes numbers as varints.
func (w *Writer) Int(numbers ...int64) {
	for _, n := range numbers {
		w.B = binary.AppendVarint(w.B, n)
	}
}

// Length writes how many things follow, to be read by [Reader.Length].
func (w *Writer) Length(n int) { w.Uint(uint64(n)) }

// Text writes the length of a text, and the text.
func (w *Writer) Text(s string) {
	w.Length(len(s))
	w.B = append(w.B, s...)
}

// How a decimal goes on after its first byte, whose lower five bits are the decimal
// places and whose sixth is set of a negative one.
const (
	zero    = iota << 6 // it does not
	short               // its digits as one varint
	long                // the upper and the lower 64 bits of its digits
	written             // as text

	negative  = 1 << 5
	placeBits = negative - 1
)

// Decimal writes decimals. Equal ones are the same bytes: zeros at the end of the places
// are left out.
func (w *Writer) Decimal(decimals ...market.Decimal) {
	for _, d := range decimals {
		w.decimal(d)
	}
}

func (w *Writer) decimal(d market.Decimal) {
	if d.IsZero() {
		w.Byte(zero)
		return
	}
	minus, high, low, places, ok := d.ToHiLo()
	if !ok {
		w.Byte(written)
		w.Text(market.Text(d))
		return
	}
	high, low, places = trimmed(high, low, places)
	head := places
	if minus {
		head |= negative
	}
	if high == 0 {
		w.Byte(short | head)
		w.Uint(low)
		return
	}
	w.Byte(long | head)
	w.Uint(high, low)
}

// trimmed takes the zeros at the end of the places away.
func trimmed(high, low uint64, places uint8) (uint64, uint64, uint8) {
	for places > 0 {
		upper, rest := high/10, high%10
		lower, rest := bits.Div64(rest, low, 10)
		if rest > 0 {
			break
		}
		high, low, places = upper, lower, places-1
	}
	return high, low, places
}

// Reader reads what a [Writer] wrote from the beginning of B, which it shortens. Once
// something cannot be read it is Broken, and reads zeros.
type Reader struct {
	B      []byte
	Broken bool
}

// Check has the reader broken unless ok.
func (r *Reader) Check(ok bool) {
	if !ok {
		r.B, r.Broken = nil, true
	}
}

// Done reports whether all was read, and nothing else was there.
func (r *Reader) Done() bool { return !r.Broken && len(r.B) == 0 }

// Byte reads a byte.
func (r *Reader) Byte() byte {
	if len(r.B) == 0 {
		r.Check(false)
		return 0
	}
	b := r.B[0]
	r.B = r.B[1:]
	return b
}

// Bool reads a byte that is 0 or 1.
func (r *Reader) Bool() bool {
	b := r.Byte()
	r.Check(b <= 1)
	return b == 1
}

// Uint reads an unsigned varint.
func (r *Reader) Uint() uint64 {
	n, size := binary.Uvarint(r.B)
	if size <= 0 {
		r.Check(false)
		return 0
	}
	r.B = r.B[size:]
	return n
}

// Int reads a varint.
func (r *Reader) Int() int64 {
	n, size := binary.Varint(r.B)
	if size <= 0 {
		r.Check(false)
		return 0
	}
	r.B = r.B[size:]
	return n
}

// Length reads how many things follow, of which each takes so many bytes at least: it is
// never more than there is room for.
func (r *Reader) Length(least int) int {
	n := r.Uint()
	if n > uint64(len(r.B)/least) {
		r.Check(false)
		return 0
	}
	return int(n)
}

// Bytes reads n bytes, zeros where there are less.
func (r *Reader) Bytes(n int) []byte {
	if n > len(r.B) {
		r.Check(false)
		return make([]byte, n)
	}
	b := r.B[:n]
	r.B = r.B[n:]
	return b
}

// Text reads a text.
func (r *Reader) Text() string { return string(r.Bytes(r.Length(1))) }

// Decimal reads a decimal.
func (r *Reader) Decimal() market.Decimal {
	head := r.Byte()
	var high uint64
	switch head &^ (negative | placeBits) {
	case zero:
		r.Check(head == zero)
		return market.Decimal{}
	case written:
		d, err := udecimal.Parse(r.Text())
		r.Check(err == nil)
		return d
	case long:
		high = r.Uint()
	}
	d, err := udecimal.NewFromHiLo(head&negative != 0, high, r.Uint(), head&placeBits)
	r.Check(err == nil)
	return d
}
