package catalog

import (
	"errors"
	"strconv"
	"strings"

	"github.com/quagmt/udecimal"
)

// Decimal is an exact decimal, of at most 19 digits before the point and 19 after it. It
// may have an exponent, as JSON numbers do.
//
// The tags min and max bound it.
type Decimal struct{ udecimal.Decimal }

// Limits of the text of a [Decimal].
const (
	maxDecimalDigits   = 19 // on each side of the point, the exponent applied
	maxDecimalText     = 64 // bytes
	maxDecimalExponent = 19
)

var errDecimal = errors.New("a decimal number of at most 19 digits before the point and 19 after it (for example 0.25)")

// UnmarshalText implements [encoding.TextUnmarshaler]. It refuses NaN, infinities,
// a plus sign before the number and spaces.
func (d *Decimal) UnmarshalText(text []byte) error {
	plain, ok := plainDecimal(string(text))
	if !ok {
		return errDecimal
	}
	parsed, err := udecimal.Parse(plain)
	if err != nil {
		return errDecimal
	}
	d.Decimal = parsed
	return nil
}

// UnmarshalJSON accepts a number and a string that holds one.
func (d *Decimal) UnmarshalJSON(b []byte) error { return unmarshalScalar(b, d.UnmarshalText) }

// plainDecimal writes a decimal without exponent; it is not ok for anything else.
func plainDecimal(text string) (plain string, ok bool) {
	if len(text) > maxDecimalText {
		return "", false
	}
	text, negative := strings.CutPrefix(text, "-")
	shift := 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		var err error
		if shift, err = strconv.Atoi(text[i+1:]); err != nil || shift < -maxDecimalExponent || shift > maxDecimalExponent {
			return "", false
		}
		text = text[:i]
	}
	before, after, pointed := strings.Cut(text, ".")
	if !digits(before) || pointed && !digits(after) {
		return "", false
	}
	all, point := before+after, len(before)+shift
	if point <= 0 {
		all, point = strings.Repeat("0", 1-point)+all, 1
	}
	if missing := point - len(all); missing > 0 {
		all += strings.Repeat("0", missing)
	}
	before, after = strings.TrimLeft(all[:point], "0"), strings.TrimRight(all[point:], "0")
	if len(before) > maxDecimalDigits || len(after) > maxDecimalDigits {
		return "", false
	}
	if before == "" {
		before = "0"
	}
	if after != "" {
		after = "." + after
	}
	if negative {
		before = "-" + before
	}
	return before + after, true
}

// digits reports whether a text is one or more decimal digits.
func digits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }
