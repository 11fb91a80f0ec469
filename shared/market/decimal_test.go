package market

import (
	"math/big"
	"strings"
	"testing"

	"github.com/quagmt/udecimal"
	"pgregory.net/rapid"

	"quotary/shared/testing/must"
)

func TestParseDecimalTakesPlainDecimalsOnly(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"0", "0.0", "-0.0", "30135.0", "-2064444.3999999999", "0.0009112079", "00.10", "1." + strings.Repeat("9", 19)} {
		if _, err := ParseDecimal(s); err != nil {
			t.Errorf("ParseDecimal(%q): %v", s, err)
		}
	}
	for _, s := range []string{"", "-", "+1", "--1", "1e5", "1E-2", ".5", "5.", "1..2", "1.2.3", " 1", "1 ", "0x1", "NaN", "Infinity", "1,5", "1_0",
		"٣", "1." + strings.Repeat("9", 20), strings.Repeat("9", 49)} {
		if d, err := ParseDecimal(s); err == nil {
			t.Errorf("ParseDecimal(%q) = %s, want an error", s, d)
		}
	}
}

func TestTextIsInTheVenueStyle(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"30135.0": "30135.0", "30135": "30135.0", "13.00": "13.0", "0": "0.0", "-0.0": "0.0", "0.50": "0.5",
		"-2.250": "-2.25", "100": "100.0", "0.00000001": "0.00000001", "1234567890123456789012345678.5": "1234567890123456789012345678.5",
	} {
		d := must.Get(ParseDecimal(in))(t)
		if got := Text(d); got != want {
			t.Errorf("Text(%s) = %s, want %s", in, got, want)
		}
	}
}

// decimalText draws a decimal text with at most the given places.
func decimalText(digits, places int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		s := rapid.StringMatching(`(0|[1-9][0-9]{0,`+itoa(digits-1)+`})`).Draw(t, "integer")
		return s + "." + rapid.StringMatching(`[0-9]{1,`+itoa(places)+`}`).Draw(t, "places")
	})
}

func itoa(n int) string { return big.NewInt(int64(n)).String() }

func rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

// TestNotionalsAndTheirSumsAreExact holds products of 9 and 10 places and sums
// of hundreds of them, far beyond 128 bits, against math/big.
func TestNotionalsAndTheirSumsAreExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		var sum Decimal
		exact := new(big.Rat)
		for range n {
			px, sz := decimalText(14, 9).Draw(t, "px"), decimalText(18, 10).Draw(t, "sz")
			product := Notional(mustDecimal(px), mustDecimal(sz))
			want := new(big.Rat).Mul(rat(px), rat(sz))
			if rat(Text(product)).Cmp(want) != 0 {
				t.Fatalf("%s x %s = %s, want %s", px, sz, Text(product), want)
			}
			sum = sum.Add(product)
			exact.Add(exact, want)
		}
		if rat(Text(sum)).Cmp(exact) != 0 {
			t.Fatalf("sum %s, want %s", Text(sum), exact.FloatString(19))
		}
	})
}

func TestTextAndParseDecimalAreInverse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom([]string{"", "-"}).Draw(t, "sign") + decimalText(20, 19).Draw(t, "s")
		d := must.Get(ParseDecimal(s))(t)
		if rat(Text(d)).Cmp(rat(s)) != 0 {
			t.Fatalf("%s became %s", s, Text(d))
		}
	})
}

// The fast ways of few digits are those of the library.
func TestDecimalsOfFewDigitsAreThoseOfMany(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.StringMatching(`[0-9]{1,12}(\.[0-9]{1,10})?`), rapid.StringMatching(`[0-9.]{0,21}`), rapid.StringMatching(`-?0{0,3}[0-9]{0,19}\.?0{0,3}[0-9]{0,19}`))
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		x, errX := ParseDecimal(a)
		y, errY := ParseDecimal(b)
		_, plain := decimalPlaces(a)
		if plain != (errX == nil) {
			t.Fatalf("%q is read: %v", a, errX)
		}
		if errX != nil || errY != nil {
			return
		}
		if want := udecimal.MustParse(a); want.String() != x.String() || !want.Equal(x) {
			t.Fatalf("%q is read as %s, want %s", a, x, want)
		}
		if got := string(AppendDecimal([]byte("x"), x)); got != "x"+x.String() {
			t.Fatalf("%s is appended as %s", x, got)
		}
		if !x.IsNeg() && !y.IsNeg() && ComparePositive(&x, &y) != x.Cmp(y) {
			t.Fatalf("%s and %s compare as %d", x, y, ComparePositive(&x, &y))
		}
	})
}
