package market_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/testing/must"
)

func rate(t must.T, usd, cny string) market.YuanRate {
	u := must.Get(market.ParseDecimal(usd))(t)
	c := must.Get(market.ParseDecimal(cny))(t)
	return market.YuanRate{USD: u, CNY: c}
}

func TestAmountsInYuan(t *testing.T) {
	t.Parallel()
	r := rate(t, "1.1", "7.7") // seven yuan a dollar
	for amount, want := range map[string]string{
		"70187":         "491309",
		"0.5":           "3.5",
		"0.00001234":    "0.00008638",
		"1381651251183": "9671558758281",
		"-2":            "-14",
		"0":             "0",
		"-0.0001":       "-0.0007",
		"":              "",
		"1e5":           "",
	} {
		if got := r.Yuan(amount); got != want {
			t.Errorf("%q dollars are %q yuan, want %q", amount, got, want)
		}
	}
	if got := rate(t, "3", "2").Yuan("0.25"); got != "0.17" { // 0.1666...
		t.Errorf("got %s", got)
	}
	if got := rate(t, "2", "1").Yuan("0.01"); got != "0.01" { // half away from zero
		t.Errorf("got %s", got)
	}
}

func TestChangesInYuan(t *testing.T) {
	t.Parallel()
	seven, eight := rate(t, "1.1", "7.7"), rate(t, "1.25", "10")
	for _, c := range []struct {
		degree    string
		then, now market.YuanRate
		want      string
	}{
		{"3.12502", seven, seven, "3.12502"},
		{"0", seven, eight, "14.29"}, // 100/7
		{"-12.5", seven, eight, "0"},
		{"-12.50001", seven, eight, "-0.00001"},
		{"", seven, eight, ""},
	} {
		if got := market.YuanDegree(c.degree, c.then, c.now); got != c.want {
			t.Errorf("%q%% from %v to %v is %q, want %q", c.degree, c.then, c.now, got, c.want)
		}
	}
}

// A price in yuan now, by the price then and the change in yuan, is the price in
// dollars now by its own change: whatever the figures, to the last place of the
// change.
func TestChangesInYuanAreThoseOfThePricesInYuan(t *testing.T) {
	t.Parallel()
	positive := func(t *rapid.T, name string) string {
		return markettest.Decimal(3, 4).Filter(func(s string) bool { return market.Quotient("1", s, 1) != "" }).Draw(t, name)
	}
	rapid.Check(t, func(t *rapid.T) {
		then, now := rate(t, positive(t, "usd then"), positive(t, "cny then")), rate(t, positive(t, "usd now"), positive(t, "cny now"))
		before, degree := positive(t, "price then"), markettest.Signed(2, 6).Draw(t, "degree")
		got, ok := new(big.Rat).SetString(market.YuanDegree(degree, then, now))
		if !ok {
			t.Fatal("no number")
		}
		number := func(s string) *big.Rat { r, _ := new(big.Rat).SetString(s); return r }
		yuan := func(usd *big.Rat, r market.YuanRate) *big.Rat {
			return new(big.Rat).Quo(new(big.Rat).Mul(usd, number(r.CNY.String())), number(r.USD.String()))
		}
		after := new(big.Rat).Add(big.NewRat(1, 1), new(big.Rat).Quo(number(degree), big.NewRat(100, 1)))
		after.Mul(after, number(before))
		want := new(big.Rat).Quo(yuan(after, now), yuan(number(before), then))
		want.Sub(want, big.NewRat(1, 1)).Mul(want, big.NewRat(100, 1))
		if off := new(big.Rat).Sub(got, want); off.Abs(off).Cmp(big.NewRat(1, 200)) > 0 {
			t.Fatalf("got %s, want %s", got.FloatString(8), want.FloatString(8))
		}
	})
}

func TestNumbersAreRounded(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]string{
		"1.2345678901234567e-05": "0.00001235", "-3.289104870235426": "-3.28910487", "5": "5", "1.10": "1.1", "1e-40": "0", "1e99999": "", "0e9999": "", "0e49": "", "1e-999": "", // which would be thousands of digits "x": "", "1/3": "", "0x10": "", "": "",
	} {
		got, err := market.RoundedNumber(number, 8)
		if (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("%q is %q (%v), want %q", number, got, err, want)
		}
	}
}

func TestNumbersAreWrittenOut(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]string{
		"70187": "70187", "-39.97974476781383": "-39.97974476781383", "1.2345e-05": "0.000012345", "5E-8": "0.00000005",
		"1.5e+3": "1500", "2e0": "2", "-1e-2": "-0.01", "0": "0", "1e-19": "0.0000000000000000001",
		"1e-20": "", "1e999": "", "1e99999999999": "", "x": "", "": "", "1e": "", "0x10": "", "1_0e1": "", "1e-400": "", "0e9999": "", "0e49": "", "0e-999": "",
	} {
		got, err := market.PlainNumber(number)
		if (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("%q is %q (%v), want %q", number, got, err, want)
		}
	}
}
