package main

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/datatest"
	"quotary/shared/data/tickers"
	"quotary/shared/gate/keys"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

const root = "/upgrade/v2/hl"

type world struct {
	*apitest.World
	series *store.Series
	views  *store.Views
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := new(world)
	w.World = apitest.Open(t, catalog.PerpMarket, func(open *apitest.World) {
		w.series, w.views = open.Series(), open.Views(t)
		newMarkets(w.series, w.views, open.Now).register(open.Family)
	})
	return w
}

// golden calls and compares with the golden file.
func (w *world) golden(t *testing.T, name, target string) {
	t.Helper()
	w.Get(t, w.SubKey, root+target).Golden(t, name)
}

func (w *world) publish(t *testing.T, list ...tickers.Ticker) {
	t.Helper()
	storetest.Publish(t, w.views, tickers.Published, tickers.View{Time: 1, Tickers: list})
}

// trade stores one trade every so often: number i buys (even) or sells (odd) 0.5
// at 100+i.
func (w *world) trade(t *testing.T, coin string, first time.Time, every time.Duration, n int) {
	t.Helper()
	trades := make([]market.Trade, n)
	for i := range trades {
		trades[i] = market.Trade{Coin: coin, Side: market.Buy, Px: dec(t, fmt.Sprint(100+i)), Sz: dec(t, "0.5"), Tid: int64(i + 1),
			Time: first.Add(time.Duration(i) * every).UnixMilli()}
		if i%2 == 1 {
			trades[i].Side = market.Sell
		}
	}
	datatest.PutKlines(t, w.series, coin, trades...)
}

func dec(t *testing.T, s string) market.Decimal {
	t.Helper()
	return must.Get(market.ParseDecimal(s))(t)
}

var someTickers = []tickers.Ticker{
	{Coin: "@107", Price: "33.245", Time: 1_700_000_000_000},
	{Coin: "BTC", Price: "30135.0", Time: 1_699_999_999_000},
	{Coin: "PURR/USDC", Price: "0.1", Time: 1},
	{Coin: "xyz:GOLD", Price: "4001.5", Time: 2},
}

func TestTickersAreTheLastPricesOfAllCoins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(t, someTickers...)
	w.golden(t, "tickers", "/tickers")
}

func TestATickerIsFoundByItsCoin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(t, someTickers...)
	w.golden(t, "ticker", "/tickers/coin/BTC")
	for path, want := range map[string]catalog.Ticker{
		"@107":        {Coin: "@107", Price: "33.245"},
		"PURR%2FUSDC": {Coin: "PURR/USDC", Price: "0.1"},
		"xyz:GOLD":    {Coin: "xyz:GOLD", Price: "4001.5"},
	} {
		got := apitest.Data[catalog.Ticker](t, w.Get(t, w.SubKey, root+"/tickers/coin/"+path))
		if got != want {
			t.Errorf("ticker of %s is %+v, want %+v", path, got, want)
		}
	}
}

func TestTickersFollowTheViewAfterItsPeriod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"/tickers", "/tickers/coin/BTC"} { // a coin is unknown where those that there are are known
		w.Get(t, w.SubKey, root+path).Refused(t, http.StatusServiceUnavailable, "have not arrived yet")
	}
	for _, price := range []string{"1.0", "2.0"} {
		w.publish(t, tickers.Ticker{Coin: "BTC", Price: price, Time: 1})
		w.Move(time.Minute) // beyond the age at which an older version is served
		got := apitest.Data[catalog.Ticker](t, w.Get(t, w.SubKey, root+"/tickers/coin/BTC"))
		if got.Price != price {
			t.Errorf("price is %s, want %s", got.Price, price)
		}
	}
}

// The day starts 38 s before a kline of every width up to 4h opens.
var start = time.Date(2026, 11, 20, 23, 59, 22, 0, time.UTC)

func TestKlinesWithTakerVolume(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.trade(t, "BTC", start, time.Second, 100)
	for _, interval := range []string{"15s", "30s", "1w"} { // stored, composed, opening on a Monday
		w.golden(t, "klines-"+interval, "/klines-with-taker-vol/BTC/"+interval)
	}
}

func TestEveryIntervalHoldsAllTradesAndOpensWhereItShould(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.trade(t, "xyz:GOLD", start, time.Second, 100)
	for interval, opens := range map[string]string{ // of the last kline; the last trade is at 00:01:01
		"1s": "00:01:01", "3s": "00:01:00", "5s": "00:01:00", "10s": "00:01:00", "15s": "00:01:00", "30s": "00:01:00",
		"1m": "00:01:00", "3m": "00:00:00", "5m": "00:00:00", "10m": "00:00:00", "15m": "00:00:00", "30m": "00:00:00",
		"1h": "00:00:00", "2h": "00:00:00", "4h": "00:00:00", "8h": "00:00:00", "12h": "00:00:00", "1d": "00:00:00", "1w": "",
	} {
		rows := apitest.Data[[]catalog.TakerKline](t, w.Get(t, w.SubKey, root+"/klines-with-taker-vol/xyz:GOLD/"+interval+"?limit=2000"))
		trades, bought := int64(0), int64(0)
		for _, k := range rows {
			trades += k.TC
			bought += k.TCBuyer
		}
		if trades != 100 || bought != 50 {
			t.Errorf("%s: %d trades, %d bought; want 100 and 50", interval, trades, bought)
		}
		want := "2026-11-21T" + opens + "Z"
		if interval == "1w" {
			want = "2026-11-16T00:00:00Z"
		}
		if got := time.UnixMilli(rows[len(rows)-1].OpenTime).UTC().Format(time.RFC3339); got != want {
			t.Errorf("%s: the last kline opens at %s, want %s", interval, got, want)
		}
	}
}

func TestKlinesAreTheNewestThatOpenInTheSpan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.trade(t, "BTC", start, 2*time.Second, 150) // odd seconds have no kline
	ms := start.UnixMilli()
	for query, want := range map[string][]int64{ // seconds after start
		"?limit=2":                               {296, 298},
		fmt.Sprintf("?startTime=%d&limit=3", ms): {294, 296, 298},
		fmt.Sprintf("?startTime=%d&endTime=%d", ms, ms+4000):                           {0, 2, 4},
		fmt.Sprintf("?startTime=%d&endTime=%d", ms+1, ms+4999):                         {2, 4},
		fmt.Sprintf("?startTime=%d&endTime=%d&limit=1", ms+1, ms+4999):                 {4},
		fmt.Sprintf("?endTime=%d", ms+2500):                                            {0, 2},
		fmt.Sprintf("?startTime=%d", ms+400_000):                                       {},
		fmt.Sprintf("?startTime=%d&endTime=%d", ms+1000, ms+1999):                      {},
		fmt.Sprintf("?startTime=0&endTime=%d", int64(253402300799999)) + "&limit=1":    {298},
		fmt.Sprintf("?startTime=%d&endTime=%d", int64(99999999999999), 99999999999999): {},
	} {
		rows := apitest.Data[[]catalog.TakerKline](t, w.Get(t, w.SubKey, root+"/klines-with-taker-vol/BTC/1s"+query))
		got := []int64{}
		for _, k := range rows {
			got = append(got, (k.OpenTime-ms)/1000)
		}
		check.Equalf(t, want, got, "%s", query)
	}
	rows := apitest.Data[[]catalog.TakerKline](t, w.Get(t, w.SubKey, root+"/klines-with-taker-vol/BTC/1s"))
	if len(rows) != 100 {
		t.Errorf("%d klines without a limit, want 100", len(rows))
	}
}

// A key whose span is an hour pages back by endTime and limit: across a year without trades too.
func TestKlinesAreReadBackToTheFirstThatIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	quota := int64(100)
	key := w.Issue(t, w.Primary, keys.NewSubKey{Name: "short", MonthlyQuota: &quota, MaxTimeRange: 3600})
	first := start.AddDate(-1, 0, 0)
	w.trade(t, "BTC", first, time.Second, 1)
	w.trade(t, "BTC", start.Add(-50*time.Hour), time.Hour, 50)
	for interval, width := range map[string]time.Duration{"1m": time.Minute, "4h": 4 * time.Hour, "1d": 24 * time.Hour} {
		var opens []int64
		for before := apitest.Start.UnixMilli(); ; before = opens[len(opens)-1] - 1 {
			rows := apitest.Data[[]catalog.TakerKline](t, w.Get(t, key, fmt.Sprintf("%s/klines-with-taker-vol/BTC/%s?endTime=%d&limit=20", root, interval, before)))
			if len(rows) == 0 {
				break
			}
			for i := range rows {
				opens = append(opens, rows[len(rows)-1-i].OpenTime)
			}
		}
		if want := first.Truncate(width).UnixMilli(); opens[len(opens)-1] != want || !slices.IsSortedFunc(opens, func(a, b int64) int { return cmp.Compare(b, a) }) {
			t.Errorf("%s: the last of %d opens at %d, want %d; all are %v", interval, len(opens), opens[len(opens)-1], want, opens)
		}
	}
}

func TestACoinWithASlashIsFoundWhereverItStands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.trade(t, "PURR/USDC", start, time.Second, 100)
	for _, coin := range []string{"PURR/USDC", "PURR%2FUSDC"} {
		if rows := apitest.Data[[]catalog.TakerKline](t, w.Get(t, w.SubKey, root+"/klines-with-taker-vol/"+coin+"/1m")); len(rows) != 3 {
			t.Errorf("%s: %d klines", coin, len(rows))
		}
	}
	w.Get(t, w.SubKey, root+"/klines-with-taker-vol/PURR/USDC").Refused(t, http.StatusBadRequest, "invalid interval")
	if answer := w.Get(t, w.SubKey, root+"/klines-with-taker-vol/BTC"); answer.Status != http.StatusNotFound {
		t.Errorf("without an interval: %d %s", answer.Status, answer.Body)
	}
}

func TestKlinesOfACoinWithoutTradesAreAnEmptyList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	answer := w.Get(t, w.SubKey, root+"/klines-with-taker-vol/btc/1m")
	if string(answer.Body) != `{"code":"0","msg":"success","data":[]}` {
		t.Errorf("status %d: %s", answer.Status, answer.Body)
	}
}

func TestTheTimeSpanOfAKeyBoundsKlines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	quota := int64(10)
	key := w.Issue(t, w.Primary, keys.NewSubKey{Name: "short", MonthlyQuota: &quota, MaxTimeRange: 3600})
	now := apitest.Start.UnixMilli()
	for query, status := range map[string]int{
		fmt.Sprintf("?startTime=%d", now-3_600_000):                   http.StatusOK,
		fmt.Sprintf("?startTime=%d", now-3_601_000):                   http.StatusBadRequest,
		fmt.Sprintf("?startTime=%d&endTime=%d", now-7_200_000, now-1): http.StatusBadRequest,
		fmt.Sprintf("?startTime=%d&endTime=%d", 1_000_000, 1_000_000): http.StatusOK,
		"?limit=2000": http.StatusOK, // nothing is checked without a start
	} {
		answer := w.Get(t, key, root+"/klines-with-taker-vol/BTC/1m"+query)
		if answer.Status != status {
			t.Errorf("%s answers %d, want %d: %s", query, answer.Status, status, answer.Body)
		}
	}
}
