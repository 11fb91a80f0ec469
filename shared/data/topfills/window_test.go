package topfills_test

import (
	"fmt"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/data/datatest"
	"quotary/shared/data/topfills"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// The model ranks the fills themselves. Whatever the window, and whichever of
// the closed buckets the ingester has not got to, the answer is the same.
func TestTheLargestFillsOfAnyWindow(t *testing.T) {
	t.Parallel()
	series := storetest.Open(t).Series
	now := time.Date(2026, 11, 21, 10, 37, 22, 345_000_000, time.UTC)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		coin := fmt.Sprint("coin", n)
		width := rapid.SampledFrom([]time.Duration{time.Second, 7 * time.Second, time.Minute, 90 * time.Second, time.Hour,
			5 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}).Draw(rt, "width")
		var list []market.Fill
		for i, ago := range rapid.SliceOfN(rapid.Int64Range(-2000, 2*width.Milliseconds()), 0, 80).Draw(rt, "ms ago") {
			f := market.Fill{Address: "0xa11ce00000000000000000000000000000000001", Side: market.Buy, Px: "30135.0", StartPosition: "-0.25", Oid: 9_000 + int64(i), Tid: 100 + int64(i)}
			f.Coin, f.Time, f.Sz = coin, now.UnixMilli()-ago, fmt.Sprint(rapid.IntRange(1, 9).Draw(rt, "sz"))
			list = append(list, f)
		}
		behind := rapid.IntRange(0, 3).Draw(rt, "one of so many buckets is not closed yet")
		closed := func(tier market.Interval, start int64) bool {
			return tier.NextMs(start) <= now.UnixMilli() && (behind == 0 || rapid.IntRange(0, behind).Draw(rt, "closed") > 0)
		}
		datatest.PutTopFills(t, series, coin, list, closed)
		from, to, limit := now.Add(-width).UnixMilli(), now.UnixMilli(), rapid.SampledFrom([]int{1, 3, 10, 100}).Draw(rt, "limit")
		var want market.Top
		for i := range list {
			if list[i].Time >= from && list[i].Time <= to {
				want.Add(list[i].Rank(), limit)
			}
		}
		got := must.Get(topfills.Window(t.Context(), series, coin, from, to, limit))(rt)
		if diff := gocmp.Diff(string(topfills.Append(nil, want)), string(topfills.Append(nil, got))); diff != "" {
			rt.Fatalf("%v (-want +got):\n%s", width, diff)
		}
	})
}
