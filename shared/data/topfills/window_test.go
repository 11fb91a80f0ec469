package topfills

import (
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
)

// The model ranks the fills themselves. Whatever the window, and whichever of
// the closed buckets the ingester has not got to, the answer is the same.
func TestTheLargestFillsOfAnyWindow(t *testing.T) {
	t.Parallel()
	db := storetest.DynamoDB(t)
	series := store.NewSeries(db, storetest.Tables(t, db)+schema.SeriesTable)
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
		if err := Put(t.Context(), series, coin, list, closed); err != nil {
			rt.Fatal(err)
		}
		from, to, limit := now.Add(-width).UnixMilli(), now.UnixMilli(), rapid.SampledFrom([]int{1, 3, 10, 100}).Draw(rt, "limit")
		var want market.Top
		for i := range list {
			if list[i].Time >= from && list[i].Time <= to {
				want.Add(list[i].Rank(), limit)
			}
		}
		got, err := Window(t.Context(), series, coin, from, to, limit)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := gocmp.Diff(string(Append(nil, want)), string(Append(nil, got))); diff != "" {
			rt.Fatalf("%v (-want +got):\n%s", width, diff)
		}
	})
}

func TestFewJoinsTheNearestAndLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var spans []span
		covered := map[int64]bool{}
		for range rapid.IntRange(0, 30).Draw(rt, "n") {
			from := rapid.Int64Range(0, 200).Draw(rt, "from")
			s := span{from, from + rapid.Int64Range(0, 5).Draw(rt, "width")}
			spans = append(spans, s)
			for ms := s.from; ms < s.to; ms++ {
				covered[ms] = true
			}
		}
		joined := merged(slices.Clone(spans))
		if len(joined) > maxSpans {
			rt.Fatalf("%d spans", len(joined))
		}
		total := 0
		for i, s := range joined {
			if s.from >= s.to || i > 0 && s.from <= joined[i-1].to {
				rt.Fatalf("%v is not in order", joined)
			}
			for ms := s.from; ms < s.to; ms++ {
				if covered[ms] {
					total++
				}
			}
		}
		if total != len(covered) {
			rt.Fatalf("%v covers %d of %d", joined, total, len(covered))
		}
	})
	far := merged([]span{{0, 1}, {100, 101}, {103, 104}, {200, 201}, {300, 301}, {400, 401}, {500, 501}, {600, 601}, {700, 701}})
	if len(far) != maxSpans || far[1] != (span{100, 104}) {
		t.Errorf("%v, want the two nearest joined", far)
	}
}

func TestAnUnreadableRowIsAnError(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`x`, `{}`, `[1]`, `[`, `[{"side":"B"}]`, `[{"val":"x"}]`, `[{"val":"1","endPosition":""}]`, `[{"val":"1","endPosition":"1","side":"C"}]`} {
		if top, err := Decode([]byte(body)); err == nil {
			t.Errorf("%s gives %+v", body, top)
		}
	}
}
