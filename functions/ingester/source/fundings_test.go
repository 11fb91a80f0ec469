package source_test

import (
	"testing"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/testing/check"
)

func TestThePeriodOfAPaidRateIsTheTimeSinceTheOneBefore(t *testing.T) {
	t.Parallel()
	const hour = int64(3_600_000)
	for _, c := range []struct {
		name    string
		hours   []int64 // of payments
		late    int64   // ms, of every second one
		from    int64   // hour
		periods []int64 // hours, of the payments from then on
	}{
		{"one period", []int64{0, 8, 16}, 0, 8, []int64{8, 8}},
		{"a change to shorter ones", []int64{-8, 0, 8, 9, 10}, 0, 0, []int64{8, 8, 1, 1}},
		{"a change to longer ones", []int64{-1, 0, 4, 12}, 0, 0, []int64{1, 4, 8}},
		{"payments that are late", []int64{0, 4, 8, 12}, 11, 4, []int64{4, 4, 4}},
		{"the first of a pair", []int64{4, 8, 12}, 0, 0, []int64{4, 4, 4}},
		{"two within minutes", []int64{0, 8, 8, 16}, 600_000, 8, []int64{8, 0, 8}},
		{"the only one", []int64{4}, 0, 0, []int64{8}},
		{"a pair that did not trade for days", []int64{0, 100, 104}, 0, 8, []int64{8, 4}},
		{"none from then on", []int64{0, 4}, 0, 8, nil},
		{"none", nil, 0, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var list []market.PairFunding
			for i, h := range c.hours {
				list = append(list, market.PairFunding{Time: h*hour + int64(i%2)*c.late})
			}
			var got []int64
			for _, f := range source.PaidFundings(list, c.from*hour) {
				got = append(got, f.Period/hour)
			}
			check.Equal(t, c.periods, got)
		})
	}
}
