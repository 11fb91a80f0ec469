package liquidations_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"
	"time"

	"quotary/shared/data/datatest"
	"quotary/shared/data/liquidations"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// QUOTARY_TESTDATA names a folder of genuine recordings, where there is one: the venue's own list of
// who was liquidated in two months of 2023, and for how much, is summed up by day and in all.
func TestGenuineLiquidationsAreSummedUp(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("QUOTARY_TESTDATA")
	if dir == "" {
		t.Skip("QUOTARY_TESTDATA is not set")
	}
	file := must.Get(os.Open(filepath.Join(dir, "hyperliquid", "official_2023_liquidations.csv")))(t)
	defer file.Close()
	rows := must.Get(csv.NewReader(file).ReadAll())(t)[1:]
	var fills []market.Fill
	users, days, total := map[string]bool{}, map[string]market.Decimal{}, market.Decimal{}
	for i, row := range rows {
		at := must.Get(time.Parse(time.RFC3339, row[0]))(t)
		value := must.Get(market.ParseDecimal(row[2]))(t)
		address, _ := market.ParseAddress(row[1])
		f := market.Fill{Address: address, Coin: "BTC", Px: row[2], Sz: "1.0", Side: market.Sell, Time: at.UnixMilli(), StartPosition: "1.0", ClosedPnl: "0.0", Oid: int64(i + 1), Tid: int64(i + 1)}
		f.Liquidation = &market.Liquidation{LiquidatedUser: address}
		fills = append(fills, f)
		day := at.UTC().Format(time.DateOnly)
		users[address], days[day], total = true, days[day].Add(value), total.Add(value)
	}
	series := storetest.Open(t).Series
	datatest.PutLiquidations(t, series, fills...)
	sum := must.Get(liquidations.Window(t.Context(), series, "BTC", time.UnixMilli(fills[0].Time)))(t)
	if sum.Longs != int64(len(rows)) || len(sum.Addresses) != len(users) || !sum.LongValue.Equal(total) || len(rows) != 62 || len(users) != 42 {
		t.Errorf("%d liquidations of %d accounts, %s in all; want %d, %d, %s", sum.Longs, len(sum.Addresses), sum.LongValue, len(rows), len(users), total)
	}
	now := time.UnixMilli(fills[len(fills)-1].Time)
	for _, day := range must.Get(liquidations.History(t.Context(), series, liquidations.All, 24*time.Hour, now, 100))(t) {
		date := time.UnixMilli(day.Time).UTC().Format(time.DateOnly)
		if !day.LongValue.Equal(days[date]) {
			t.Errorf("%s: %s, want %s", date, day.LongValue, days[date])
		}
		delete(days, date)
	}
	if len(days) > 0 {
		t.Errorf("days are missing: %v", days)
	}
}
