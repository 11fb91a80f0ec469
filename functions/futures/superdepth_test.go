package main

import (
	"fmt"
	"net/http"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/largeorders"
	"quotary/shared/data/pairs"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
)

func TestLargeOrdersAreListedByWhenTheyWereFirstSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Deliver(t, catalog.ExchangeTrades, catalog.ExchangeBooks)
	storetest.Publish(t, w.views, pairs.Published, pairs.View{Pairs: []pairs.Pair{
		{Pair: market.Pair{Key: btc, Platform: "binance", Base: "BTC", Quote: "USDT", Swap: true}},
	}})
	now := apitest.Start.UnixMilli()
	order := func(back int64, size string) market.LargeOrder {
		return market.LargeOrder{
			Pair: btc, Side: market.Buy, Px: dec(t, "100000"), Start: now - back, Changed: now - back, Near: dec(t, "50"), NearKnown: true,
			First: dec(t, size), Last: dec(t, size), Highest: dec(t, size),
		}
	}
	bait, old, part := order(60_000, "21"), order(25*3_600_000, "22"), order(120_000, "24")
	bait.End, bait.Last, bait.Gone = now-30_000, dec(t, "0"), dec(t, "21")
	old.Missed = now - 60_000
	part.Gone, part.Last, part.Met, part.Trades, part.LargestTrade = dec(t, "6"), dec(t, "18"), dec(t, "6.5"), 2, dec(t, "5")
	part.FirstTrade, part.LastTrade = now-100_000, now-90_000
	storetest.PutLog(t, w.log, largeorders.Name, largeorders.AppendRows, bait, old)
	storetest.Publish(t, w.views, largeorders.Published, largeorders.View{Time: now, Pairs: []largeorders.Pair{{Key: btc, Orders: []largeorders.Order{largeorders.NewOrder(&part)}}}})
	const path = base + "/super-depth/history?key="
	w.Get(t, w.SubKey, path+btc+"&amount=10000").Golden(t, "super-depth")
	for query, want := range map[string][]int64{ // when they were first seen, before now
		"":                 {60_000, 120_000},
		"&limit=1":         {60_000},
		"&amount=2200000":  {120_000},
		"&amount=20000000": nil,
		fmt.Sprintf("&start_time=%d", now-26*3_600_000):                 {60_000, 120_000, 25 * 3_600_000},
		fmt.Sprintf("&end_time=%d", now-100_000):                        {120_000}, // the 24 hours before
		fmt.Sprintf("&startTime=%d&endTime=%d", now-60_000, now-60_000): {60_000},
		fmt.Sprintf("&end_time=%d", now-24*3_600_000):                   {25 * 3_600_000},
	} {
		list := apitest.Data[[]catalog.SuperDepth](t, w.Get(t, w.SubKey, path+btc+query))
		same := len(list) == len(want)
		for i := range list {
			same = same && list[i].StartTime == now-want[i]
		}
		if !same {
			t.Errorf("%q: %+v, want %v", query, list, want)
		}
	}
	for _, unknown := range []string{"btc", "xyzswapusdt:binance"} {
		if list := apitest.Data[[]catalog.SuperDepth](t, w.Get(t, w.SubKey, path+unknown)); list == nil || len(list) != 0 {
			t.Errorf("%s has %+v", unknown, list)
		}
	}
	w.Get(t, w.SubKey, path+btc+"&limit=1001").Refused(t, http.StatusBadRequest, "limit", "1000")
	w.Get(t, w.SubKey, path+btc+"&amount=much").Refused(t, http.StatusBadRequest, "amount")
	w.Get(t, w.SubKey, base+"/super-depth/history").Refused(t, http.StatusBadRequest, "key")
}
