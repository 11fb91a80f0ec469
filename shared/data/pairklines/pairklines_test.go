package pairklines_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/data/datatest"
	"quotary/shared/data/klines"
	"quotary/shared/data/pairklines"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// start is a Monday, at which a week, a day and every bucket of both openings but the
// month begin, or did eight hours before.
const start = int64(1_773_014_400_000) // 2026-03-09 00:00 UTC

var seconds = []int64{60, 180, 300, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 3 * 86400, 7 * 86400, 30 * 86400}

// The model folds candles of a minute, the way nothing is stored: each K-line is the
// fold of those in its bucket.
func TestAKlineOfAnyPeriodIsTheFoldOfItsMinutes(t *testing.T) {
	t.Parallel()
	series := storetest.Open(t).Series
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		pair := fmt.Sprintf("coin%dusdt:binance", n)
		p := must.Get(market.NewPeriod(rapid.SampledFrom(seconds).Draw(t, "period"), rapid.SampledFrom([]market.DayOpen{0, 8}).Draw(t, "open_time")))(t)
		minutes := drawMinutes(t, p)
		for _, tier := range market.PairTiers {
			datatest.PutPairKlines(t, series, pair, tier, market.Compose(slices.Clone(minutes), tier.StartMs)...)
		}
		limit := rapid.IntRange(1, 4).Draw(t, "limit")
		until := time.UnixMilli(minutes[rapid.IntRange(0, len(minutes)-1).Draw(t, "until")].OpenTime + 30_000)

		want := market.Compose(slices.Clone(minutes), p.StartMs)
		want = slices.DeleteFunc(want, func(c market.Candle) bool { return c.OpenTime > until.UnixMilli() })
		want = want[max(0, len(want)-limit):]

		got := must.Get(pairklines.Newest(t.Context(), series, pair, p, until, limit))(t)
		if diff := gocmp.Diff(texts(want), texts(got)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func texts(candles []market.Candle) []string {
	list := []string{}
	for i := range candles {
		list = append(list, string(klines.Append(nil, &candles[i])))
	}
	return list
}

// drawMinutes draws candles of some minutes of about six buckets.
func drawMinutes(t *rapid.T, p market.Period) []market.Candle {
	width := p.Next(time.UnixMilli(start)).UnixMilli() - p.StartMs(start)
	var opens []int64
	for range rapid.IntRange(1, 40).Draw(t, "minutes") {
		opens = append(opens, market.Minute1.StartMs(start+rapid.Int64Range(0, 6*width).Draw(t, "ms")))
	}
	slices.Sort(opens)
	var minutes []market.Candle
	for _, open := range slices.Compact(opens) {
		c := market.Candle{OpenTime: open}
		for i := range rapid.Int64Range(1, 3).Draw(t, "trades") {
			trade := market.Trade{Side: rapid.SampledFrom([]market.Side{market.Buy, market.Sell}).Draw(t, "side"), Time: open, Tid: i,
				Px: decimal(t, "px"), Sz: decimal(t, "sz")}
			c.Add(&trade)
		}
		c.First, c.Last = market.Order{Time: open}, market.Order{Time: open}
		minutes = append(minutes, c)
	}
	return minutes
}

func decimal(t *rapid.T, label string) market.Decimal {
	return must.Get(market.ParseDecimal(fmt.Sprintf("%d.%03d", rapid.IntRange(1, 99).Draw(t, label), rapid.IntRange(0, 999).Draw(t, label))))(t)
}

// A bucket in which rows begin is whole where the pair began to trade in it, and short
// of what was traded before where the rows are those that were filled back.
func TestTheFirstBucketIsServedWhereThePairBeganInIt(t *testing.T) {
	t.Parallel()
	series := storetest.Open(t).Series
	candle := func(open int64) market.Candle {
		return market.Candle{OpenTime: open, Trades: 1, First: market.Order{Time: open}, Last: market.Order{Time: open}}
	}
	const hour, day = int64(3_600_000), int64(86_400_000)
	p, err := market.NewPeriod(21600, market.OpenBeijing0) // buckets from 22:00 to 04:00 UTC
	if err != nil {
		t.Fatal(err)
	}
	for pair, days := range map[string][]int64{"new:binance": {start}, "old:binance": {start - day, start}} {
		for _, open := range days {
			datatest.PutPairKlines(t, series, pair, market.Day1, candle(open))
		}
		datatest.PutPairKlines(t, series, pair, market.Hour1, candle(start), candle(start+hour), candle(start+5*hour))
		want := []int64{start - 2*hour, start + 4*hour}[len(days)-1:]
		got := must.Get(pairklines.Newest(t.Context(), series, pair, p, time.UnixMilli(start+day), 10))(t)
		var opens []int64
		for i := range got {
			opens = append(opens, got[i].OpenTime)
		}
		if !slices.Equal(opens, want) {
			t.Errorf("%s: K-lines from %v, want %v", pair, opens, want)
		}
	}
}

func TestAPairWithoutKlinesHasNone(t *testing.T) {
	t.Parallel()
	series := storetest.Open(t).Series
	p := must.Get(market.NewPeriod(86400, market.OpenBeijing0))(t)
	if got, err := pairklines.Newest(t.Context(), series, "btcusdt:nowhere", p, time.UnixMilli(start), 10); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}
