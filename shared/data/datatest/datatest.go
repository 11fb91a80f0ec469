// Package datatest fills the stores of a test with rows as the ingester writes them. Views
// and logs are filled by [storetest.Publish] and [storetest.PutLog].
package datatest

import (
	"testing"
	"time"

	"quotary/shared/data/accountstats"
	"quotary/shared/data/bookdepth"
	"quotary/shared/data/followrequests"
	"quotary/shared/data/funding"
	"quotary/shared/data/klines"
	"quotary/shared/data/openinterest"
	"quotary/shared/data/orders"
	"quotary/shared/data/pairbooks"
	"quotary/shared/data/pairklines"
	"quotary/shared/data/topfills"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/testenv"
)

// PutOrders writes statuses to their datasets.
func PutOrders(t storetest.T, log *store.Log, list ...market.OrderStatus) {
	t.Helper()
	for _, name := range [...]string{orders.OtherName, orders.FilledName} {
		storetest.PutLog(t, log, name, func(rows []store.Row, list []market.OrderStatus) []store.Row {
			return orders.AppendRows(rows, list, name)
		}, list...)
	}
}

// PutAccountStats writes the rows of accounts, by address.
func PutAccountStats(t storetest.T, s *store.Series, of map[string]*market.TraderStats) {
	t.Helper()
	rows := make([]store.SeriesRow, 0, len(of))
	for address, stats := range of {
		rows = append(rows, accountstats.Row(address, stats))
	}
	storetest.PutSeries(t, s, rows...)
}

// PutFunding writes hours of any coins.
func PutFunding(t storetest.T, s *store.Series, hours ...funding.Hour) {
	t.Helper()
	storetest.PutSeries(t, s, rowsOf(hours, funding.Row)...)
}

// PutPairKlines writes candles of a pair in an interval.
func PutPairKlines(t storetest.T, s *store.Series, pair string, i market.Interval, candles ...market.Candle) {
	t.Helper()
	storetest.PutSeries(t, s, rowsOf(candles, func(c *market.Candle) store.SeriesRow { return pairklines.Row(pair, i, c) })...)
}

// PutPairDepth writes samples of the books of any pairs.
func PutPairDepth(t storetest.T, s *store.Series, books ...market.PairBook) {
	t.Helper()
	storetest.PutSeries(t, s, rowsOf(books, func(b *market.PairBook) store.SeriesRow {
		row, _ := pairbooks.SampleRow(b)
		return row
	})...)
}

// Want has a distributor ask for things until they are stored, as a request on a busy machine
// runs out of patience, after which a store rests for a second: move lets time go on.
func Want(t testing.TB, s *followrequests.Store, distributor string, things []string, now func() time.Time, move func(time.Duration)) {
	t.Helper()
	testenv.Until(t, "things are wanted", func() bool {
		refused, err := s.Want(t.Context(), distributor, things, now())
		if err != nil {
			move(2 * time.Second)
		}
		return err == nil && len(refused) == 0
	})
}

func rowsOf[T any](values []T, row func(*T) store.SeriesRow) []store.SeriesRow {
	rows := make([]store.SeriesRow, len(values))
	for i := range values {
		rows[i] = row(&values[i])
	}
	return rows
}

// PutKlines writes the rows that the trades of a coin add up to, in all intervals.
func PutKlines(t storetest.T, s *store.Series, coin string, trades ...market.Trade) {
	t.Helper()
	var rows []store.SeriesRow
	for _, tier := range market.KlineTiers {
		candles, sets := map[int64]*market.Candle{}, map[int64]*market.TradeSet{}
		for i := range trades {
			open := tier.StartMs(trades[i].Time)
			if candles[open] == nil {
				candles[open], sets[open] = &market.Candle{OpenTime: open}, new(market.TradeSet)
			}
			if sets[open].Add(&trades[i]) {
				candles[open].Add(&trades[i])
			}
		}
		for open, candle := range candles {
			trades := sets[open]
			if tier != market.KlineTiers[0] {
				trades = nil
			}
			rows = append(rows, klines.Row(coin, tier, candle, trades))
		}
	}
	storetest.PutSeries(t, s, rows...)
}

// PutTopFills writes the rows that the fills of a coin give: of every second, and of those
// wider buckets that closed reports.
func PutTopFills(t storetest.T, s *store.Series, coin string, fills []market.Fill, closed func(tier market.Interval, start int64) bool) {
	t.Helper()
	var rows []store.SeriesRow
	for _, tier := range market.TopTiers {
		tops := map[int64]*market.Top{}
		for i := range fills {
			start := tier.StartMs(fills[i].Time)
			if tops[start] == nil {
				tops[start] = new(market.Top)
			}
			tops[start].Add(fills[i].Rank(), topfills.Limit(tier))
		}
		for start, top := range tops {
			if tier == market.TopTiers[0] || closed(tier, start) {
				rows = append(rows, topfills.Row(coin, tier, start, *top))
			}
		}
	}
	storetest.PutSeries(t, s, rows...)
}

// PutOpenInterest writes the samples of one coin, oldest first.
func PutOpenInterest(t storetest.T, s *store.Series, samples ...openinterest.Sample) {
	t.Helper()
	putSamples(t, s, samples, openinterest.Row, func(s *openinterest.Sample) int64 { return s.Time })
}

// PutBookDepth writes the samples of one coin, oldest first.
func PutBookDepth(t storetest.T, s *store.Series, samples ...bookdepth.Sample) {
	t.Helper()
	putSamples(t, s, samples, bookdepth.Row, func(s *bookdepth.Sample) int64 { return 1000 * s.Time })
}

// putSamples writes samples in every tier: of each bucket the first. at is when a sample
// was taken, ms.
func putSamples[T any](t storetest.T, s *store.Series, samples []T, row func(market.Interval, int64, *T) store.SeriesRow, at func(*T) int64) {
	t.Helper()
	var rows []store.SeriesRow
	for _, tier := range market.SampleTiers {
		newest := int64(-1)
		for i := range samples {
			if start := tier.StartMs(at(&samples[i])); start > newest {
				newest = start
				rows = append(rows, row(tier, start, &samples[i]))
			}
		}
	}
	storetest.PutSeries(t, s, rows...)
}
