package main

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/api/apitest"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
)

// rankings are the rows of top fills that the ingester keeps: of every second,
// and of the wider buckets that closed says so of.
func rankings(coin string, list []market.Fill, closed func(tier market.Interval, start int64) bool) []store.SeriesRow {
	var rows []store.SeriesRow
	for _, tier := range market.TopTiers {
		limit := market.TopOfBucket
		if tier == market.TopTiers[0] {
			limit = market.TopOfSecond
		}
		tops := map[int64]*market.Top{}
		for i := range list {
			start := tier.StartMs(list[i].Time)
			if tops[start] == nil {
				tops[start] = new(market.Top)
			}
			tops[start].Add(list[i].Rank(), limit)
		}
		for start, top := range tops {
			if tier != market.TopTiers[0] && !closed(tier, start) {
				continue
			}
			rows = append(rows, store.SeriesRow{
				SeriesKey: store.SeriesKey{Name: store.TopFillSeries, Key: coin, Interval: tier.String()},
				Point:     store.Point{Time: time.UnixMilli(start), Body: top.AppendJSON(nil)},
			})
		}
	}
	return rows
}

// The model ranks the fills themselves. Whatever the window, and whichever of
// the closed buckets the ingester has not got to, the answer is the same.
func TestTheLargestFillsOfAnyWindow(t *testing.T) {
	t.Parallel()
	db := storetest.DynamoDB(t)
	series := store.NewSeries(db, storetest.Tables(t, db)+schema.SeriesTable)
	now := apitest.Start.Add(37*time.Minute + 22*time.Second + 345*time.Millisecond)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		coin := fmt.Sprint("coin", n)
		width := rapid.SampledFrom([]time.Duration{time.Second, 7 * time.Second, time.Minute, 90 * time.Second, time.Hour,
			5 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}).Draw(rt, "width")
		var list []market.Fill
		for i, ago := range rapid.SliceOfN(rapid.Int64Range(-2000, 2*width.Milliseconds()), 0, 80).Draw(rt, "ms ago") {
			f := one(int64(i))
			f.Coin, f.Time, f.Sz = coin, now.UnixMilli()-ago, fmt.Sprint(rapid.IntRange(1, 9).Draw(rt, "sz"))
			list = append(list, f)
		}
		behind := rapid.IntRange(0, 3).Draw(rt, "one of so many buckets is not closed yet")
		rows := rankings(coin, list, func(tier market.Interval, start int64) bool {
			return tier.NextMs(start) <= now.UnixMilli() && (behind == 0 || rapid.IntRange(0, behind).Draw(rt, "closed") > 0)
		})
		if err := series.Put(t.Context(), rows); err != nil {
			rt.Fatal(err)
		}
		w := &window{series: series, coin: coin, from: now.Add(-width).UnixMilli(), to: now.UnixMilli(),
			limit: rapid.SampledFrom([]int{1, 3, 10, 100}).Draw(rt, "limit")}
		var want market.Top
		for i := range list {
			if list[i].Time >= w.from && list[i].Time <= w.to {
				want.Add(list[i].Rank(), w.limit)
			}
		}
		if err := w.read(t.Context()); err != nil {
			rt.Fatal(err)
		}
		if diff := gocmp.Diff(string(want.AppendJSON(nil)), string(w.top.AppendJSON(nil))); diff != "" {
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
		joined := few(slices.Clone(spans))
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
	far := few([]span{{0, 1}, {100, 101}, {103, 104}, {200, 201}, {300, 301}, {400, 401}, {500, 501}, {600, 601}, {700, 701}})
	if len(far) != maxSpans || far[1] != (span{100, 104}) {
		t.Errorf("%v, want the two nearest joined", far)
	}
}

func TestTopTrades(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var list []market.Fill
	for n := range int64(30) {
		f := one(n)
		f.Coin, f.Time, f.Px, f.Sz = "xyz:GOLD", apitest.Start.Add(-time.Duration(n)*time.Minute).UnixMilli(), "4001.5", fmt.Sprintf("%d.5", n)
		if n%2 == 1 {
			f.Side, f.Crossed, f.Address = market.Sell, false, bob
		}
		list = append(list, f)
	}
	closed := func(tier market.Interval, start int64) bool { return tier.NextMs(start) <= apitest.Start.UnixMilli() }
	if err := w.fills.series.Put(t.Context(), rankings("xyz:GOLD", list, closed)); err != nil {
		t.Fatal(err)
	}
	w.golden(t, "top-trades", "/top-trades?interval=20m&coin=xyz:GOLD&limit=3")
	for target, want := range map[string]int{
		"?interval=7d&coin=xyz:GOLD":           10,
		"?interval=1w&coin=xyz:GOLD&limit=100": 30,
		"?interval=1s&coin=xyz:GOLD":           1,
		"?interval=5m&coin=xyz:GOLD":           6, // both ends count
		"?interval=299s&coin=xyz:GOLD":         5,
		"?interval=7d&coin=GOLD":               0,
	} {
		rows := apitest.Data[[]struct{ Val string }](t, w.Get(t, w.SubKey, root+"/top-trades"+target))
		if len(rows) != want {
			t.Errorf("%s: %d fills, want %d", target, len(rows), want)
		}
	}
	if answer := w.Get(t, w.SubKey, root+"/top-trades?interval=7d&coin=GOLD"); string(answer.Body) != `{"code":"0","msg":"success","data":[]}` {
		t.Errorf("a coin without trades answers %s", answer.Body)
	}
}

func TestAnUnreadableRankingIsAnInternalError(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`x`, `[1]`, `[{"val":"x"}]`, `[{"val":"1","endPosition":""}]`, `[{"val":"1","endPosition":"1","side":"C"}]`} {
		w := newWorld(t)
		err := w.fills.series.Put(t.Context(), []store.SeriesRow{{
			SeriesKey: store.SeriesKey{Name: store.TopFillSeries, Key: "BTC", Interval: "1s"},
			Point:     store.Point{Time: apitest.Start, Body: []byte(body)},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if answer := w.Get(t, w.SubKey, root+"/top-trades?interval=1h&coin=BTC"); answer.Status != http.StatusInternalServerError {
			t.Errorf("%s: status %d", body, answer.Status)
		}
	}
}

// A stored ranking keeps a hundred fills: those of a bucket that reaches out of
// the window would push out the ones within.
func TestLargeFillsBeforeTheWindowDoNotHideThoseInIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var list []market.Fill
	for n := range int64(150) {
		f := one(n)
		f.Time, f.Sz = apitest.Start.Add(-20*time.Minute+time.Duration(n)*time.Millisecond).UnixMilli(), "100"
		list = append(list, f)
	}
	small := one(500)
	small.Time, small.Sz = apitest.Start.Add(-19*time.Minute-30*time.Second).UnixMilli(), "1"
	list = append(list, small)
	everyOne := func(market.Interval, int64) bool { return true }
	if err := w.fills.series.Put(t.Context(), rankings("BTC", list, everyOne)); err != nil {
		t.Fatal(err)
	}
	rows := apitest.Data[[]struct{ Oid int64 }](t, w.Get(t, w.SubKey, root+"/top-trades?interval=1190s&coin=BTC"))
	if len(rows) != 1 || rows[0].Oid != small.Oid {
		t.Errorf("fills are %v, want order %d only", rows, small.Oid)
	}
}
