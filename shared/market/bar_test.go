package market_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/testing/must"
)

// fraction is a decimal as it is.
func fraction(t rapid.TB, d market.Decimal) *big.Rat {
	r, ok := new(big.Rat).SetString(d.String())
	if !ok {
		t.Fatalf("%s is no fraction", d)
	}
	return r
}

// within reports whether a decimal is a fraction rounded to so many places, half away from
// zero: no farther from it than half a unit of the last place.
func within(t rapid.TB, d market.Decimal, exact *big.Rat, places int64) bool {
	distance := new(big.Rat).Sub(fraction(t, d), exact)
	half := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Mul(big.NewInt(2), new(big.Int).Exp(big.NewInt(10), big.NewInt(places), nil)))
	return distance.Abs(distance).Cmp(half) <= 0
}

// Rates are weighed as fractions of whole numbers would be, in any order.
func TestAWeightedRateIsTheExactMeanRounded(t *testing.T) {
	t.Parallel()
	const eightHours = 8 * 3_600_000
	rapid.Check(t, func(t *rapid.T) {
		var rates []market.WeightedRate
		total, weights := new(big.Rat), new(big.Rat)
		for range rapid.IntRange(0, 12).Draw(t, "venues") {
			rate := must.Get(market.ParseDecimal(markettest.Signed(1, 8).Draw(t, "rate")))(t)
			weight := markettest.Parsed(9, 2).Draw(t, "weight")
			r := market.WeightedRate{Rate: rate, Weight: weight, Period: rapid.SampledFrom([]int64{0, 3_600_000, 2 * 3_600_000, 4 * 3_600_000, eightHours}).Draw(t, "period")}
			rates = append(rates, r)
			one := fraction(t, rate)
			if r.Period > 0 {
				one.Mul(one, big.NewRat(eightHours, r.Period))
			}
			total.Add(total, one.Mul(one, fraction(t, weight)))
			weights.Add(weights, fraction(t, weight))
		}
		got, ok := market.WeighRates(rates)
		if ok != (weights.Sign() > 0) {
			t.Fatalf("of weights of %s there is a rate: %t", weights.FloatString(4), ok)
		}
		if ok && !within(t, got, total.Quo(total, weights), 12) {
			t.Fatalf("it is %s, want %s", got, total.FloatString(16))
		}
		for i, j := range rapid.Permutation(rates).Draw(t, "order") {
			rates[i] = j
		}
		if again, _ := market.WeighRates(rates); !again.Equal(got) {
			t.Fatalf("in another order it is %s, not %s", again, got)
		}
	})
}

func TestALongShortRatioIsTheExactOneRounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var shares []market.Decimal
		longs, shorts := new(big.Rat), new(big.Rat)
		for range rapid.IntRange(0, 6).Draw(t, "venues") {
			share := market.DecimalFromInt(rapid.Int64Range(0, 10_000).Draw(t, "share")).MustDiv(market.DecimalFromInt(10_000))
			shares = append(shares, share)
			longs.Add(longs, fraction(t, share))
			shorts.Add(shorts, new(big.Rat).Sub(big.NewRat(1, 1), fraction(t, share)))
		}
		got, ok := market.LongShortRatio(shares)
		if shorts.Sign() == 0 {
			if ok {
				t.Fatalf("where nobody is short it is %s", got)
			}
			return
		}
		if !ok || !within(t, got, longs.Quo(longs, shorts), 4) {
			t.Fatalf("it is %s, want %s", got, longs.FloatString(8))
		}
	})
}

// Parts merge to the sum of all orders, however they are divided.
func TestLiquidatedPartsMergeToTheSumOfAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var all, merged market.Liquidated
		for range rapid.IntRange(0, 6).Draw(t, "parts") {
			var part market.Liquidated
			for range rapid.IntRange(0, 5).Draw(t, "orders") {
				l := market.PairLiquidation{Long: rapid.Bool().Draw(t, "long"), Value: markettest.Parsed(7, 4).Draw(t, "value")}
				part.Add(&l)
				all.Add(&l)
			}
			merged.Merge(&part)
		}
		if !merged.Long.Equal(all.Long) || !merged.Short.Equal(all.Short) || merged.Count != all.Count || !merged.Largest.Equal(all.Largest) || !merged.Total().Equal(all.Long.Add(all.Short)) {
			t.Fatalf("%+v, want %+v", merged, all)
		}
	})
}
