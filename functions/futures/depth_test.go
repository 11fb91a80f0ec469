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
	"quotary/shared/data/books"
	"quotary/shared/data/datatest"
	"quotary/shared/data/pairbooks"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

// bookAt is a book of so many levels a side around a price, half a unit apart.
func bookAt(t *testing.T, at time.Time, levels int) market.PairBook {
	t.Helper()
	b := market.PairBook{Pair: btc, Time: at.UnixMilli()}
	for i := range levels {
		b.Bids = append(b.Bids, market.PairLevel{Px: dec(t, fmt.Sprintf("%d.%d", 70000-(i+1)/2, 5*(i%2))), Sz: dec(t, fmt.Sprintf("0.0%d", i%9+1))})
		b.Asks = append(b.Asks, market.PairLevel{Px: dec(t, fmt.Sprintf("%d.%d", 70001+i/2, 5*(i%2))), Sz: dec(t, fmt.Sprintf("1.%d", i%9+1))})
	}
	return b
}

func TestDepthIsThatOfTheBookAsItIsNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	get := func(path string) catalog.Depth {
		t.Helper()
		return apitest.Data[catalog.Depth](t, w.Get(t, w.SubKey, base+path))
	}
	b := bookAt(t, w.Now().Add(-time.Second), 1500)
	lost := market.PairBook{Pair: "ethswapusdt:binance", Time: b.Time, Lost: true}
	small := bookAt(t, w.Now().Add(-time.Second), 2)
	small.Pair = "btcusdt:binance"
	storetest.Publish(t, w.views, pairbooks.Published, pairbooks.NewView(w.Now(), b, small, lost))
	w.Get(t, w.SubKey, base+"/full-depth?dbKey=btcusdt:binance").Golden(t, "full-depth")
	w.Get(t, w.SubKey, base+"/latest-depth?dbKey=BTCSWAPUSDT:binance&size=3").Golden(t, "latest-depth")
	w.Get(t, w.SubKey, base+"/full-depth/grouped?groupSize=400&dbKey="+btc).Golden(t, "grouped-depth")
	if d := get("/latest-depth?symbol=" + btc); d.Time != b.Time || len(d.Bids) != 50 || len(d.Asks) != 50 || d.Bids[0] != (catalog.DepthLevel{"70000", "0.01"}) || d.Asks[1] != (catalog.DepthLevel{"70001.5", "1.2"}) {
		t.Errorf("%d bids from %v, %d asks", len(d.Bids), d.Bids[0], len(d.Asks))
	}
	if d := get("/latest-depth?size=500&dbkey=" + btc); len(d.Bids) != 500 || len(d.Asks) != 500 {
		t.Errorf("%d bids and %d asks", len(d.Bids), len(d.Asks))
	}
	full := get("/full-depth?dbKey=" + btc)
	check.Equal(t, depth(&b), full)
	for _, path := range []string{"/latest-depth?", "/full-depth?", "/full-depth/grouped?groupSize=100&"} {
		a := w.Get(t, w.SubKey, base+path+"dbKey=btcusdt:huobipro")
		var body struct{ Code, Msg string }
		must.Do(t, json.Unmarshal(a.Body, &body))
		if a.Status != http.StatusBadRequest || body.Msg != "Invalid dbKey: depth data not found" || body.Code != "400" {
			t.Errorf("%s of a venue without depth: %d %s", path, a.Status, a.Body)
		}
		a = w.Get(t, w.SubKey, base+path+"dbKey=ethswapusdt:binance")
		a.Refused(t, http.StatusServiceUnavailable, "ethswapusdt:binance", "is not known at the moment")
		if a.Header["Retry-After"] != "3" {
			t.Errorf("%s: ask again after %q", path, a.Header["Retry-After"])
		}
	}
	w.Move(pairbooks.StaleAfter + time.Second)
	w.Get(t, w.SubKey, base+"/full-depth?dbKey="+btc).Refused(t, http.StatusServiceUnavailable, "is not known at the moment")
}

// The best levels of the perpetual exchange's books are known, of pairs that have traded.
func TestDepthOfThePerpetualExchangeIsThatOfItsBook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.listPerps(t)
	at := w.Now().Add(-time.Second).UnixMilli()
	storetest.Publish(t, w.views, books.Published, books.NewView(market.Book{
		Coin: "kPEPE", Time: at,
		Bids: []market.Level{{Px: "0.0120", Sz: "500.0", N: 3}, {Px: "0.0119", Sz: "7", N: 1}},
		Asks: []market.Level{{Px: "0.0122", Sz: "20.5", N: 1}},
	}))
	bids, asks := []catalog.DepthLevel{{"0.012", "500"}, {"0.0119", "7"}}, []catalog.DepthLevel{{"0.0122", "20.5"}}
	for path, want := range map[string]catalog.Depth{
		"/latest-depth?dbKey=" + pepe:                                 {Time: at, Bids: bids, Asks: asks},
		"/latest-depth?size=1&symbol=" + strings.ToUpper(pepe):        {Time: at, Bids: bids[:1], Asks: asks},
		"/full-depth?dbkey=" + pepe + "&key=" + strings.ToUpper(pepe): {Time: at, Bids: bids, Asks: asks},
		"/full-depth/grouped?groupSize=0.01&dbKey=" + pepe:            {Time: at, Bids: []catalog.DepthLevel{{"0.01", "507"}}, Asks: []catalog.DepthLevel{{"0.02", "20.5"}}},
	} {
		check.Equal(t, want, apitest.Data[catalog.Depth](t, w.Get(t, w.SubKey, base+path)))
	}
	for _, other := range []string{"btcswapusdc:hyperliquid", "nobodyswapusdc:hyperliquid", "btcusdc:hyperliquid"} {
		w.Get(t, w.SubKey, base+"/latest-depth?dbKey="+other).Refused(t, http.StatusBadRequest, "Invalid dbKey: depth data not found")
	}
	w.Move(pairbooks.StaleAfter)
	w.Get(t, w.SubKey, base+"/full-depth?dbKey="+pepe).Refused(t, http.StatusServiceUnavailable, "is not known at the moment")
}

func TestGroupsSumUpWhatLiesBetweenTwoMultiples(t *testing.T) {
	t.Parallel()
	side := func(levels ...string) (list []market.PairLevel) {
		for _, l := range levels {
			px, sz, _ := strings.Cut(l, " ")
			list = append(list, market.PairLevel{Px: dec(t, px), Sz: dec(t, sz)})
		}
		return list
	}
	for _, c := range []struct {
		width      string
		up         bool
		have, want []market.PairLevel
	}{
		{"100", false, side("1000 1", "999.5 2", "900 4", "899.99 8"), side("1000 1", "900 6", "800 8")},
		{"100", true, side("1000 1", "1000.5 2", "1100 4", "1100.01 8"), side("1000 1", "1100 6", "1200 8")},
		{"0.25", false, side("1.3 1", "1.25 2", "1.1 4"), side("1.25 3", "1 4")},
		{"400", false, side("2.5 1", "2.4 1"), side("0 2")},
		{"0.0000000000000000001", true, side("2.5 1"), side("2.5 1")},
		{"100", true, nil, nil},
	} {
		got := must.Get(grouped(c.have, dec(t, c.width), c.up))(t)
		check.Equal(t, depthLevels(c.want), depthLevels(got))
	}
}

func TestHistoricalDepthIsOldestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var books []market.PairBook
	const n = 1500
	for i := range n {
		books = append(books, bookAt(t, apitest.Start.Add(-time.Duration(n-i)*10*time.Second+123*time.Millisecond), 1+i%60))
	}
	datatest.PutPairDepth(t, w.series, books...)
	const path = base + "/historical-depth?key="
	w.Get(t, w.SubKey, path+"BTCSWAPUSDT:binance&limit=2&end_time="+fmt.Sprint(books[1].Time)).Golden(t, "historical-depth")
	at := func(i int) int64 { return books[i].Time }
	for query, want := range map[string][2]int{ // the first and the last
		"":                                      {n - 100, n - 1},
		"&limit=1000":                           {n - 1000, n - 1},
		fmt.Sprintf("&start_time=%d", at(1400)): {1400, n - 1},
		fmt.Sprintf("&start_time=%d&limit=3", at(1000)):                   {1000, 1002},
		fmt.Sprintf("&startTime=%d&endTime=%d", at(1000)+1, at(1003)-1):   {1001, 1002},
		fmt.Sprintf("&end_time=%d&limit=2", at(10)):                       {9, 10},
		fmt.Sprintf("&start_time=%d&end_time=%d", at(77), at(77)+100_000): {77, 87},
	} {
		got := apitest.Data[[]catalog.Depth](t, w.Get(t, w.SubKey, path+btc+query))
		if len(got) != want[1]-want[0]+1 {
			t.Errorf("%q: %d samples", query, len(got))
			continue
		}
		for i := range got {
			b := books[want[0]+i]
			b.Bids, b.Asks = b.Bids[:min(len(b.Bids), pairbooks.SampleLevels)], b.Asks[:min(len(b.Asks), pairbooks.SampleLevels)]
			check.Equal(t, depth(&b), got[i])
		}
	}
	for _, key := range []string{"nobodyusdt:binance", "btcswapusdc:hyperliquid"} {
		if a := w.Get(t, w.SubKey, path+key); a.Status != http.StatusOK || len(apitest.Data[[]catalog.Depth](t, a)) != 0 {
			t.Errorf("%s: %d %s", key, a.Status, a.Body)
		}
	}
}

func TestBadParametersOfDepthAreNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, test := range []struct{ query, part string }{
		{"/historical-depth?key=" + btc + "&limit=1001", "limit"},
		{"/historical-depth?limit=10", "key"},
		{"/historical-depth?key=" + btc + "&start_time=soon", "start_time"},
		{"/latest-depth?dbKey=" + btc + "&size=501", "size"},
		{"/latest-depth?dbKey=" + btc + "&size=0", "size"},
		{"/latest-depth", "dbKey"},
		{"/full-depth", "dbKey"},
		{"/full-depth/grouped?dbKey=" + btc, "missing groupSize"},
		{"/full-depth/grouped?groupSize=100", "missing dbKey"},
		{"/full-depth/grouped?dbKey=" + btc + "&groupSize=0", "groupSize must be above 0"},
		{"/full-depth/grouped?dbKey=" + btc + "&groupSize=-1", "groupSize"},
		{"/full-depth/grouped?dbKey=" + btc + "&groupSize=wide", "groupSize"},
	} {
		w.Get(t, w.SubKey, base+test.query).Refused(t, http.StatusBadRequest, test.part)
	}
}
