package market

import (
	"math/bits"

	"github.com/quagmt/udecimal"
)

// Amount is a decimal that is not negative, in nine bytes: Coef x 10^-Places. It holds
// every price and size of the venue, which are 64 bits with up to eight places there.
// One that [ParseAmount] returned has no trailing zeros, so that equal amounts are equal
// values.
type Amount struct {
	Coef   uint64
	Places uint8 // at most 19
}

// ParseAmount reads a plain decimal as [ParseDecimal] does; ok is false for everything
// else, and for what an Amount cannot hold.
func ParseAmount(s string) (a Amount, ok bool) {
	if _, ok := decimalPlaces(s); !ok || s[0] == '-' {
		return Amount{}, false
	}
	point := false
	for i := range len(s) {
		if s[i] == '.' {
			point = true
			continue
		}
		hi, lo := bits.Mul64(a.Coef, 10)
		sum, carry := bits.Add64(lo, uint64(s[i]-'0'), 0)
		if hi|carry != 0 {
			return Amount{}, false
		}
		a.Coef = sum
		if point {
			a.Places++
		}
	}
	return a.trimmed(), true
}

// trimmed is a without trailing zeros.
func (a Amount) trimmed() Amount {
	for a.Places > 0 && a.Coef%10 == 0 {
		a.Coef, a.Places = a.Coef/10, a.Places-1
	}
	return a
}

// Decimal is a as a Decimal.
func (a Amount) Decimal() Decimal {
	d, err := udecimal.NewFromUint64(a.Coef, a.Places)
	if err != nil {
		panic("market: an amount of more than 19 places")
	}
	return d
}

// amountOf is d as an Amount, 0 where it is negative; ok is false for what does not fit.
func amountOf(d Decimal) (a Amount, ok bool) {
	neg, hi, lo, places, ok := d.ToHiLo()
	if neg {
		return Amount{}, true
	}
	return Amount{lo, places}.trimmed(), ok && hi == 0
}
