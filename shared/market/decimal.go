package market

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"strconv"

	"github.com/quagmt/udecimal"
)

// Decimal is an exact decimal with up to 19 places: 128 bits of coefficient,
// and arbitrary precision beyond. Sums are always exact; a product is exact
// while the places of its factors add up to 19 (see [Notional]).
type Decimal = udecimal.Decimal

// maxPlaces is the number of decimal places a Decimal can hold.
const maxPlaces = 19

// maxDecimalLen bounds the text of a decimal. The venue's longest are under 30
// characters; what is longer is not a quantity.
const maxDecimalLen = 48

var errDecimal = errors.New("is no plain decimal such as 12.5")

// ParseDecimal reads a plain decimal: an optional minus, digits, optionally a
// point and more digits. It refuses exponents, a plus sign, spaces, a bare
// point, more than 19 places and more than 48 characters.
func ParseDecimal(s string) (Decimal, error) {
	if len(s) > maxDecimalLen {
		return Decimal{}, fmt.Errorf("%.60q %w", s, errDecimal)
	}
	return ParseStored(s)
}

// maxStoredLen bounds the text of what is made of decimals: products of three of them, and sums.
const maxStoredLen = 4 * maxDecimalLen

// ParseStored reads a decimal as [ParseDecimal] does that was written by [Text] or String: it may
// be longer than what is read of others, as it is made of that.
func ParseStored(s string) (Decimal, error) {
	if d, ok := parseShort(s); ok {
		return d, nil
	}
	if _, ok := plainPlaces(s, maxStoredLen); !ok {
		return Decimal{}, fmt.Errorf("%.60q %w", s, errDecimal)
	}
	d, err := udecimal.Parse(s)
	if err != nil {
		return Decimal{}, fmt.Errorf("%.60q %w", s, errDecimal)
	}
	return d, nil
}

// maxShort is how many digits fit 64 bits, whatever they are.
const maxShort = 19

// parseShort reads a plain decimal above 0 of few digits, as nearly all prices and sizes are, in a
// third of the time; false for any other.
func parseShort(s string) (d Decimal, ok bool) {
	if len(s) == 0 || len(s) > maxShort {
		return d, false
	}
	var units uint64
	point := -1
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			units = 10*units + uint64(c-'0')
		case c == '.' && point < 0 && i > 0 && i < len(s)-1:
			point = i
		default:
			return d, false
		}
	}
	if units == 0 {
		return d, false
	}
	places := 0
	if point >= 0 {
		places = len(s) - point - 1
	}
	d, err := udecimal.NewFromHiLo(false, 0, units, uint8(places)) //nolint:gosec // of less than 19
	return d, err == nil
}

// AppendDecimal appends the shortest text of a decimal, as String has it.
func AppendDecimal(b []byte, d Decimal) []byte {
	negative, hi, lo, places, ok := d.ToHiLo()
	if !ok || negative || hi != 0 {
		return append(b, d.String()...)
	}
	for places > 0 && lo%10 == 0 {
		lo, places = lo/10, places-1
	}
	if places == 0 {
		return strconv.AppendUint(b, lo, 10)
	}
	var room [2*maxShort + 2]byte // "0." and zeros before the digits, or a point among them
	digits := strconv.AppendUint(room[:0], lo, 10)
	whole := len(digits) - int(places)
	if whole > 0 {
		b = append(append(b, digits[:whole]...), '.')
		return append(b, digits[whole:]...)
	}
	b = append(b, "0."...)
	for range -whole {
		b = append(b, '0')
	}
	return append(b, digits...)
}

// unitsOf are the powers of ten that have 64 bits, one for each number of places.
var unitsOf = func() (p [maxPlaces + 1]uint64) {
	p[0] = 1
	for i := 1; i <= maxPlaces; i++ {
		p[i] = 10 * p[i-1]
	}
	return p
}()

// ComparePositive compares two decimals that are not negative, as Cmp does, in a fifth of the time
// where both have 64 bits.
func ComparePositive(a, b *Decimal) int {
	_, ah, al, ap, aok := a.ToHiLo()
	_, bh, bl, bp, bok := b.ToHiLo()
	if !aok || !bok || ah|bh != 0 {
		return a.Cmp(*b)
	}
	switch {
	case ap < bp:
		ah, al = bits.Mul64(al, unitsOf[bp-ap])
	case ap > bp:
		bh, bl = bits.Mul64(bl, unitsOf[ap-bp])
	}
	if ah != bh {
		return cmp.Compare(ah, bh)
	}
	return cmp.Compare(al, bl)
}

// decimalPlaces validates s as ParseDecimal does and counts its places.
func decimalPlaces(s string) (places int, ok bool) { return plainPlaces(s, maxDecimalLen) }

// plainPlaces validates a text of at most so many characters, and counts its places.
func plainPlaces(s string, most int) (places int, ok bool) {
	if len(s) == 0 || len(s) > most {
		return 0, false
	}
	i := 0
	if s[0] == '-' {
		i = 1
	}
	point := -1
	for j := i; j < len(s); j++ {
		switch c := s[j]; {
		case c >= '0' && c <= '9':
		case c == '.' && point < 0 && j > i && j < len(s)-1:
			point = j
		default:
			return 0, false
		}
	}
	if i == len(s) {
		return 0, false
	}
	if point >= 0 {
		places = len(s) - point - 1
	}
	return places, places <= maxPlaces
}

// mustDecimal reads a text that was validated before.
func mustDecimal(s string) Decimal {
	d, err := udecimal.Parse(s)
	if err != nil {
		panic(fmt.Sprintf("market: %q was not validated: %v", s, err))
	}
	return d
}

// Notional is px x sz in quote units. The venue gives prices at most 8 places
// and sizes at most 10, so the product is exact; a Fill or Trade whose places
// add up to more than 19 is refused when it is read.
func Notional(px, sz Decimal) Decimal { return px.Mul(sz) }

// Text writes d in the venue's style: no exponent, no trailing zeros, but at
// least one decimal place ("30135.0", "0.5", "-2.25").
func Text(d Decimal) string {
	var buf [maxDecimalLen]byte
	return string(AppendText(buf[:0], d))
}

// TextOrNull is the text of a decimal, nil where it is not known.
func TextOrNull(known bool, d Decimal) *string {
	if !known {
		return nil
	}
	return new(Text(d))
}

// AppendText appends what [Text] returns.
func AppendText(b []byte, d Decimal) []byte {
	start := len(b)
	b, err := d.AppendText(b)
	if err != nil {
		panic(fmt.Sprintf("market: write a decimal: %v", err))
	}
	point := -1
	for i := start; i < len(b); i++ {
		if b[i] == '.' {
			point = i
			break
		}
	}
	if point < 0 {
		return append(b, '.', '0')
	}
	for len(b) > point+2 && b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	return b
}

// decimalOf is a whole number.
func decimalOf(n int64) Decimal { return udecimal.MustFromInt64(n, 0) }

// DecimalFromInt is a whole number.
func DecimalFromInt(n int64) Decimal { return decimalOf(n) }

// DecimalOf is a number of units, each 10^-places, of at most 19 places.
func DecimalOf(units int64, places int) Decimal {
	return udecimal.MustFromInt64(units, uint8(places)) //nolint:gosec // it is small
}

// sharePlaces is the decimal places of a share.
const sharePlaces = 6

// Share is a / (a + b), a fraction from 0 to 1 to six places for what is not negative; 0 where both
// are nothing.
func Share(a, b Decimal) Decimal {
	part, err := a.Div(a.Add(b))
	if err != nil {
		return Decimal{}
	}
	return part.RoundHAZ(sharePlaces)
}
