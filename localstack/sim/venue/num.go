package venue

import (
	"math/bits"
	"strconv"
)

// usd is one USDC in perp accounting: balances, costs and fees of perps are
// whole millionths.
const usd = 1_000_000

// spotUnit is one token in spot accounting; spot balances are hundred-millionths.
const spotUnit = 100_000_000

// mulDiv returns a*b/c with a 128-bit intermediate, rounded half away from
// zero. c must be positive; the quotient must fit.
func mulDiv(a, b, c int64) int64 {
	q, rem, neg := mulDivAbs(a, b, c)
	if rem >= uint64(c)-rem {
		q++
	}
	return signed(q, neg)
}

// mulDivDown is mulDiv rounded toward zero.
func mulDivDown(a, b, c int64) int64 {
	q, _, neg := mulDivAbs(a, b, c)
	return signed(q, neg)
}

// mulDivUp is mulDiv rounded away from zero.
func mulDivUp(a, b, c int64) int64 {
	q, rem, neg := mulDivAbs(a, b, c)
	if rem != 0 {
		q++
	}
	return signed(q, neg)
}

func mulDivAbs(a, b, c int64) (q, rem uint64, neg bool) {
	hi, lo := bits.Mul64(uint64(abs(a)), uint64(abs(b)))
	q, rem = bits.Div64(hi, lo, uint64(c))
	return q, rem, (a < 0) != (b < 0)
}

func signed(q uint64, neg bool) int64 {
	if neg {
		return -int64(q)
	}
	return int64(q)
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

func sign(v int64) int64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

var pow10 = [...]int64{1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// isqrt returns the integer square root of v >= 0.
func isqrt(v int64) int64 {
	if v < 2 {
		return v
	}
	x := int64(1) << ((bits.Len64(uint64(v)) + 1) / 2)
	for {
		y := (x + v/x) / 2
		if y >= x {
			return x
		}
		x = y
	}
}

// appendDec appends v, which has dec decimals, as the venue writes numbers:
// trailing zeros cut, at least one decimal ("105056.0", "0.0").
func appendDec(b []byte, v int64, dec int) []byte {
	if v < 0 {
		b = append(b, '-')
		v = -v
	}
	whole, frac := v/pow10[dec], v%pow10[dec]
	b = strconv.AppendInt(b, whole, 10)
	b = append(b, '.')
	if frac == 0 {
		return append(b, '0')
	}
	for d := dec - 1; frac > 0; d-- {
		b = append(b, byte('0'+frac/pow10[d]))
		frac %= pow10[d]
	}
	return b
}

// dec is appendDec as a string.
func dec(v int64, decimals int) string { return string(appendDec(nil, v, decimals)) }

// tickOf returns the price step at px: five significant figures, and never
// more than one whole unit, because integer prices are always valid.
func tickOf(px int64, pxDec int) int64 {
	step := int64(1)
	for v := px; v >= 100_000; v /= 10 {
		step *= 10
	}
	return min(step, pow10[pxDec])
}

// floorTick rounds px down to a valid price, never below one tick.
func floorTick(px int64, pxDec int) int64 {
	if px < 1 {
		return 1
	}
	t := tickOf(px, pxDec)
	return px / t * t
}

// ceilTick rounds px up to a valid price.
func ceilTick(px int64, pxDec int) int64 {
	if px < 1 {
		return 1
	}
	t := tickOf(px, pxDec)
	return (px + t - 1) / t * t
}

// median3 returns the middle one of three.
func median3(a, b, c int64) int64 {
	return max(min(a, b), min(max(a, b), c))
}

// rng is a splitmix64 generator. It is part of the snapshot, and integers only,
// so that a seed gives the same bytes on every machine.
type rng struct{ S uint64 }

func (r *rng) next() uint64 {
	r.S += 0x9e3779b97f4a7c15
	return mix64(r.S)
}

func mix64(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// n returns a number in [0, k).
func (r *rng) n(k int64) int64 {
	hi, _ := bits.Mul64(r.next(), uint64(k))
	return int64(hi)
}

// between returns a number in [lo, hi].
func (r *rng) between(lo, hi int64) int64 { return lo + r.n(hi-lo+1) }

// percent is true p times of 100.
func (r *rng) percent(p int64) bool { return r.n(100) < p }

// gauss returns a near-normal number scaled by 1e6: the sum of twelve uniform
// ones, so at most six deviations out.
func (r *rng) gauss() int64 {
	var s int64
	for range 4 {
		x := r.next()
		s += int64(x&0xfffff) + int64(x>>20&0xfffff) + int64(x>>40&0xfffff)
	}
	return (s - 6<<20) * 1_000_000 >> 20
}
