package main

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/data/datatest"
	"quotary/shared/data/followrequests"
	"quotary/shared/data/pairpast"
	"quotary/shared/data/pairs"
	"quotary/shared/data/pairseries"
	"quotary/shared/data/pairtrades"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
)

// TestEveryEndpointOfAPairWantsItAndAnswersOnceItsPastIsRead: never with a part of it.
func TestEveryEndpointOfAPairWantsItAndAnswersOnceItsPastIsRead(t *testing.T) {
	t.Parallel()
	const spot, swap, nobody = "ethusdt:binance", "ethswapusdt:binance", "nobodyusdt:binance"
	for path, needs := range map[string][]string{
		"/funding-rate/history?interval=1h&symbol=":       {pairpast.Contracts},
		"/liquidation/history?interval=1h&symbol=":        {pairpast.Trades},
		"/liquidation/map?cycle=24h&dbkey=":               {pairpast.Contracts, pairpast.Klines},
		"/estimated-liquidation/history?cycle=24h&dbkey=": {pairpast.Contracts, pairpast.Klines},
		"/trade-data?dbkey=":                              {pairpast.Trades},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.reader.lookup.Patience = 0
			listed := pairs.View{Pairs: []pairs.Pair{
				{Pair: market.Pair{Key: btc, Base: "BTC", Swap: true}, Followed: true},
				{Pair: market.Pair{Key: spot, Base: "ETH"}}, {Pair: market.Pair{Key: swap, Base: "ETH", Swap: true}},
			}}
			storetest.Publish(t, w.views, pairs.Published, listed)
			storetest.Publish(t, w.views, pairtrades.Published, pairtrades.View{})
			for _, s := range []pairseries.Series[market.Bar]{pairseries.Interest, pairseries.Funding} {
				w.put(t, s, swap, 3000, func(int) string { return "100" })
			}
			if a := w.Get(t, w.SubKey, base+path+nobody); a.Status != http.StatusOK {
				t.Errorf("%s: %d %s", nobody, a.Status, a.Body)
			}
			if path != "/trade-data?dbkey=" {
				if a := w.Get(t, w.SubKey, base+path+spot); a.Status != http.StatusOK {
					t.Errorf("a spot pair, which has none of it: %d %s", a.Status, a.Body)
				}
			}
			if list, err := w.wanted.List(t.Context(), w.Now()); err != nil || len(list) > 0 {
				t.Errorf("%v are wanted, %v", list, err)
			}
			since := apitest.Start.Add(-time.Minute)
			for _, what := range needs {
				w.Get(t, w.SubKey, base+path+swap).Refused(t, http.StatusServiceUnavailable, swap, "for the first time")
				if n := w.ReadUnits(t); n > 6 {
					t.Errorf("%v units are read of what can be no answer", n)
				}
				past := pairpast.AllStored
				if what == pairpast.Trades {
					past = pairpast.Past{Minutes: since.UnixMilli(), Hours: since.UnixMilli()}
				}
				storetest.PutSeries(t, w.series, pairpast.Row(swap, what, past))
			}
			a := w.Get(t, w.SubKey, base+path+swap)
			want := ""
			if needs[0] == pairpast.Trades {
				want = since.Format(time.RFC3339)
			}
			if a.Status != http.StatusOK || a.Header["X-Data-Since"] != want {
				t.Errorf("once it is read: %d since %q: %s", a.Status, a.Header["X-Data-Since"], a.Body)
			}
			if list, err := w.wanted.List(t.Context(), w.Now()); err != nil || !slices.Equal(list.Things(), []string{swap}) {
				t.Errorf("%v are wanted, %v", list, err)
			}
			many := make([]string, followrequests.Pairs.Most-1)
			for i := range many {
				many[i] = string(rune('a'+i)) + "usdt:okex"
			}
			datatest.Want(t, w.wanted, w.Primary.AccessKey, many, w.Now, w.Move)
			if path == "/trade-data?dbkey=" {
				w.Get(t, w.SubKey, base+path+spot).Refused(t, http.StatusTooManyRequests, spot, "20")
			}
		})
	}
}
