package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/contexts"
	"quotary/shared/data/contracts"
	"quotary/shared/data/datatest"
	"quotary/shared/data/funding"
	"quotary/shared/data/pairseries"
	"quotary/shared/data/tickers"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

const pepe = "kpepeswapusdc:hyperliquid"

// listPerps has two coins of the perpetual exchange traded.
func (w *world) listPerps(t *testing.T) {
	t.Helper()
	v := tickers.View{Tickers: []tickers.Ticker{{Coin: "BTC", Price: "70000.0"}, {Coin: "kPEPE", Price: "0.012"}, {Coin: "xyz:GOLD", Price: "4000.0"}}}
	storetest.Publish(t, w.views, tickers.Published, v)
}

func TestFundingOfThePerpetualExchangeIsWhatItPaidForEachHour(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.listPerps(t)
	// 41 hours, of which one is missing: the newest was paid just now, at 10:00.
	for n := range 41 {
		if n == 3 {
			continue
		}
		h := funding.Hour{Funding: market.Funding{Coin: "kPEPE", Rate: fmt.Sprintf("0.0000%02d", n), Premium: "0.0", Time: apitest.Start.Add(-time.Duration(n)*time.Hour).UnixMilli() + 17}, Provisional: n == 0}
		datatest.PutFunding(t, w.series, h)
	}
	const path = base + "/funding-rate/history?symbol=" + pepe
	w.Get(t, w.SubKey, path+"&interval=8h&limit=2").Golden(t, "funding-perp")
	start := apitest.Start.UnixMilli()
	hour := time.Hour.Milliseconds()
	for query, want := range map[string][3]any{ // rows, the first time, the last close
		"&interval=1h&limit=3":  {3, start - hour, "0.000002"},
		"&interval=15m&limit=5": {5, start - hour/4, "0.000005"}, // of the hours 0, 1, 2, 4 and 5
		"&interval=4h&limit=4":  {4, start - 2*hour, "0.00001"},
		"&interval=12h":         {4, start - 10*hour, "0.000034"},
		fmt.Sprintf("&interval=1h&start_time=%d&end_time=%d", start-2*hour, start-hour):     {2, start - hour, "0.000001"},
		fmt.Sprintf("&interval=1h&start_time=%d&end_time=%d", start-2*hour+1, start-hour-1): {0, 0, ""},
		fmt.Sprintf("&interval=8h&end_time=%d", start-2*hour-1):                             {5, start - 10*hour, "0.000034"},
	} {
		list := w.bars(t, path+query)
		if len(list) != want[0] {
			t.Errorf("%s: %d rows, want %v", query, len(list), want[0])
		} else if len(list) > 0 && (list[0].Time != want[1] || list[len(list)-1].Close != want[2]) {
			t.Errorf("%s: from %d to %+v, want %v", query, list[0].Time, list[len(list)-1], want[1:])
		}
	}
	for _, symbol := range []string{"btcswapusdc:hyperliquid", "ethswapusdc:hyperliquid", "kpepeusdc:hyperliquid"} {
		if list := w.bars(t, base+"/funding-rate/history?symbol="+symbol); list == nil || len(list) != 0 {
			t.Errorf("%s has %v", symbol, list)
		}
	}
}

// As of any exchange the bucket that is open has what is expected, until it has ended.
func TestTheOpenBucketOfThePerpetualExchangeHasWhatItExpects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.listPerps(t)
	w.Move(30 * time.Minute)
	now := w.Now().UnixMilli()
	hour := time.Hour.Milliseconds()
	for n, rate := range []string{"0.00003", "0.00001", "0.00002"} { // paid at 10:00, 9:00 and 8:00
		h := funding.Hour{Funding: market.Funding{Coin: "BTC", Rate: rate, Premium: "0.0", Time: apitest.Start.UnixMilli() - int64(n)*hour + 17}}
		datatest.PutFunding(t, w.series, h)
	}
	figures := json.RawMessage(`[{"universe":[{"name":"kPEPE"},{"name":"BTC"}]},[{"markPx":"0.0125"},{"markPx":"70000.5","funding":"-0.0000125"}]]`)
	storetest.Publish(t, w.views, contexts.Published, contexts.View{Time: now - 1000, Perps: map[string]json.RawMessage{"": figures}})
	const path = base + "/funding-rate/history?symbol=btcswapusdc:hyperliquid"
	start := apitest.Start.UnixMilli()
	row := func(time int64, open, high, low, last string) catalog.FuturesBar {
		return catalog.FuturesBar{Time: time, Open: open, High: high, Low: low, Close: last}
	}
	expected := row(start, "-0.0000125", "-0.0000125", "-0.0000125", "-0.0000125")
	paid := row(start-hour, "0.00003", "0.00003", "0.00003", "0.00003")
	for query, want := range map[string][]catalog.FuturesBar{
		"&interval=1h&limit=2":                                         {expected, paid},
		"&interval=8h&limit=1":                                         {row(start-2*hour, "0.00001", "0.00003", "-0.0000125", "-0.0000125")},
		"&interval=15m&limit=1":                                        {{Time: start + hour/4, Open: "-0.0000125", High: "-0.0000125", Low: "-0.0000125", Close: "-0.0000125"}},
		fmt.Sprintf("&interval=1h&start_time=%d", start):               {expected},
		fmt.Sprintf("&interval=1h&start_time=%d", start+1):             {},
		fmt.Sprintf("&interval=1h&limit=1&end_time=%d", start-1):       {paid},
		fmt.Sprintf("&interval=1h&limit=1&end_time=%d", start+hour-1):  {expected},
		fmt.Sprintf("&interval=15m&limit=1&end_time=%d", start+hour/5): {{Time: start - hour/4, Open: "0.00003", High: "0.00003", Low: "0.00003", Close: "0.00003"}},
	} {
		check.Equalf(t, want, w.bars(t, path+query), "%s", query)
	}
	if list := w.bars(t, base+"/funding-rate/history?symbol="+pepe); len(list) != 0 {
		t.Errorf("of a coin whose rate is not known there is %+v", list)
	}
	w.Move(31 * time.Minute)
	if list := w.bars(t, path+"&interval=1h&limit=1"); len(list) != 1 || list[0] != paid {
		t.Errorf("what was expected of an hour that has ended is %+v", list)
	}
}

// What was expected within an hour is kept; the bucket closes with what was paid for it.
func TestFundingOfThePerpetualExchangeIsWhatItExpectedUntilItPaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.listPerps(t)
	w.put(t, pairseries.Funding, pepe, 90, func(n int) string { return fmt.Sprintf("0.0000%02d", n) }) // from 8:31
	start := apitest.Start.UnixMilli()
	h := funding.Hour{Funding: market.Funding{Coin: "kPEPE", Rate: "-0.00001", Premium: "0.0", Time: start + 17}} // for 9:00 to 10:00
	datatest.PutFunding(t, w.series, h)
	const path = base + "/funding-rate/history?symbol=" + pepe
	minute := time.Minute.Milliseconds()
	for query, want := range map[string][]catalog.FuturesBar{
		"&interval=1h": {
			{Time: start, Open: "0.000089", High: "0.000089", Low: "0.000089", Close: "0.000089"},
			{Time: start - 60*minute, Open: "0.000029", High: "0.000088", Low: "-0.00001", Close: "-0.00001"},
			{Time: start - 120*minute, Open: "0", High: "0.000028", Low: "0", Close: "0.000028"},
		},
		"&interval=1m&limit=3": {
			{Time: start, Open: "0.000089", High: "0.000089", Low: "0.000089", Close: "0.000089"},
			{Time: start - minute, Open: "0.000088", High: "0.000088", Low: "-0.00001", Close: "-0.00001"},
			{Time: start - 2*minute, Open: "0.000087", High: "0.000087", Low: "0.000087", Close: "0.000087"},
		},
		fmt.Sprintf("&interval=15m&start_time=%d&end_time=%d", start-100*minute, start-70*minute): {
			{Time: start - 75*minute, Open: "0.000014", High: "0.000028", Low: "0.000014", Close: "0.000028"},
			{Time: start - 90*minute, Open: "0", High: "0.000013", Low: "0", Close: "0.000013"},
		},
	} {
		check.Equalf(t, want, w.bars(t, path+query), "%s", query)
	}
}

func TestTheLatestTradesOfThePerpetualExchange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.listPerps(t)
	const path = base + "/trade-data?dbkey=" + pepe
	latest := func(query string) []catalog.LatestTrade {
		t.Helper()
		return apitest.Data[[]catalog.LatestTrade](t, w.Get(t, w.SubKey, path+query))
	}
	if got := latest(""); got == nil || len(got) != 0 {
		t.Errorf("before any trade there are %v", got)
	}
	// Three trades in each of fifty seconds; their ids do not grow.
	start := apitest.Start.UnixMilli()
	var trades []market.Trade
	for n := range int64(150) {
		side := market.Buy
		if n%2 == 0 {
			side = market.Sell
		}
		trades = append(trades, market.Trade{Coin: "kPEPE", Side: side, Time: start + n/3*1000 + n%3*100, Tid: n * 7919 % 1000, Px: dec(t, "0.0125"), Sz: dec(t, strconv.FormatInt(n+1, 10))})
	}
	datatest.PutKlines(t, w.series, "kPEPE", trades...)
	w.Get(t, w.SubKey, path+"&limit=2").Golden(t, "trade-data-perp")
	for query, want := range map[string][2]int64{ // sizes of the newest and the oldest
		"": {150, 51}, "&limit=7": {150, 144},
		fmt.Sprintf("&limit=2&end_time=%d", start+40_100):                     {122, 121},
		fmt.Sprintf("&start_time=%d&end_time=%d", start+40_100, start+41_000): {124, 122},
		fmt.Sprintf("&end_time=%d", start+16_900):                             {51, 51},
	} {
		got := latest(query)
		if len(got) == 0 || got[0].Amount != strconv.FormatInt(want[0], 10) || got[len(got)-1].Amount != strconv.FormatInt(want[1], 10) {
			t.Errorf("%q: %d trades from %+v, want %v", query, len(got), got[:min(1, len(got))], want)
		}
	}
}

func TestPerpetualsOfThePerpetualExchangeAreRankedAmongTheOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := w.Now().UnixMilli()
	figures := `[{"universe":[{"name":"BTC"},{"name":"OLD"},{"name":"kPEPE"}]},[{"markPx":"70000.5","openInterest":"2.5"},{"markPx":"1","openInterest":"0.0"},{"markPx":"0.0125","openInterest":"1000"}]]`
	storetest.Publish(t, w.views, contexts.Published, contexts.View{Time: now, Perps: map[string]json.RawMessage{"": json.RawMessage(figures), "xyz": json.RawMessage(`[{"universe":[]},[]]`)}})
	v := contracts.View{Time: now, Contracts: []contracts.Contract{{Pair: market.Pair{Key: btc, Base: "BTC", Quote: "USDT", Platform: "binance", Swap: true}, Size: dec(t, "2"), Value: dec(t, "140000"), InterestTime: now}}}
	storetest.Publish(t, w.views, contracts.Published, v)
	// Some minutes of each hour, which closes with the last of them.
	var hours []market.Bar
	for n := range int64(27) {
		opens := market.Hour1.StartMs(now) - n*time.Hour.Milliseconds()
		bar := market.Bar{Time: opens}
		bar.Add(opens+60_000, dec(t, strconv.FormatInt(1000+n, 10)))
		bar.Add(opens+3_540_000, dec(t, strconv.FormatInt(170_000-n, 10)+".5"))
		hours = append(hours, bar)
	}
	must.Do(t, pairseries.Interest.Put(t.Context(), w.series, "btcswapusdc:hyperliquid", pairseries.Tiers[1], hours...))
	w.Get(t, w.SubKey, "/v2/futures/interest?currency=usd&lan=en&pageSize=1").Golden(t, "interest-perp")
	list := apitest.Data[catalog.FuturesInterestList](t, w.Get(t, w.SubKey, "/v2/futures/interest?currency=usd")).List
	var got []string
	for _, row := range list {
		got = append(got, row.Key+"="+row.Trade)
	}
	if text := fmt.Sprint(got); text != "[btcswapusdc:hyperliquid=175001.25 "+btc+"=140000 "+pepe+"=12.5]" {
		t.Errorf("got %s", text)
	}
	if trend := list[2].Trend; trend == nil || len(trend) != 0 {
		t.Errorf("of a coin of which nothing is stored the trend is %v", trend)
	}
}
