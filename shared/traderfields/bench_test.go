package traderfields_test

import (
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/traderfields"
)

// busy is a trader with some events in most hours of 30 days.
func busy() market.FactsByHour {
	h := market.FactsByHour{}
	for seed := range 60 {
		d := markettest.DidAtMost(60, rapid.Int64Range(now-30*day, now-1)).Example(seed)
		h.Merge(d.Facts())
	}
	return h
}

// BenchmarkTrader sums up the periods of a busy trader, and makes all figures of one.
func BenchmarkTrader(b *testing.B) {
	h := busy()
	trader := traderOf(h)
	account := account().Example(1)
	trader.Holds = new(account.Summary(markets, allMarks, now))
	withCurve(trader, curves().Example(1), new(market.VenueCurve))
	columns := traderfields.Columns()
	b.Run("periods", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			traderOf(h)
		}
		b.ReportMetric(float64(len(h)), "hours")
	})
	b.Run("figures", func(b *testing.B) {
		b.ReportAllocs()
		known := 0
		for b.Loop() {
			known = 0
			for _, c := range columns {
				if _, ok := c.Field.Figure(trader, c.Period); ok {
					known++
				}
			}
		}
		b.ReportMetric(float64(len(columns)), "columns")
		b.ReportMetric(float64(known), "known")
	})
}
