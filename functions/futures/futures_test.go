package main

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/coins"
	"quotary/shared/data/contracts"
	"quotary/shared/data/datatest"
	"quotary/shared/data/followrequests"
	"quotary/shared/data/pairseries"
	"quotary/shared/data/rates"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

const (
	btc  = "btcswapusdt:binance"
	base = "/upgrade/v2/futures"
)

type world struct {
	*apitest.World
	log    *store.Log
	series *store.Series
	views  *store.Views
	wanted *followrequests.Store
	reader *reader
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := new(world)
	w.World = apitest.Open(t, catalog.Futures, func(open *apitest.World) {
		w.series, w.views = open.Series(), open.Views(t)
		w.wanted = followrequests.Pairs.Open(open.Documents)
		w.log = open.Log()
		w.reader = newReader(w.log, w.series, w.views, w.wanted, open.Now)
		w.reader.register(open.Family)
	})
	return w
}

func dec(t testing.TB, text string) market.Decimal {
	t.Helper()
	return must.Get(market.ParseDecimal(text))(t)
}

// put writes a value for each of the last minutes, the newest of them in the running one.
func (w *world) put(t testing.TB, s pairseries.Series[market.Bar], key string, minutes int, value func(n int) string) {
	t.Helper()
	for _, tier := range pairseries.Tiers {
		parts := map[int64]market.Bar{}
		for n := range minutes {
			at := apitest.Start.Add(time.Duration(n-minutes+1) * time.Minute).UnixMilli()
			start := tier.Part.StartMs(at)
			bar := parts[start]
			bar.Time = start
			bar.Add(at+1, dec(t, value(n)))
			parts[start] = bar
		}
		var list []market.Bar
		for _, bar := range parts {
			list = append(list, bar)
		}
		must.Do(t, s.Put(t.Context(), w.series, key, tier, list...))
	}
}

func (w *world) bars(t *testing.T, path string) []catalog.FuturesBar {
	t.Helper()
	return apitest.Data[[]catalog.FuturesBar](t, w.Get(t, w.SubKey, path))
}

func TestFundingRatesAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, pairseries.Funding, btc, 45, func(n int) string { return fmt.Sprintf("0.0001%02d", n) })
	w.Get(t, w.SubKey, base+"/funding-rate/history?symbol="+btc+"&interval=15m&limit=2").Golden(t, "funding")
	list := w.bars(t, base+"/funding-rate/history?dbKey=BTCSWAPUSDT:binance&interval=1m")
	if len(list) != 45 || list[0].Time != apitest.Start.UnixMilli() || list[0].Close != "0.000144" {
		t.Errorf("%d rows, the first is %+v", len(list), list[0])
	}
	start, end := apitest.Start.Add(-9*time.Minute).UnixMilli(), apitest.Start.Add(-5*time.Minute).UnixMilli()
	for _, test := range []struct {
		from, to int64
		want     int
	}{{start, end, 5}, {start + 1, end, 4}, {start, end - 1, 4}, {start, start, 1}} {
		if list := w.bars(t, fmt.Sprintf("%s/funding-rate/history?symbol=%s&interval=1m&start_time=%d&end_time=%d", base, btc, test.from, test.to)); len(list) != test.want {
			t.Errorf("from %d to %d: %d rows, %d wanted", test.from, test.to, len(list), test.want)
		}
	}
	for _, symbol := range []string{"btcusdt:binance", "nobody", "xyzswapusdt:binance"} {
		if list := w.bars(t, base+"/funding-rate/history?symbol="+symbol); len(list) != 0 {
			t.Errorf("%s has %v", symbol, list)
		}
	}
}

func TestTheFundingRateOfACoinIsFoundByItsSpellings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	storetest.Publish(t, w.views, coins.Published, coins.View{Coins: []coins.Coin{{Key: "bitcoin", Listing: &coins.Listing{Symbol: "BTC", Rank: 1}}}})
	w.put(t, pairseries.CoinFunding, "btc", 3, func(n int) string { return "0.0002" + strconv.Itoa(n) })
	w.Get(t, w.SubKey, base+"/funding-rate/vol-weight-history?symbol=btcswapusdt&interval=1h").Golden(t, "coin-funding")
	for _, symbol := range []string{"BTC", "bitcoin", "btcusdt", "btcswapusdt:okcoinfutures", "BTCUSD"} {
		if list := w.bars(t, base+"/funding-rate/vol-weight-history?interval=1m&symbol="+symbol); len(list) != 3 || list[0].Close != "0.00022" {
			t.Errorf("%s has %v", symbol, list)
		}
	}
}

func TestOpenInterestOfACoinIsListedOldestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, pairseries.CoinInterest, "btc:stable", 90, func(n int) string { return strconv.Itoa(5_000_000_000 + n%7*1000) })
	storetest.Publish(t, w.views, contracts.Published, contracts.View{Contracts: []contracts.Contract{{Pair: market.Pair{Key: btc, Base: "BTC", Swap: true}}, {Pair: market.Pair{Key: "hypeswapusd:bybit", Base: "HYPE", Swap: true, Inverse: true}}}})
	w.put(t, pairseries.Interest, "btcswapusdc:hyperliquid", 3, func(int) string { return "1" }) // which is in the sum
	w.put(t, pairseries.Interest, "hypeswapusdc:hyperliquid", 3, func(n int) string { return strconv.Itoa(100 + n) })
	if list := w.bars(t, base+"/open-interest/aggregated-stablecoin-history?symbol=HYPE&interval=1m"); len(list) != 3 || list[2].Close != "102" {
		t.Errorf("of a coin of the perpetual exchange alone there is %+v", list)
	}
	w.put(t, pairseries.CoinInterest, "btc:coin", 5, func(n int) string { return strconv.Itoa(700_000_000 + n) })
	w.Get(t, w.SubKey, base+"/open-interest/aggregated-stablecoin-history?symbol=BTC&interval=30m&limit=3").Golden(t, "stablecoin-interest")
	w.Get(t, w.SubKey, base+"/open-interest/aggregated-coin-margin-history?symbol=BTC&interval=2m").Golden(t, "coin-margin-interest")
	start := apitest.Start.Add(-60 * time.Minute).UnixMilli()
	list := w.bars(t, fmt.Sprintf("%s/open-interest/aggregated-stablecoin-history?symbol=BTC&interval=1m&limit=2&start_time=%d", base, start))
	if len(list) != 2 || list[0].Time != start || list[1].Time != start+60_000 {
		t.Errorf("with a start there are %+v", list)
	}
}

func TestLiquidationsOfAPairAreListedOldestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var parts []market.Liquidated
	for n := range int64(40) {
		parts = append(parts, market.Liquidated{Time: apitest.Start.Add(-time.Duration(n) * time.Minute).UnixMilli(), Long: dec(t, strconv.FormatInt(1000+n, 10)), Short: dec(t, "0.5"), Count: 2, Largest: dec(t, "1000")})
	}
	must.Do(t, pairseries.Liquidations.Put(t.Context(), w.series, btc, pairseries.Tiers[0], parts...))
	w.Get(t, w.SubKey, base+"/liquidation/history?symbol="+btc+"&interval=30m").Golden(t, "liquidations")
	list := apitest.Data[[]catalog.PairLiquidation](t, w.Get(t, w.SubKey, base+"/liquidation/history?interval=1m&dbkey="+btc))
	if len(list) != 10 || list[9].Time != apitest.Start.UnixMilli() || list[9].LongUSD != "1000" || list[0].LongUSD != "1009" {
		t.Errorf("without a limit there are %+v", list)
	}
	start := apitest.Start.Add(-30 * time.Minute).UnixMilli()
	list = apitest.Data[[]catalog.PairLiquidation](t, w.Get(t, w.SubKey, fmt.Sprintf("%s/liquidation/history?interval=1m&limit=2&symbol=%s&start_time=%d", base, btc, start)))
	if len(list) != 2 || list[0].Time != start || list[1].Time != start+60_000 {
		t.Errorf("with a start there are %+v", list)
	}
}

// trade fills the last hours with candles of five minutes at a price, and open interest
// that grows by as much as is traded.
func (w *world) trade(t *testing.T, pair string, buckets int) {
	t.Helper()
	var candles []market.Candle
	var trades []market.Trade
	for n := range buckets {
		at := apitest.Start.Add(time.Duration(n-buckets+1) * 5 * time.Minute).UnixMilli()
		trades = append(trades, market.Trade{Side: market.Buy, Time: at, Tid: int64(n), Px: dec(t, "100000"), Sz: dec(t, "10")})
		c := market.Candle{OpenTime: at}
		c.Add(&trades[n])
		candles = append(candles, c)
	}
	if pair == pepe {
		datatest.PutKlines(t, w.series, "kPEPE", trades...)
		candles = nil // its K-lines are those of its domain alone
	}
	for _, tier := range []market.Interval{market.Minute5, market.Hour1} {
		datatest.PutPairKlines(t, w.series, pair, tier, market.Compose(append([]market.Candle(nil), candles...), tier.StartMs)...)
	}
	w.put(t, pairseries.Interest, pair, 5*(buckets-1)+1, func(n int) string { return strconv.Itoa(1_000_000_000 + n/5*1_000_000) })
}

func TestTheLiquidationMapIsTheModelOfTurnoverAndOpenInterest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.trade(t, btc, 4)
	w.Get(t, w.SubKey, base+"/liquidation/map?dbkey="+btc+"&cycle=24h").Golden(t, "liquidation-map")
	w.Get(t, w.SubKey, base+"/estimated-liquidation/history?dbkey="+btc+"&limit=2&leverage=25").Golden(t, "estimated-liquidations")

	m := apitest.Data[catalog.LiquidationMap](t, w.Get(t, w.SubKey, base+"/liquidation/map?dbkey="+btc+"&leverage=10"))
	if len(m.DataMap) != 1 || len(m.DataMap["10"].Long) != 1 {
		t.Fatalf("of one leverage there is %+v", m)
	}
	// Three buckets opened a million each, of which 40 % at 10: longs are closed at 90,361.
	want := catalog.LiquidationRow{"90300", "90400", "1200000"}
	check.Equalf(t, want, m.DataMap["10"].Long[0], "longs of 10")
	all := apitest.Data[catalog.EstimatedLiquidationHistory](t, w.Get(t, w.SubKey, base+"/estimated-liquidation/history?dbkey="+btc))
	if len(all.TimePoints) != 4 {
		t.Errorf("%d times, 4 wanted", len(all.TimePoints))
	}
	from := apitest.Start.Add(-10 * time.Minute).UnixMilli()
	all = apitest.Data[catalog.EstimatedLiquidationHistory](t, w.Get(t, w.SubKey, fmt.Sprintf("%s/estimated-liquidation/history?dbkey=%s&start_time=%d&end_time=%d", base, btc, from, from+300_000)))
	if _, ok := all.TimePoints[strconv.FormatInt(from/1000, 10)]; !ok || len(all.TimePoints) != 2 {
		t.Errorf("between two times there are %d", len(all.TimePoints))
	}
}

func TestTheLiquidationMapOfThePerpetualExchangeIsOfItsOwnKLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.listPerps(t)
	w.trade(t, btc, 4)
	w.trade(t, pepe, 4)
	for _, query := range []string{"/liquidation/map?", "/liquidation/map?cycle=7d&", "/estimated-liquidation/history?"} {
		var maps [2]any
		for i, pair := range []string{btc, pepe} {
			maps[i] = apitest.Data[any](t, w.Get(t, w.SubKey, base+query+"dbkey="+pair))
		}
		if diff := cmp.Diff(maps[0], maps[1]); diff != "" || len(fmt.Sprint(maps[0])) < 200 {
			t.Errorf("%s (-exchange +perpetual exchange):\n%s", query, diff)
		}
	}
}

func TestNothingIsEstimatedWithoutOpenInterest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const spot = "btcusdt:binance"
	c := market.Candle{OpenTime: apitest.Start.UnixMilli()}
	c.Add(&market.Trade{Side: market.Buy, Time: c.OpenTime, Tid: 1, Px: dec(t, "100000"), Sz: dec(t, "10")})
	for _, tier := range []market.Interval{market.Minute5, market.Hour1} {
		datatest.PutPairKlines(t, w.series, spot, tier, c)
	}
	w.Get(t, w.SubKey, base+"/liquidation/map?dbkey=nobody&cycle=7d").Golden(t, "liquidation-map-empty")
	w.Get(t, w.SubKey, base+"/estimated-liquidation/history?dbkey=nobody&cycle=7d").Golden(t, "estimated-liquidations-empty")
	for _, query := range []string{"&cycle=7d", "&cycle=24h", "&leverage=10"} {
		now := apitest.Data[catalog.LiquidationMap](t, w.Get(t, w.SubKey, base+"/liquidation/map?dbkey="+spot+query))
		past := apitest.Data[catalog.EstimatedLiquidationHistory](t, w.Get(t, w.SubKey, base+"/estimated-liquidation/history?dbkey="+spot+query))
		if now.Time != nil || len(now.DataMap) > 0 || len(past.TimePoints) > 0 {
			t.Errorf("%s: %+v and %+v", query, now, past)
		}
	}
}

func TestPairsAreRankedByOpenInterest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := w.Now().UnixMilli()
	v := contracts.View{Time: now}
	for n, value := range []string{"300", "900.5", "500"} {
		pair := market.Pair{Key: fmt.Sprintf("c%dswapusdt:binance", n), Base: fmt.Sprintf("C%d", n), Quote: "USDT", Platform: "binance", Swap: true}
		v.Contracts = append(v.Contracts, contracts.Contract{Pair: pair, Size: dec(t, "12.5"), Value: dec(t, value), InterestTime: now})
	}
	v.Contracts = append(v.Contracts, contracts.Contract{Pair: market.Pair{Key: "unknownswapusdt:bybit"}})
	storetest.Publish(t, w.views, contracts.Published, v)
	w.put(t, pairseries.Interest, "c1swapusdt:binance", 90, func(n int) string { return strconv.Itoa(800 + n) })
	w.Get(t, w.SubKey, "/v2/futures/interest?currency=usd&lan=en&pageSize=2").Golden(t, "interest")
	list := apitest.Data[catalog.FuturesInterestList](t, w.Get(t, w.SubKey, "/v2/futures/interest?page=2&pageSize=2"))
	if len(list.List) != 1 || list.List[0].Key != "c0swapusdt:binance" || list.List[0].MarketName != "币安" || list.List[0].Trade != "" {
		t.Errorf("page 2 in yuan, of which no rate is known, is %+v", list)
	}
	storetest.Publish(t, w.views, rates.Published, rates.View{Days: []rates.Day{{Date: "2026-01-01", USD: "1", CNY: "7"}}})
	w.Move(time.Hour) // the view is read again
	list = apitest.Data[catalog.FuturesInterestList](t, w.Get(t, w.SubKey, "/v2/futures/interest?page=2&pageSize=2"))
	if len(list.List) != 1 || list.List[0].Trade != "2100" {
		t.Errorf("page 2 in yuan is %+v", list)
	}
	list = apitest.Data[catalog.FuturesInterestList](t, w.Get(t, w.SubKey, "/v2/futures/interest?page=1000"))
	if len(list.List) != 0 {
		t.Errorf("far behind the end is %+v", list)
	}
	for _, page := range []string{"1001", "922337203685477582"} { // of the latter, page times size is 4 in 64 bits
		w.Get(t, w.SubKey, "/v2/futures/interest?pageSize=20&page="+page).Refused(t, http.StatusBadRequest, "page")
	}
}

// A map and the trends of a page are made once while their rows are not written again.
func TestWhatHasNotChangedIsNotReadAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.trade(t, btc, 30)
	now := w.Now().UnixMilli()
	storetest.Publish(t, w.views, contracts.Published, contracts.View{Time: now, Contracts: []contracts.Contract{{Pair: market.Pair{Key: btc, Base: "BTC", Platform: "binance", Swap: true}, Value: dec(t, "5"), InterestTime: now}}})
	for path, keep := range map[string]time.Duration{"/v2/futures/interest?pageSize=1": trendFor, base + "/liquidation/map?dbkey=" + btc: mapFor, base + "/estimated-liquidation/history?dbkey=" + btc: mapFor} {
		first := w.Get(t, w.SubKey, path)
		reads := w.ReadUnits(t)
		w.Move(keep - time.Second)
		if again := w.Get(t, w.SubKey, path); w.ReadUnits(t) > 0 || string(again.Body) != string(first.Body) || reads == 0 || first.Status != http.StatusOK {
			t.Errorf("%s: %v units at first and %v again: %d %s", path, reads, w.ReadUnits(t), again.Status, again.Body)
		}
		w.Move(2 * time.Second)
		if w.Get(t, w.SubKey, path); w.ReadUnits(t) == 0 {
			t.Errorf("%s is kept for too long", path)
		}
	}
	one := apitest.Data[catalog.LiquidationMap](t, w.Get(t, w.SubKey, base+"/liquidation/map?leverage=25&dbkey="+btc))
	if len(one.DataMap) != 1 || len(one.DataMap["25"].Long) == 0 {
		t.Errorf("of one leverage there is %+v", one)
	}
}
