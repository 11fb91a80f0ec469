package market

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// YuanRate is how many yuan a US dollar is, as the fraction CNY / USD of two rates
// against the same third currency, so that nothing is rounded before the end. Both
// are above 0.
type YuanRate struct{ USD, CNY Decimal }

// Yuan returns an amount in US dollars in yuan: amount x CNY / USD, rounded once,
// halves away from zero, to as many places as the amount has and at least two, without
// zeros at the end. The amount is a plain decimal; an empty one, which is not known, stays empty.
func (r YuanRate) Yuan(amount string) string {
	places, ok := decimalPlaces(amount)
	if !ok {
		return ""
	}
	value := rational(amount)
	return rounded(value.Mul(value, r.fraction()), places)
}

// YuanDegree returns a change in percent of a price in US dollars as that of the
// price in yuan, where then is the rate at the beginning of the change and now that
// at its end:
//
//	(100 + degree) x now / then - 100
//
// rounded as [YuanRate.Yuan] rounds.
func YuanDegree(degree string, then, now YuanRate) string {
	places, ok := decimalPlaces(degree)
	if !ok {
		return ""
	}
	hundred := big.NewRat(100, 1)
	value := rational(degree)
	value.Add(value, hundred).Mul(value, now.fraction()).Quo(value, then.fraction()).Sub(value, hundred)
	return rounded(value, places)
}

func (r YuanRate) fraction() *big.Rat {
	value := rational(r.CNY.String())
	return value.Quo(value, rational(r.USD.String()))
}

// rational is the exact value of a plain decimal.
func rational(text string) *big.Rat {
	value, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(fmt.Sprintf("market: %q was not validated", text))
	}
	return value
}

// leastPlaces are those of money and of percents that had fewer before.
const leastPlaces = 2

// rounded is a plain decimal as [Decimal.String] writes one: without zeros at the end.
func rounded(value *big.Rat, places int) string {
	text := trimmed(value.FloatString(max(places, leastPlaces)))
	if text == "-0" {
		return "0"
	}
	return text
}

// Quotient returns a / b as a plain decimal of at most so many places, rounded once, halves
// away from zero; empty where one of them is not known or b is 0. Both are plain
// decimals or empty.
func Quotient(a, b string, places int) string {
	if _, ok := decimalPlaces(a); !ok {
		return ""
	}
	if _, ok := decimalPlaces(b); !ok {
		return ""
	}
	divisor := rational(b)
	if divisor.Sign() == 0 {
		return ""
	}
	value := rational(a)
	return rounded(value.Quo(value, divisor), places)
}

// RoundedNumber returns a JSON number as a plain decimal of at most so many places,
// rounded halves away from zero, for what is not exact where it comes from.
func RoundedNumber(number string, places int) (string, error) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	if len(mantissa) > maxDecimalLen || !smallExponent(exponent) || strings.Trim(number, "-+.0123456789eE") != "" {
		return "", fmt.Errorf("%.60q %w", number, errDecimal)
	}
	value, ok := new(big.Rat).SetString(number)
	if !ok {
		return "", fmt.Errorf("%.60q %w", number, errDecimal)
	}
	return PlainNumber(trimmed(value.FloatString(places)))
}

// PlainNumber returns a JSON number as the plain decimal of exactly its value: an
// exponent is written out. It fails on more than 19 places and on more than 48
// characters.
func PlainNumber(number string) (string, error) {
	mantissa, exponent, scientific := strings.Cut(strings.ToLower(number), "e")
	if !scientific {
		_, err := ParseDecimal(number)
		return number, err
	}
	if _, ok := decimalPlaces(mantissa); !ok || !smallExponent(exponent) {
		return "", fmt.Errorf("%.60q %w", number, errDecimal)
	}
	value, ok := new(big.Rat).SetString(mantissa + "e" + exponent)
	if !ok {
		return "", fmt.Errorf("%.60q %w", number, errDecimal)
	}
	text := value.FloatString(maxPlaces)
	if again, _ := new(big.Rat).SetString(text); again == nil || again.Cmp(value) != 0 || len(text) > maxDecimalLen {
		return "", fmt.Errorf("%.60q has more than %d places, or too many digits", number, maxPlaces)
	}
	return trimmed(text), nil
}

// smallExponent reports whether a number with an exponent, "" for none, may be one of so many digits
// and places as are read. Of another one thousands of digits would be written out.
func smallExponent(exponent string) bool {
	n, err := strconv.Atoi(exponent)
	return exponent == "" || err == nil && -maxDecimalLen-maxPlaces <= n && n <= maxDecimalLen
}

// trimmed is a plain decimal without zeros at the end of its places.
func trimmed(text string) string {
	if !strings.Contains(text, ".") {
		return text
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
