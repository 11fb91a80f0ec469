package traderwindows_test

import (
	"testing"

	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/traderquery"
)

// BenchmarkWindow asks about 30 days, on each of which 100,000 traders did something: about a window that was
// asked about before (hot), and about the one an hour before, of which all files but one are kept (new).
func BenchmarkWindow(b *testing.B) {
	w := newYear(b, 100_000, 0).open(2 << 30)
	above := func(fields ...string) (list []catalog.DiscoverFilter) {
		for _, f := range fields {
			list = append(list, catalog.DiscoverFilter{Field: f, Op: ">", Val: &catalog.Decimal{Decimal: market.DecimalFromInt(1)}})
		}
		return list
	}
	for _, one := range []struct {
		name string
		in   catalog.DiscoverHistoryIn
	}{
		{"default", catalog.DiscoverHistoryIn{}},
		{"count", catalog.DiscoverHistoryIn{CountOnly: true}},
		{"3 filters", catalog.DiscoverHistoryIn{Filters: above("trFilledVal", "trFills", "tpFilledVal"), Sort: &catalog.DiscoverSort{Field: "trFilledVal"}}},
		{"of coins", catalog.DiscoverHistoryIn{AnyCoins: []catalog.Coin{"BTC"}}},
	} {
		one.in.PageNum, one.in.PageSize, one.in.Period = 1, 25, 30
		q, of, err := traderquery.History(&one.in, now)
		must.Do(b, err)
		must.Get(w.Ask(b.Context(), of, &q.Query, q.Show))(b)
		for name, later := range map[string]int64{"hot": 0, "new": hourMs} {
			b.Run(one.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					of.From, of.To = of.From-later, of.To-later
					must.Get(w.Ask(b.Context(), of, &q.Query, q.Show))(b)
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms")
			})
		}
	}
}
