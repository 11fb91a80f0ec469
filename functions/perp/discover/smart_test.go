package main

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/accountstats"
	"quotary/shared/data/datatest"
	"quotary/shared/data/traders"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/store/storetest"
	"quotary/shared/table/tablefile"
	"quotary/shared/testing/must"
	"quotary/shared/traderfields"
	"quotary/shared/traderquery"
)

// The row of an account says of its completed trades what traders/statistics does, which sums them
// up by itself.
func TestStatisticsOfTheTableAreThoseOfTheTrades(t *testing.T) {
	t.Parallel()
	now := int64(markettest.Base + 86_400_000)
	q := must.Get(traderquery.Discover(&catalog.DiscoverIn{Period: 0, Selects: smartFields, PageNum: 1, PageSize: 1}, apitest.Start))(t)
	rapid.Check(t, func(t *rapid.T) {
		did := markettest.DidAtMost(8, rapid.Int64Range(markettest.Base, now-1)).Draw(t, "did")
		window := did.Facts().Within(0, now)
		of := traderfields.Trader{Did: map[traderfields.Period]*market.Window{traderfields.AllTime: &window}}
		row := tablefile.Row{}
		for _, place := range q.Show {
			row.Values = append(row.Values, valueOf(&of, place))
		}
		var sum market.TradeSum
		for i := range did.Trades {
			sum.Add(&did.Trades[i])
		}
		got := statistics(q.Rows([]tablefile.Row{row})[0])
		if *got.Positions != sum.Count() || *got.ProfitPositions != sum.Wins() || *got.AvgHoldingSec != averageSeconds(&sum) ||
			*got.WinRate != sum.WinRate() || *got.LongWr != sum.Long.WinRate() || *got.ShortWr != sum.Short.WinRate() {
			t.Fatalf("the table has %d, %d, %d s, %v, %v, %v, of %+v", *got.Positions, *got.ProfitPositions, *got.AvgHoldingSec, *got.WinRate, *got.LongWr, *got.ShortWr, sum)
		}
		for name, pnl := range map[*string]market.Decimal{got.RealizedPnl: sum.Pnl(), got.LongPnl: sum.Long.Pnl, got.ShortPnl: sum.Short.Pnl} {
			if *name != market.Text(pnl.RoundHAZ(6)) {
				t.Fatalf("the table has %s, want %s", *name, pnl)
			}
		}
	})
}

// valueOf is a figure of a trader in a column.
func valueOf(of *traderfields.Trader, place int) tablefile.Value {
	for _, c := range traderfields.Columns() {
		if at, _ := traders.Column(c.Name()); at == place {
			v, known := c.Field.Figure(of, c.Period)
			return tablefile.Value{Value: v, Known: known}
		}
	}
	return tablefile.Value{}
}

// averageSeconds is the average duration as the table knows it: to a tenth of a millisecond.
func averageSeconds(s *market.TradeSum) int64 {
	if s.Count() == 0 {
		return 0
	}
	return (10*s.Duration/s.Count() + 1) / 10 / 1000
}

// Before an account was valued here, its curve is what the venue says.
func TestCurvesOfSmartAccountsBeginWithWhatTheVenueSays(t *testing.T) {
	t.Parallel()
	w := published(t, 60)
	hour := w.Now().Truncate(time.Hour).UnixMilli()
	stats := map[string]*market.TraderStats{}
	for n := 1; n <= 60; n++ {
		stats[address(n)] = &market.TraderStats{Began: hour}
		venue := market.VenueCurve{Until: hour}
		for k := range int64(3) {
			venue.Perp = append(venue.Perp, market.AccountValue{Time: hour - (3-k)*3_600_000, Value: market.Micros(k) * 1_000_000})
		}
		storetest.PutSeries(t, w.reader.series, accountstats.PastRow(address(n), &accountstats.Past{Venue: venue}))
	}
	datatest.PutAccountStats(t, w.reader.series, stats)
	rows := apitest.Data[[]catalog.SmartTrader](t, w.post(t, smart, body{"pnlList": true}))
	if len(rows) == 0 {
		t.Fatal("no smart account is found")
	}
	for _, row := range rows {
		if row.PnlList == nil || len(*row.PnlList) != 3 || (*row.PnlList)[2].V != "2.0" {
			t.Errorf("%s earned %v", row.Address, row.PnlList)
		}
	}
}
