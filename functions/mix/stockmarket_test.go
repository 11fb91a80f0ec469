package main

import (
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/indices"
	"quotary/shared/store/storetest"
)

// The four are always listed; of what is not known there are no figures.
func TestStockIndexes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	day := func(back int, closed string) indices.Day {
		return indices.Day{Date: apitest.Start.AddDate(0, 0, -back).Format(time.DateOnly), Open: closed, High: closed, Low: closed, Close: closed}
	}
	storetest.Publish(t, w.views, indices.Published, indices.View{Indices: []indices.Index{
		{Key: indices.Nasdaq, Days: indices.Days{day(2, "20000"), day(1, "19750.5")}},
		{Key: indices.SP500, Days: indices.Days{day(1, "6000.25")}},
		{Key: indices.Shanghai, Days: indices.Days{day(16, "3000"), day(15, "3100")}}, // too old
		{Key: indices.VIX, Days: indices.Days{day(2, "18"), day(1, "19")}},
	}})
	w.Get(t, w.SubKey, "/v2/mix/stock-market").Golden(t, "stock-market")
	list := apitest.Data[catalog.StockIndexList](t, w.Get(t, w.SubKey, "/v2/mix/stock-market?market=us")).Detail
	if len(list) != 4 || *list[1].Degree != "-1.2475" || list[2].Last != nil { // 100 x (19,750.5 - 20,000) / 20,000
		t.Errorf("%+v", list)
	}
}
