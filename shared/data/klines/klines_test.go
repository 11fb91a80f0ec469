package klines_test

import (
	"fmt"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/data/datatest"
	"quotary/shared/data/klines"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

var all = []market.Interval{
	market.Second1, market.Second3, market.Second5, market.Second10, market.Second15, market.Second30,
	market.Minute1, market.Minute3, market.Minute5, market.Minute10, market.Minute15, market.Minute30,
	market.Hour1, market.Hour2, market.Hour4, market.Hour8, market.Hour12,
	market.Day1, market.Day3, market.Week1, market.Month1,
}

// The model folds the trades themselves: however a kline is stored and
// composed, it is the fold of the trades in its bucket.
func TestAKlineOfAnyIntervalIsTheFoldOfItsTrades(t *testing.T) {
	t.Parallel()
	series := storetest.Open(t).Series
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		coin := fmt.Sprint("coin", n)
		interval := rapid.SampledFrom(all).Draw(rt, "interval")
		trades := drawTrades(rt, interval)
		datatest.PutKlines(t, series, coin, trades...)
		limit := rapid.IntRange(1, 5).Draw(rt, "limit")
		from, to := edge(rt, interval, "from"), edge(rt, interval, "to")
		var want []string
		for _, c := range fold(interval, trades) {
			open := time.UnixMilli(c.OpenTime)
			if (from.IsZero() || !open.Before(from)) && (to.IsZero() || !open.After(to)) {
				want = append(want, string(klines.Append(nil, &c)))
			}
		}
		want = want[max(0, len(want)-limit):]
		candles := must.Get(klines.Newest(t.Context(), series, coin, interval, from, to, limit))(rt)
		var got []string
		for _, c := range candles {
			got = append(got, string(klines.Append(nil, &c)))
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			rt.Fatalf("%s from %v to %v, limit %d (-want +got):\n%s", interval, from, to, limit, diff)
		}
	})
}

// base is a Friday in the middle of a month.
var base = time.Date(2026, 3, 13, 0, 0, 0, 0, time.UTC)

// span is about seven buckets of the interval.
func span(i market.Interval) int64 { return 7 * (i.NextMs(0) - i.StartMs(0)) }

func drawTrades(rt *rapid.T, i market.Interval) []market.Trade {
	var trades []market.Trade
	ms := rapid.SliceOfN(rapid.Int64Range(0, span(i)), 0, 60).Draw(rt, "ms")
	for n, offset := range ms {
		trades = append(trades, market.Trade{
			Side: rapid.SampledFrom([]market.Side{market.Buy, market.Sell}).Draw(rt, "side"),
			Px:   decimal(rt, "px"),
			Sz:   decimal(rt, "sz"),
			Time: base.UnixMilli() + offset,
			Tid:  int64(n + 1),
		})
	}
	return trades
}

func decimal(rt *rapid.T, label string) market.Decimal {
	return must.Get(market.ParseDecimal(fmt.Sprintf("%d.%02d", rapid.IntRange(1, 9).Draw(rt, label), rapid.IntRange(0, 99).Draw(rt, label))))(rt)
}

func fold(i market.Interval, trades []market.Trade) []market.Candle {
	byOpen := map[int64]*market.Candle{}
	for n := range trades {
		open := i.StartMs(trades[n].Time)
		if byOpen[open] == nil {
			byOpen[open] = &market.Candle{OpenTime: open}
		}
		byOpen[open].Add(&trades[n])
	}
	var candles []market.Candle
	for open := i.StartMs(base.UnixMilli()); len(candles) < len(byOpen); open = i.NextMs(open) {
		if c := byOpen[open]; c != nil {
			candles = append(candles, *c)
		}
	}
	return candles
}

func edge(rt *rapid.T, i market.Interval, label string) time.Time {
	switch rapid.IntRange(0, 2).Draw(rt, label) {
	case 0:
		return time.Time{}
	case 1:
		return i.Start(base.Add(time.Duration(rapid.Int64Range(0, span(i)).Draw(rt, label)) * time.Millisecond))
	}
	return base.Add(time.Duration(rapid.Int64Range(0, span(i)).Draw(rt, label)) * time.Millisecond)
}

func TestAnUnreadableRowIsAnError(t *testing.T) {
	t.Parallel()
	series := storetest.Open(t).Series
	row := klines.Row("BTC", market.Minute1, &market.Candle{OpenTime: base.UnixMilli()}, nil)
	row.Body = []byte(`{"size":"many"}`)
	must.Do(t, series.Put(t.Context(), []store.SeriesRow{row}))
	if _, err := klines.Newest(t.Context(), series, "BTC", market.Minute3, time.Time{}, time.Time{}, 10); err == nil {
		t.Error("no error")
	}
}
