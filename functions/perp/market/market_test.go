package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/keys"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
)

var update = apitest.Update

const root = "/upgrade/v2/hl"

type world struct {
	*apitest.World
	series *store.Series
	views  *store.Views
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: apitest.New(t, string(catalog.PerpMarket))}
	w.series = store.NewSeries(w.DB, w.Prefix+schema.SeriesTable)
	client, bucket := storetest.S3(t)
	w.views = store.NewViews(client, bucket)
	newMarkets(w.series, w.views, w.Now).register(w.Family)
	if err := w.Family.Complete(); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) publish(t *testing.T, body string) {
	t.Helper()
	if err := w.views.Publish(t.Context(), store.TickersView, []byte(body)); err != nil {
		t.Fatal(err)
	}
}

// trade stores the klines of a coin in every tier, as the ingester does, from
// one trade a second: number i buys (even) or sells (odd) 0.5 at 100+i.
func (w *world) trade(t *testing.T, coin string, first time.Time, every time.Duration, n int) {
	t.Helper()
	var rows []store.SeriesRow
	for _, tier := range market.KlineTiers {
		byOpen := map[int64]*market.Candle{}
		var opens []int64
		for i := range n {
			tr := market.Trade{Coin: coin, Side: market.Buy, Px: dec(t, fmt.Sprint(100+i)), Sz: dec(t, "0.5"), Tid: int64(i + 1),
				Time: first.Add(time.Duration(i) * every).UnixMilli()}
			if i%2 == 1 {
				tr.Side = market.Sell
			}
			open := tier.StartMs(tr.Time)
			if byOpen[open] == nil {
				byOpen[open] = &market.Candle{OpenTime: open}
				opens = append(opens, open)
			}
			byOpen[open].Add(&tr)
		}
		for _, open := range opens {
			rows = append(rows, store.SeriesRow{
				SeriesKey: store.SeriesKey{Name: store.KlineSeries, Key: coin, Interval: tier.String()},
				Point:     store.Point{Time: time.UnixMilli(open), Body: byOpen[open].AppendJSON(nil), Extra: []byte("trade ids")},
			})
		}
	}
	if err := w.series.Put(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
}

func dec(t *testing.T, s string) market.Decimal {
	t.Helper()
	d, err := market.ParseDecimal(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const someTickers = `{"time":1700000000000,"tickers":[
	{"coin":"@107","price":"33.245","time":1700000000000},
	{"coin":"BTC","price":"30135.0","time":1699999999000},
	{"coin":"PURR/USDC","price":"0.1","time":1},
	{"coin":"xyz:GOLD","price":"4001.5","time":2}]}`

func TestTickersAreTheLastPricesOfAllCoins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(t, someTickers)
	answer := w.Get(t, w.SubKey, root+"/tickers")
	if answer.Status != http.StatusOK {
		t.Fatalf("status %d: %s", answer.Status, answer.Body)
	}
	apitest.Golden(t, *update, "tickers", answer.Body)
}

func TestATickerIsFoundByItsCoin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(t, someTickers)
	apitest.Golden(t, *update, "ticker", w.Get(t, w.SubKey, root+"/tickers/coin/BTC").Body)
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
	if got := w.Get(t, w.SubKey, root+"/tickers"); string(got.Body) != `{"code":"0","msg":"success","data":[]}` {
		t.Errorf("before the first trade: %s", got.Body)
	}
	for i, price := range []string{"1.0", "2.0"} {
		w.publish(t, fmt.Sprintf(`{"time":%d,"tickers":[{"coin":"BTC","price":%q,"time":1}]}`, i, price))
		w.Move(time.Minute) // beyond the age at which an older version is served
		got := apitest.Data[catalog.Ticker](t, w.Get(t, w.SubKey, root+"/tickers/coin/BTC"))
		if got.Price != price {
			t.Errorf("price is %s, want %s", got.Price, price)
		}
	}
}

func TestABrokenViewIsAnInternalErrorThatTellsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(t, `{"tickers":"none"}`)
	for _, path := range []string{"/tickers", "/tickers/coin/BTC"} {
		answer := w.Get(t, w.SubKey, root+path)
		if answer.Status != http.StatusInternalServerError || apitest.Message(t, answer) != "internal error" {
			t.Errorf("status %d: %s", answer.Status, answer.Body)
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
		answer := w.Get(t, w.SubKey, root+"/klines-with-taker-vol/BTC/"+interval)
		if answer.Status != http.StatusOK {
			t.Fatalf("status %d: %s", answer.Status, answer.Body)
		}
		apitest.Golden(t, *update, "klines-"+interval, answer.Body)
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
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	rows := apitest.Data[[]catalog.TakerKline](t, w.Get(t, w.SubKey, root+"/klines-with-taker-vol/BTC/1s"))
	if len(rows) != 100 {
		t.Errorf("%d klines without a limit, want 100", len(rows))
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

func TestWhatIsWrongIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(t, someTickers)
	const klines = "/klines-with-taker-vol/BTC/"
	for target, want := range map[string]string{
		"/tickers/coin/NOPE":                       "400 unknown coin NOPE",
		"/tickers/coin/btc":                        "400 unknown coin btc",
		"/tickers/coin/B%20C":                      "400 invalid coin: must be a coin name",
		"/tickers/coin/" + strings.Repeat("X", 33): "400 invalid coin",
		"/tickers/coin/%FF":                        "400 invalid coin",
		"/klines-with-taker-vol/B%20C/1m":          "400 invalid coin",
		klines + "2m":                              "400 invalid interval: must be one of 1s, 3s, 5s",
		klines + "1M":                              "400 invalid interval",
		klines + "1m?limit=0":                      "400 invalid limit: must be a whole number from 1 to 2000",
		klines + "1m?limit=2001":                   "400 invalid limit",
		klines + "1m?limit=ten":                    "400 invalid limit",
		klines + "1m?limit=1&limit=2":              "400 limit is given more than once",
		klines + "1m?startTime=yesterday":          "400 invalid startTime: must be a time in milliseconds",
		klines + "1m?startTime=-1":                 "400 invalid startTime",
		klines + "1m?endTime=1e3":                  "400 invalid endTime",
		klines + "1m?startTime=2&endTime=1":        "400 the end of the time range lies before its start",
	} {
		answer := w.Get(t, w.SubKey, root+target)
		if got := fmt.Sprint(answer.Status, " ", apitest.Message(t, answer)); !strings.HasPrefix(got, want) {
			t.Errorf("%s answers %q, want %q", target, got, want)
		}
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

func TestAKeyWithoutTheActionIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	level := keys.Allow("HL_TICKERS")
	if err := w.Keys.PutLevel(t.Context(), w.Primary.AccessKey, "few", level); err != nil {
		t.Fatal(err)
	}
	quota := int64(10)
	key := w.Issue(t, w.Primary, keys.NewSubKey{Name: "few", Level: "few", MonthlyQuota: &quota})
	for path, status := range map[string]int{"/tickers": 200, "/klines-with-taker-vol/BTC/1m": 403} {
		if answer := w.Get(t, key, root+path); answer.Status != status {
			t.Errorf("%s answers %d, want %d", path, answer.Status, status)
		}
		if answer := w.Get(t, w.Primary, root+path); answer.Status != 403 {
			t.Errorf("%s answers a primary key with %d, want 403", path, answer.Status)
		}
		if answer := w.Get(t, apitest.Key{}, root+path); answer.Status != 401 {
			t.Errorf("%s answers without a signature with %d, want 401", path, answer.Status)
		}
	}
}
