package pairbooks

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/quagmt/udecimal"

	"quotary/shared/market"
)

// MaxLevels is how many levels of a side are kept at most.
const MaxLevels = 5000

var errLevels = errors.New("are no levels of a book")

// pack writes the best levels of a book, at most so many of a side: how many decimal places
// prices and sizes have, how many bids and asks there are, and of each level by how much its price
// is worse than the one before, and its size, all whole numbers of 7 bits a byte. It is not ok for
// levels that are in no order or whose figures have more than 128 bits, which no exchange has.
func pack(b *market.PairBook, most int) (packed []byte, ok bool) {
	bids, asks := b.Bids[:min(len(b.Bids), most)], b.Asks[:min(len(b.Asks), most)]
	var px, sz uint8
	for _, side := range [...][]market.PairLevel{bids, asks} {
		for i := range side {
			px, sz = max(px, uint8(side[i].Px.Prec())), max(sz, uint8(side[i].Sz.Prec())) //nolint:gosec // 19 at most
		}
	}
	packed = append(make([]byte, 0, 8+8*(len(bids)+len(asks))), px, sz)
	packed = binary.AppendUvarint(packed, uint64(len(bids)))
	packed = binary.AppendUvarint(packed, uint64(len(asks)))
	for i, side := range [...][]market.PairLevel{bids, asks} {
		if packed, ok = appendSide(packed, side, px, sz, i == 0); !ok {
			return nil, false
		}
	}
	return packed, true
}

func appendSide(packed []byte, side []market.PairLevel, px, sz uint8, falls bool) ([]byte, bool) {
	var before wide
	for i := range side {
		price, ok1 := scaled(side[i].Px, px)
		size, ok2 := scaled(side[i].Sz, sz)
		step, ok3 := price.minus(before)
		if falls && i > 0 {
			step, ok3 = before.minus(price)
		}
		if !ok1 || !ok2 || !ok3 || step == (wide{}) {
			return nil, false
		}
		packed, before = size.appendTo(step.appendTo(packed)), price
	}
	return packed, true
}

// unpack reads what pack has written.
func unpack(packed []byte) (bids, asks []market.PairLevel, err error) {
	r := reader{rest: packed, ok: true}
	px, sz := r.byte(), r.byte()
	nBids, nAsks := r.count(), r.count()
	bids, asks = r.side(nBids, px, sz, true), r.side(nAsks, px, sz, false)
	if !r.ok || len(r.rest) > 0 {
		return nil, nil, errLevels
	}
	return bids, asks, nil
}

// reader reads what is packed; ok is false from the first fault on.
type reader struct {
	rest []byte
	ok   bool
}

func (r *reader) byte() (b uint8) {
	if r.ok = r.ok && len(r.rest) > 0; r.ok {
		b, r.rest = r.rest[0], r.rest[1:]
	}
	return b
}

// count is how many levels a side has, each of two bytes or more.
func (r *reader) count() int {
	n := r.wide()
	r.ok = r.ok && n.hi == 0 && n.lo <= MaxLevels && 2*n.lo <= uint64(len(r.rest))
	if !r.ok {
		return 0
	}
	return int(n.lo) //nolint:gosec // bounded
}

func (r *reader) wide() (w wide) {
	for shift := uint(0); ; shift += 7 {
		b := r.byte()
		part := wide{lo: uint64(b & 0x7f)}.shifted(shift)
		if r.ok = r.ok && shift < 128 && (shift != 126 || b < 4); !r.ok {
			return wide{}
		}
		w = wide{w.hi | part.hi, w.lo | part.lo}
		if b < 0x80 {
			return w
		}
	}
}

func (r *reader) side(n int, px, sz uint8, falls bool) []market.PairLevel {
	levels := make([]market.PairLevel, 0, n)
	var price wide
	for i := range n {
		step, size := r.wide(), r.wide()
		next, ok := price.plus(step)
		if falls && i > 0 {
			next, ok = price.minus(step)
		}
		var l market.PairLevel
		var err1, err2 error
		l.Px, err1 = udecimal.NewFromHiLo(false, next.hi, next.lo, px)
		l.Sz, err2 = udecimal.NewFromHiLo(false, size.hi, size.lo, sz)
		if r.ok = r.ok && ok && err1 == nil && err2 == nil && step != (wide{}); !r.ok {
			return nil
		}
		levels, price = append(levels, l), next
	}
	return levels
}

// wide is a whole number of 128 bits.
type wide struct{ hi, lo uint64 }

// scaled is a decimal as a whole number of units of so many places; false for a negative one and
// for one that is too large.
func scaled(d market.Decimal, places uint8) (wide, bool) {
	negative, hi, lo, prec, ok := d.ToHiLo()
	w := wide{hi, lo}
	for ; ok && prec < places; prec++ {
		w, ok = w.tenfold()
	}
	return w, ok && (!negative || w == wide{})
}

func (w wide) tenfold() (wide, bool) {
	over, high := bits.Mul64(w.hi, 10)
	carry, low := bits.Mul64(w.lo, 10)
	high, carried := bits.Add64(high, carry, 0)
	return wide{high, low}, over == 0 && carried == 0
}

func (w wide) plus(o wide) (wide, bool) {
	lo, carry := bits.Add64(w.lo, o.lo, 0)
	hi, carry := bits.Add64(w.hi, o.hi, carry)
	return wide{hi, lo}, carry == 0
}

func (w wide) minus(o wide) (wide, bool) {
	lo, borrow := bits.Sub64(w.lo, o.lo, 0)
	hi, borrow := bits.Sub64(w.hi, o.hi, borrow)
	return wide{hi, lo}, borrow == 0
}

// shifted is w, of less than 64 bits, by so many bits to the left.
func (w wide) shifted(by uint) wide {
	if by >= 64 {
		return wide{hi: w.lo << (by - 64)}
	}
	return wide{w.lo >> (64 - by), w.lo << by}
}

func (w wide) appendTo(b []byte) []byte {
	for w.hi > 0 || w.lo >= 0x80 {
		b = append(b, byte(w.lo)|0x80)
		w = wide{w.hi >> 7, w.lo>>7 | w.hi<<57}
	}
	return append(b, byte(w.lo))
}
