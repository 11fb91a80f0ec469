package main

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/largeorders"
	"quotary/shared/data/pairs"
	"quotary/shared/data/takerruns"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

type world struct {
	*apitest.World
	log   *store.Log
	views *store.Views
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := new(world)
	w.World = apitest.Open(t, catalog.Order, func(open *apitest.World) {
		w.log, w.views = open.Log(), open.Views(t)
		newReader(w.log, w.views, open.Now).register(open.Family)
	})
	w.Deliver(t, catalog.ExchangeTrades, catalog.ExchangeBooks)
	storetest.Publish(t, w.views, pairs.Published, pairs.View{Pairs: []pairs.Pair{
		{Pair: market.Pair{Key: "btcswapusdt:okcoinfutures", Platform: "okcoinfutures", Base: "BTC", Quote: "USDT", Swap: true, Contract: dec(t, "0.01")}},
		{Pair: market.Pair{Key: "btcswapusd:binance", Platform: "binance", Base: "BTC", Quote: "USD", Swap: true, Inverse: true, Contract: dec(t, "100")}},
		{Pair: market.Pair{Key: "ethusdt:binance", Platform: "binance", Base: "ETH", Quote: "USDT"}},
	}})
	return w
}

func dec(t *testing.T, text string) market.Decimal {
	t.Helper()
	return must.Get(market.ParseDecimal(text))(t)
}

const path = "/v2/order/"

func (w *world) bigOrders(t *testing.T, symbol string) catalog.BigOrderList {
	t.Helper()
	return apitest.Data[catalog.BigOrderList](t, w.Get(t, w.SubKey, path+"bigOrder?symbol="+symbol))
}

func TestLargeOrdersOfAPairComeNewestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := w.bigOrders(t, "btcswapusdt:okcoinfutures"); got.Map == nil || got.Map.ShowState != 0 || len(got.List) != 0 {
		t.Errorf("of a book that is not followed: %+v", got)
	}
	now := apitest.Start.UnixMilli()
	filled := market.LargeOrder{
		Pair: "btcswapusdt:okcoinfutures", Side: market.Buy, Px: dec(t, "70000.1"), Contract: dec(t, "0.01"), Start: now - 60_000, Changed: now - 20_000, End: now - 20_000,
		First: dec(t, "30"), Last: dec(t, "0"), Highest: dec(t, "40.5"), Gone: dec(t, "40.5"), Met: dec(t, "41"), Trades: 3, LargestTrade: dec(t, "20.25"), FirstTrade: now - 30_000, LastTrade: now - 20_000,
	}
	rests := market.LargeOrder{
		Pair: "btcswapusdt:okcoinfutures", Side: market.Sell, Px: dec(t, "70100"), Contract: dec(t, "0.01"), Start: now - 5_000, Changed: now - 5_000,
		First: dec(t, "30"), Last: dec(t, "30"), Highest: dec(t, "30"),
	}
	storetest.PutLog(t, w.log, largeorders.Name, largeorders.AppendRows, filled)
	filled.End = 0 // the view is older than the row
	storetest.Publish(t, w.views, largeorders.Published, largeorders.View{Time: now, Pairs: []largeorders.Pair{{
		Key: "btcswapusdt:okcoinfutures", Orders: []largeorders.Order{largeorders.NewOrder(&rests), largeorders.NewOrder(&filled)},
	}}})
	w.Move(time.Minute)
	w.Get(t, w.SubKey, path+"bigOrder?symbol=BTCSWAPUSDT:okcoinfutures").Golden(t, "big-order")
	for _, unknown := range []string{"btc", "xyzusdt:binance", "btcusdt:gate"} {
		if got := w.bigOrders(t, unknown); got.Map != nil || got.List == nil || len(got.List) != 0 {
			t.Errorf("%s: %+v", unknown, got)
		}
	}
	w.Get(t, w.SubKey, path+"bigOrder").Refused(t, http.StatusBadRequest, "symbol")
}

func TestTheNewestHundredLargeOrdersAreListedInUnitsOfTheirPair(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := apitest.Start.UnixMilli()
	var all []market.LargeOrder
	for i := range int64(130) {
		all = append(all, market.LargeOrder{
			Pair: "btcswapusd:binance", Side: market.Sell, Px: dec(t, "80000"), Contract: dec(t, "100"), Inverse: true, Start: now - i*1000, Changed: now, Missed: now + 20_000,
			First: dec(t, "2000000"), Last: dec(t, "2000000"), Highest: dec(t, "2000000"),
		})
	}
	storetest.PutLog(t, w.log, largeorders.Name, largeorders.AppendRows, all...)
	list := w.bigOrders(t, "btcswapusd:binance").List
	if len(list) != 100 || list[0].StartTime != now || list[99].StartTime != now-99_000 {
		t.Fatalf("%d orders", len(list))
	}
	if got := fmt.Sprintln(list[0].DepthAmount, list[0].DepthTurnover, list[0].DepthVol, list[0].DepthState, list[0].TradePrice); got != "20000 2000000 25 1 <nil>\n" {
		t.Errorf("its figures are %s", got)
	}
}

func TestRunsOfTakersComeNewestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var runs []takerruns.Run
	for i := range int64(takerruns.Most) {
		runs = append(runs, takerruns.Run{ID: 100 + i, Sold: i%2 == 0, StartPx: dec(t, "3400.5"), FarPx: dec(t, "3399.25"), Largest: dec(t, "12"), Size: dec(t, "20.5"), Value: dec(t, "69700.25"), Count: 4})
	}
	open := takerruns.Run{ID: 300, StartPx: dec(t, "3401"), FarPx: dec(t, "3402"), Largest: dec(t, "20"), Size: dec(t, "20"), Value: dec(t, "68000"), Count: 1}
	v := takerruns.View{Pairs: []takerruns.Pair{{Key: "ethusdt:binance", Open: &open, Runs: runs}}}
	storetest.Publish(t, w.views, takerruns.Published, v)
	list := apitest.Data[catalog.AggTradeList](t, w.Get(t, w.SubKey, path+"aggTrade?symbol=ethusdt:binance")).List
	if len(list) != 100 || list[0][0] != "300" || list[1][0] != "199" || list[99][0] != "101" {
		t.Fatalf("%d runs from %v", len(list), list[:min(2, len(list))])
	}
	open.Value = dec(t, "49999.99") // it is not large yet
	v.Pairs[0].Runs = runs[98:]
	storetest.Publish(t, w.views, takerruns.Published, v)
	w.Move(time.Minute)
	w.Get(t, w.SubKey, path+"aggTrade?dbkey=ethusdt:binance").Golden(t, "agg-trade")
	for _, unknown := range []string{"btc", "btcswapusd:binance"} {
		if got := apitest.Data[catalog.AggTradeList](t, w.Get(t, w.SubKey, path+"aggTrade?symbol="+unknown)); len(got.Map) != 9 || got.List == nil || len(got.List) != 0 {
			t.Errorf("%s: %+v", unknown, got)
		}
	}
}
