package market

import (
	"testing"

	"pgregory.net/rapid"
)

// A part of an amount is the same whether its numbers fit into machine integers or not.
func TestAFractionOfAnAmountIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := func(name string, most int64, places uint8) Decimal {
			return decimalOf(rapid.Int64Range(0, most).Draw(t, name)).MustDiv(decimalOf([]int64{1, 10, 100, 1000, 10_000, 100_000}[places]))
		}
		all := number("all", 1<<62, uint8(rapid.IntRange(0, 5).Draw(t, "places of all"))).Add(decimalOf(1))
		of := number("of", 1<<62, uint8(rapid.IntRange(0, 5).Draw(t, "places of of")))
		amount := number("amount", 1<<40, uint8(rapid.IntRange(0, 2).Draw(t, "places")))
		if rapid.Bool().Draw(t, "large") {
			all, amount = all.Mul(decimalOf(1<<62)), amount.Mul(decimalOf(1<<50))
		}
		if of.Cmp(all) > 0 {
			of = all
		}
		f := newFraction(of, all)
		if got, want := f.ofCents(amount), amount.Mul(of).MustDiv(all).RoundHAZ(2); !got.Equal(want) {
			t.Fatalf("%s of %s is %s, not %s", f.of.String()+"/"+f.all.String(), amount, got, want)
		}
	})
}
