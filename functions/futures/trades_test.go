package main

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/pairtrades"
	"quotary/shared/store/storetest"
)

func TestTheLatestTradesOfAPairComeNewestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const path = "/upgrade/v2/futures/trade-data?dbkey="
	w.Get(t, w.SubKey, path+"btcswapusdt:binance").Refused(t, http.StatusServiceUnavailable, "have not arrived yet")
	now := apitest.Start.UnixMilli()
	v := pairtrades.View{Time: now, Pairs: []pairtrades.Pair{{Key: "btcswapusdt:binance"}}}
	for i := range int64(pairtrades.Most) {
		v.Pairs[0].Trades = append(v.Pairs[0].Trades, pairtrades.Trade{
			ID: 1000 + i, Time: now - (pairtrades.Most-1-i)*1000, Px: dec(t, "70000.5"), Sz: dec(t, "0.002"), Paid: dec(t, "140.001"), Sold: i%2 == 0,
		})
	}
	storetest.Publish(t, w.views, pairtrades.Published, v)
	w.Move(time.Minute)
	w.Get(t, w.SubKey, path+"BTCSWAPUSDT:binance&limit=2").Golden(t, "trade-data")
	for query, want := range map[string][2]string{ // the newest and the oldest
		"":          {"1099", "1000"},
		"&limit=10": {"1099", "1090"},
		fmt.Sprintf("&start_time=%d&end_time=%d", now-5000, now-3000): {"1096", "1094"},
		fmt.Sprintf("&startTime=%d&limit=1", now-5000):                {"1099", "1099"},
	} {
		got := apitest.Data[[]catalog.LatestTrade](t, w.Get(t, w.SubKey, path+"btcswapusdt:binance"+query))
		if len(got) == 0 || got[0].ID != want[0] || got[len(got)-1].ID != want[1] {
			t.Errorf("%q: %d trades from %+v, want %v", query, len(got), got[:min(1, len(got))], want)
		}
	}
	w.Get(t, w.SubKey, path+"btcswapusdt:binance&limit=101").Refused(t, http.StatusBadRequest, "limit", "100")
	w.Get(t, w.SubKey, "/upgrade/v2/futures/trade-data").Refused(t, http.StatusBadRequest, "dbkey")
}
