package main

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/coins"
	"quotary/shared/data/datatest"
	"quotary/shared/data/followrequests"
	"quotary/shared/data/pairpast"
	"quotary/shared/data/pairs"
	"quotary/shared/data/tickers"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

const path = "/v2/commonKline/dataRecords"

// world has an hour of minutes of a pair, the last of them the one that is open at
// apitest.Start, 10:00 UTC; every tenth is without a trade.
type world struct {
	*apitest.World
	series *store.Series
	views  *store.Views
	wanted *followrequests.Store
	reader *reader
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := new(world)
	w.World = apitest.Open(t, catalog.Kline, func(open *apitest.World) {
		w.series, w.views = open.Series(), open.Views(t)
		w.wanted = followrequests.Pairs.Open(open.Documents)
		w.reader = newReader(w.series, w.views, w.wanted, open.Now)
		w.reader.register(open.Family)
	})
	w.put(t, "btcusdt:binance")
	w.stored(t, "btcusdt:binance", pairpast.AllStored)
	listed := pairs.View{Pairs: []pairs.Pair{
		{Pair: market.Pair{Key: "btcusdt:binance", Base: "BTC"}, Followed: true}, {Pair: market.Pair{Key: "btcswapusdt:binance", Base: "BTC", Swap: true}, Followed: true},
		{Pair: market.Pair{Key: "ethusdt:binance", Base: "ETH"}}, {Pair: market.Pair{Key: "nowusdt:binance", Base: "NOW"}},
	}}
	storetest.Publish(t, w.views, pairs.Published, listed)
	storetest.Publish(t, w.views, coins.Published, coins.View{Coins: []coins.Coin{{Key: "bitcoin", Listing: &coins.Listing{Symbol: "btc"}}}})
	storetest.Publish(t, w.views, tickers.Published, tickers.View{Tickers: []tickers.Ticker{{Coin: "kPEPE", Price: "0.01"}}})
	return w
}

// put stores the hour of a pair.
func (w *world) put(t *testing.T, pair string) {
	t.Helper()
	var minutes []market.Candle
	for i := range 61 {
		if i%10 == 9 {
			continue
		}
		c := market.Candle{OpenTime: apitest.Start.Add(time.Duration(i-60) * time.Minute).UnixMilli()}
		for n, px := range []string{"61000.5", "61010.25", "60990.000001"} {
			c.Add(&market.Trade{Side: market.Buy, Time: c.OpenTime, Tid: int64(n), Px: dec(t, px).Add(dec(t, strconv.Itoa(i))), Sz: dec(t, "0.12345678")})
		}
		minutes = append(minutes, c)
	}
	for _, tier := range market.PairTiers {
		datatest.PutPairKlines(t, w.series, pair, tier, market.Compose(append([]market.Candle(nil), minutes...), tier.StartMs)...)
	}
}

func dec(t *testing.T, text string) market.Decimal {
	t.Helper()
	return must.Get(market.ParseDecimal(text))(t)
}

func TestKlinesOfAPair(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Get(t, w.SubKey, path+"?symbol=btcusdt:binance&period=900&size=3").Golden(t, "common-15m")
	rows := func(query string) []catalog.KlineRow {
		t.Helper()
		return apitest.Data[catalog.CommonKlineList](t, w.Get(t, w.SubKey, path+"?"+query)).KlineData
	}
	if got := rows("dbkey=BTCUSDT:binance&period=60&size=500"); len(got) != 55 {
		t.Errorf("%d minutes, want the 55 with trades", len(got))
	}
	if got := rows("key=btcusdt:binance"); len(got) != 2 {
		t.Errorf("%d hours by default, want the one that has ended and the open one", len(got))
	}
	if got := rows("dbKey=btcusdt:binance&period=60&size=2&since=" + "1795254060"); len(got) != 2 || *got[1][0] != "1795254060" {
		t.Errorf("up to a time: %v", got)
	}
	if got := rows("symbol=btcusdt:binance&period=60&since=1700000000"); len(got) != 0 {
		t.Errorf("before everything that is stored: %v", got)
	}
}

func TestAKeyThatNobodyKnowsHasNoKlines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, key := range []string{"nothing:nowhere", "i:ixic:nasdaq", "btcusdt"} {
		a := w.Get(t, w.SubKey, path+"?symbol="+key)
		if want := `"data":{"kline_data":[]}`; a.Status != http.StatusOK || !strings.Contains(string(a.Body), want) {
			t.Errorf("%s: status %d: %s", key, a.Status, a.Body)
		}
	}
}

func TestAPairThatIsNotFollowedIsAskedForAndWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const key = "ethusdt:binance"
	w.reader.lookup.Patience = time.Minute // the ingester of this test is in no hurry
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		list := apitest.Data[catalog.CommonKlineList](t, w.Get(t, w.SubKey, path+"?symbol="+key+"&period=60&size=3")).KlineData
		if len(list) != 3 {
			t.Errorf("the newest K-lines are %v", list)
		}
	}()
	testenv.Until(t, "the ingester is told", func() bool {
		list, err := w.wanted.List(t.Context(), w.Now())
		return err == nil && slices.Equal(list.Things(), []string{key})
	})
	w.put(t, key)
	hour := apitest.Start.Add(-time.Hour).UnixMilli()
	w.stored(t, key, pairpast.Past{Minutes: hour, Hours: hour, FourHours: hour})
	<-answered
	if list, err := w.wanted.List(t.Context(), w.Now().Add(25*time.Hour)); err != nil || len(list) != 0 {
		t.Errorf("a day later %v are wanted, %v", list, err)
	}
}

func TestAPairThatAnotherRequestHasWaitedForIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const key = "ethusdt:binance"
	testenv.Until(t, "the pair is wanted", func() bool {
		_, err := w.wanted.Want(t.Context(), w.Primary.AccessKey, []string{key}, w.Now())
		return err == nil
	})
	w.Move(w.wanted.Wait)
	w.reader.lookup.Patience = time.Hour
	w.Get(t, w.SubKey, path+"?symbol="+key+"&period=60").Refused(t, http.StatusServiceUnavailable, key)
}

// What cannot be all of an answer is not read: the refusal that follows is free.
func TestWhatCannotBeAllIsNotRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.reader.lookup.Patience = 0
	const key = "ethusdt:binance"
	w.put(t, key)
	for _, query := range []string{"&period=60&size=500", "&period=604800&size=500", "&period=60&size=2"} {
		w.Get(t, w.SubKey, path+"?symbol="+key+query).Refused(t, http.StatusServiceUnavailable, key)
		if units := w.ReadUnits(t); units > 2 { // the pair's marker
			t.Errorf("%s: %v units were read for nothing", query, units)
		}
	}
}

// What was read and was not all, as some minutes are without a trade, is not read again until
// more is stored, but for fewer K-lines.
func TestWhatWasNotAllIsNotReadAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.reader.lookup.Patience = 0
	const key, most = "ethusdt:binance", 60
	w.put(t, key)
	hour := apitest.Start.Add(-time.Hour).UnixMilli()
	w.stored(t, key, pairpast.Past{Minutes: hour, Hours: hour, FourHours: hour})
	ask := func(size int, answered bool) (units float64) {
		t.Helper()
		answer := w.Get(t, w.SubKey, fmt.Sprintf("%s?symbol=%s&period=60&size=%d", path, key, size))
		if answered == (answer.Status != http.StatusOK) {
			t.Errorf("%d K-lines: status %d", size, answer.Status)
		}
		return w.ReadUnits(t)
	}
	first := ask(most, false)
	for _, size := range []int{most, most, 500} {
		if units := ask(size, false); units > 2 || units >= first {
			t.Errorf("%d K-lines: %v units were read for nothing, %v before", size, units, first)
		}
	}
	ask(55, true)
	w.stored(t, key, pairpast.Past{Minutes: hour - 1, Hours: hour, FourHours: hour})
	if units := ask(most, false); units <= 2 {
		t.Errorf("when more is stored %v units are read, %v before", units, first)
	}
	w.stored(t, key, pairpast.AllStored)
	ask(most, true)
}

// TestKlinesAreNeverAPartOfWhatThereIs: while the past of a pair is being read, a request is
// answered if what it asks for is stored.
func TestKlinesAreNeverAPartOfWhatThereIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.reader.lookup.Patience = 0
	const followed, other = "btcusdt:binance", "ethusdt:binance"
	w.put(t, other)
	hour, quarter := apitest.Start.Add(-time.Hour).UnixMilli(), apitest.Start.Add(-15*time.Minute).UnixMilli()
	for _, key := range []string{followed, other} {
		for _, tt := range []struct {
			past     pairpast.Past
			complete map[string]int // rows by query; all others are not ready
		}{
			{pairpast.Nothing, nil},
			{pairpast.Past{Minutes: quarter, Hours: quarter, FourHours: quarter, Days: quarter}, map[string]int{"period=60&size=2": 2, "period=900&size=2": 2}},
			{pairpast.Past{Minutes: hour, Hours: hour, FourHours: hour}, map[string]int{"period=60&size=2": 2, "period=900&size=2": 2, "period=60&size=55": 55, "period=3600&size=2": 2, "period=86400&open_time=8": 1}},
			{pairpast.Past{Hours: hour, FourHours: hour}, map[string]int{"period=60&since=1700000000": 0, "period=60&size=2": 2, "period=900&size=2": 2, "period=60&size=55": 55, "period=60&size=500": 55, "period=3600&size=2": 2, "period=86400&open_time=8": 1}},
			{pairpast.AllStored, map[string]int{"period=60&size=2": 2, "period=900&size=2": 2, "period=60&size=55": 55, "period=60&size=500": 55, "period=3600&size=2": 2, "period=3600": 2, "period=86400&open_time=8": 1, "period=60&since=1700000000": 0}},
		} {
			w.stored(t, key, tt.past)
			for _, query := range []string{"period=60&size=2", "period=900&size=2", "period=60&size=55", "period=60&size=500", "period=3600&size=2", "period=3600", "period=86400&open_time=8", "period=60&since=1700000000"} {
				answer := w.Get(t, w.SubKey, path+"?symbol="+key+"&"+query)
				want, complete := tt.complete[query]
				if complete == (answer.Status != http.StatusOK) {
					t.Errorf("%s of %+v: status %d", query, tt.past, answer.Status)
				} else if !complete {
					answer.Refused(t, http.StatusServiceUnavailable, key, "for the first time")
					if answer.Header["Retry-After"] != "3" {
						t.Errorf("%s: again after %q", query, answer.Header["Retry-After"])
					}
				} else if got := apitest.Data[catalog.CommonKlineList](t, answer).KlineData; len(got) != want {
					t.Errorf("%s of %+v: %d rows, want %d", query, tt.past, len(got), want)
				}
			}
		}
	}
}

// stored says how much of a pair is stored, as the ingester does.
func (w *world) stored(t *testing.T, key string, past pairpast.Past) {
	t.Helper()
	storetest.PutSeries(t, w.series, pairpast.Row(key, pairpast.Klines, past))
}

func TestKlinesOfThePerpetualExchangeAreThoseOfItsTrades(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 90 {
		at := apitest.Start.Add(time.Duration(i-89) * time.Minute).UnixMilli()
		datatest.PutKlines(t, w.series, "kPEPE", market.Trade{Side: market.Buy, Time: at, Tid: int64(i), Px: dec(t, strconv.Itoa(i+1)), Sz: dec(t, "2")})
	}
	got := apitest.Data[catalog.CommonKlineList](t, w.Get(t, w.SubKey, path+"?symbol=kpepeswapusdc:hyperliquid&period=60&size=2")).KlineData
	start := apitest.Start.Unix()
	if want := fmt.Sprintf("%d 89 89 89 89 2 ;%d 90 90 90 90 2 ;", start-60, start); text(got) != want {
		t.Errorf("%s, want %s", text(got), want)
	}
	if got := apitest.Data[catalog.CommonKlineList](t, w.Get(t, w.SubKey, path+"?symbol=nobodyswapusdc:hyperliquid&period=60")).KlineData; len(got) != 0 {
		t.Errorf("of an unknown coin there are %v", got)
	}
}

func TestPairsThatAnIndicatorCovers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const path = "/v2/indicatorKline/getTradingPair"
	w.Get(t, w.SubKey, path+"?coinType=bitcoin&indicator_key=fundflow").Golden(t, "indicator-pairs")
	for query, want := range map[string]string{
		"coinType=BTC&indicator_key=fr": "btcswapusdt:binance", "coinType=ethereum&indicator_key=fundflow": "", "coinType=ETH&indicator_key=fundflow": "",
		"coinType=bitcoin&indicator_key=basis": "", "coinType=nothing&indicator_key=fundflow": "", "coinType=USDT&indicator_key=fundflow": "",
	} {
		got := apitest.Data[catalog.IndicatorPairList](t, w.Get(t, w.SubKey, path+"?"+query)).List
		if got == nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
	w.Get(t, w.SubKey, path+"?coinType=bitcoin&indicator_key=nothing").Refused(t, http.StatusBadRequest,
		"fundflow, ttsi, ttmu, position, lsur, tvolume, ftbs, basis, mlr, bsv, fr, aibst, aili, aiaggtrade")
	w.Get(t, w.SubKey, path+"?indicator_key=fr").Refused(t, http.StatusBadRequest, "coinType")
	w.Get(t, w.SubKey, path+"?coinType=bitcoin").Refused(t, http.StatusBadRequest, "indicator_key")
}
