package market_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/market"
)

func TestTakingIsMergingInPlace(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	rapid.Check(t, func(t *rapid.T) {
		var merged, taken market.Distinct
		for range rapid.IntRange(1, 9).Draw(t, "parts") {
			one := market.Distinct{First: rapid.Int64Range(0, 3).Draw(t, "first")}
			hours := rapid.SliceOfDistinct(rapid.Int64Range(0, 9), rapid.ID).Draw(t, "hours")
			slices.Sort(hours)
			for _, hour := range hours {
				one.Continued = append(one.Continued, market.Continued{Hour: hour * 3_600_000, N: rapid.SampledFrom([]int64{-1, 1, 2}).Draw(t, "n")})
			}
			merged.Merge(&one)
			taken.Take(&one)
		}
		if len(merged.Continued)+len(taken.Continued) > 0 && !cmp.Equal(merged, taken) {
			t.Fatalf("it is %v, want %v", taken, merged)
		}
	})
	of, one := market.Distinct{Continued: []market.Continued{{Hour: 0, N: 1}}}, market.Distinct{Continued: []market.Continued{{Hour: 0, N: 1}}}
	if n := testing.AllocsPerRun(10, func() { of.Take(&one) }); n > 0 || of.Continued[0].N < 11 {
		t.Errorf("%v allocations for %v", n, of)
	}
}
