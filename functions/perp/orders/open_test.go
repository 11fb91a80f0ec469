package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/openorders"
	"quotary/shared/data/tickers"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

// resting are orders in the books: GOLD has a trigger that fired, and both sides; what
// rests of order 3 of BTC was filled in part.
func resting() *market.OpenOrders {
	table := new(market.OpenOrders)
	for i, o := range []struct{ coin, side, px, size, tif string }{
		{"BTC", "B", "30000.0", "40.0", "Gtc"},         // 1,200,000.0
		{"BTC", "A", "31000.5", "2.0", "Alo"},          // 62,001.0
		{"BTC", "A", "32000.0", "50.0", "Gtc"},         // 1,000,000.0 as 31.25 rest
		{"xyz:GOLD", "B", "3999.99", "250.0", "Gtc"},   // 999,997.5
		{"xyz:GOLD", "A", "4000.00001", "300.0", ""},   // 1,200,000.003
		{"@107", "B", "33.3", "0.00000001", "Gtc"},     // 0.000000333, finer than its perpetuals
		{"NEVER", "B", "0.5", "0.5", "Gtc"},            // 0.25, of a coin that has not traded
		{"SPOOF", "A", "90000000000.0", "90.0", "Gtc"}, // 8,100,000,000,000.0
	} {
		s := one(int64(i+1), int64(i), "open")
		s.Coin, s.Side, s.LimitPx, s.OrigSz, s.Sz, s.Tif, s.ReduceOnly = o.coin, o.side, o.px, o.size, o.size, o.tif, o.tif == ""
		if o.tif == "" {
			s.Status, s.IsTrigger = market.StatusTriggered, true
		}
		table.Add(&s, false)
	}
	table.AddFill(&market.Fill{Oid: 9003, Tid: 1, Time: start + 50, Sz: "18.75"}, false)
	return table
}

func (w *world) rest(t *testing.T, table *market.OpenOrders) {
	t.Helper()
	coins := table.Rank(true)
	top, columns := openorders.Top{Time: start, All: openorders.NewRows(market.TopOf(coins)), Coins: map[string]openorders.Rows{}}, map[string]openorders.Column{}
	for i := range coins {
		c := &coins[i]
		top.Coins[c.Coin], columns[c.Coin] = openorders.NewRows(c.Top), openorders.NewColumn(c)
	}
	storetest.Publish(t, w.views, openorders.PublishedTop, top)
	must.Do(t, w.views.Publish(t.Context(), openorders.ValuesName, openorders.EncodeValues(start, columns)))
}

func (w *world) traded(t *testing.T, prices map[string]string) {
	t.Helper()
	var v tickers.View
	for coin, price := range prices {
		v.Tickers = append(v.Tickers, tickers.Ticker{Coin: coin, Price: price, Time: start})
	}
	storetest.Publish(t, w.views, tickers.Published, v)
}

func TestTheLargestOpenOrders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Get(t, w.SubKey, root+"/orders/top-open-orders").Refused(t, http.StatusServiceUnavailable, "have not arrived yet")
	w.Move(time.Minute)
	w.rest(t, resting())
	w.traded(t, map[string]string{"BTC": "30500.0", "xyz:GOLD": "4000.00001", "@107": "33.0"})
	w.golden(t, "top-open-orders", "/orders/top-open-orders?coin=BTC&limit=2")
	for query, want := range map[string]string{
		"":                                      "8 5 1 3 4 2 7 6",
		"?limit=2":                              "8 5",
		"?coin=BTC":                             "1 3 2",
		"?coin=BTC&minVal=1000000":              "1 3", // an order of exactly that is listed
		"?coin=BTC&minVal=1000000.0000000001":   "1",
		"?coin=xyz:GOLD&min_val=1.2e6":          "5",
		"?min_val=1200000.003":                  "8 5",
		"?min_val=1200000.0030000001&limit=100": "8",
		"?coin=@107&minVal=0.000000333":         "6",
		"?coin=DOGE":                            "",
		"?coin=btc":                             "",
	} {
		var got []string
		for _, o := range apitest.Data[[]catalog.TopOpenOrder](t, w.Get(t, w.SubKey, root+"/orders/top-open-orders"+query)) {
			got = append(got, fmt.Sprint(o.Oid-9000))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s lists %s, want %s", query, got, want)
		}
	}
}

func TestTheDistanceIsFromTheLastTradedPrice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rest(t, resting())
	longest := market.Text(must.Get(market.ParseDecimal(strings.Repeat("9", 48)))(t))
	w.traded(t, map[string]string{"BTC": "30500.0", "xyz:GOLD": "4000.00001", "@107": longest, "SPOOF": "0.0"})
	want := map[int64]string{1: "-1.6393", 2: "1.641", 3: "4.918", 4: "-0.0003", 5: "0", 6: "-100", 7: "null", 8: "null"}
	for _, o := range apitest.Data[[]catalog.TopOpenOrder](t, w.Get(t, w.SubKey, root+"/orders/top-open-orders")) {
		got := "null"
		if o.DistPct != nil {
			got = o.DistPct.String()
		}
		if got != want[o.Oid-9000] {
			t.Errorf("order %d is %s %% away, want %s", o.Oid-9000, got, want[o.Oid-9000])
		}
	}
}

func TestStatsOfTheOpenOrders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	none := catalog.ActiveOrderStats{BidValue: "0.0", AskValue: "0.0", BidValueRatio: "0", WhaleBidValue: "0.0", WhaleAskValue: "0.0", WhaleBidValueRatio: "0"}
	stats := func(query string) catalog.ActiveOrderStats {
		t.Helper()
		return apitest.Data[catalog.ActiveOrderStats](t, w.Get(t, w.SubKey, root+"/orders/active-stats"+query))
	}
	w.Get(t, w.SubKey, root+"/orders/active-stats").Refused(t, http.StatusServiceUnavailable, "have not arrived yet")
	w.Move(time.Minute)
	w.rest(t, resting())
	w.golden(t, "active-stats", "/orders/active-stats?coin=BTC")
	btc := catalog.ActiveOrderStats{TotalCount: 3, BidCount: 1, AskCount: 2, BidValue: "1200000.0", AskValue: "1062001.0", BidValueRatio: "0.530504"}
	whales := func(of catalog.ActiveOrderStats, bids, asks int64, bidValue, askValue, ratio string) catalog.ActiveOrderStats {
		of.WhaleBidCount, of.WhaleAskCount, of.WhaleBidValue, of.WhaleAskValue = bids, asks, bidValue, askValue
		of.WhaleBidValueRatio = json.Number(ratio)
		return of
	}
	all := catalog.ActiveOrderStats{TotalCount: 8, BidCount: 4, AskCount: 4, BidValue: "2199997.750000333", AskValue: "8100002262001.003", BidValueRatio: "0"}
	for query, want := range map[string]catalog.ActiveOrderStats{
		"?coin=BTC":                                    whales(btc, 1, 1, "1200000.0", "1000000.0", "0.545455"), // one of exactly the threshold counts
		"?coin=BTC&whaleThreshold=1000000":             whales(btc, 1, 1, "1200000.0", "1000000.0", "0.545455"),
		"?coin=BTC&whale_threshold=1000000.000000001":  whales(btc, 1, 0, "1200000.0", "0.0", "1"),
		"?coin=BTC&whaleThreshold=62001":               whales(btc, 1, 2, "1200000.0", "1062001.0", "0.530504"),
		"?coin=BTC&whaleThreshold=0":                   whales(btc, 1, 2, "1200000.0", "1062001.0", "0.530504"),
		"?coin=BTC&whaleThreshold=9999999999999999999": whales(btc, 0, 0, "0.0", "0.0", "0"),
		"?coin=DOGE":                                   none,
		"?whaleThreshold=0.000000333":                  whales(all, 4, 4, "2199997.750000333", "8100002262001.003", "0"),
		"?whaleThreshold=0.0000003330000000001":        whales(all, 3, 4, "2199997.75", "8100002262001.003", "0"),
		"?whaleThreshold=8100000000000":                whales(all, 0, 1, "0.0", "8100000000000.0", "0"),
		"?whaleThreshold=8100000000000.00000001":       whales(all, 0, 0, "0.0", "0.0", "0"),
	} {
		check.Equalf(t, want, stats(query), "%s", query)
	}
}
