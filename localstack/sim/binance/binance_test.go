package binance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"quotary/localstack/sim/simtest"
	"quotary/shared/testing/must"
)

var now = time.Date(2026, 11, 20, 11, 40, 30, 0, time.UTC)

func open(t *testing.T) (*Exchange, string) {
	t.Helper()
	x := New(Config{Clock: func() time.Time { return now }})
	server := httptest.NewServer(x.Handler())
	t.Cleanup(server.Close)
	return x, server.URL
}

func get(t *testing.T, url string, status int, into any) http.Header {
	t.Helper()
	response, body := simtest.Get(t, url)
	if response.StatusCode != status {
		t.Fatalf("%s: status %d, want %d", url, response.StatusCode, status)
	}
	must.Do(t, json.Unmarshal(body, into))
	return response.Header
}

func TestKlinesAreTheSumsOfTrades(t *testing.T) {
	t.Parallel()
	x, url := open(t)
	m := x.Market("SOLUSDT", false)
	var rows [][]any
	header := get(t, url+"/api/v3/klines?symbol=SOLUSDT&interval=15m&limit=3", http.StatusOK, &rows)
	if header.Get("X-Simulated") != "true" || len(rows) != 3 {
		t.Fatalf("%v, %v", header, rows)
	}
	for i, row := range rows {
		open := now.Truncate(15 * time.Minute).Add(time.Duration(i-2) * 15 * time.Minute).UnixMilli()
		var k Kline
		for _, trade := range m.Trades(open, min(open+15*minute, now.UnixMilli())) {
			k.Add(&trade)
		}
		want := fmt.Sprint([]any{float64(open), m.Price(k.First), m.Price(k.High), m.Price(k.Low), m.Price(k.Last), m.Lots(k.Size), float64(open + 15*minute - 1),
			m.Amount(k.Quote), float64(k.Fills), m.Lots(k.SizeBought), m.Amount(k.QuoteBought), "0"})
		if got := fmt.Sprint(row); got != want {
			t.Errorf("row %d is %s, want %s", i, got, want)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	x, url := open(t)
	var f fault
	get(t, url+"/fapi/v1/klines?symbol=NOTHING&interval=1m", http.StatusBadRequest, &f)
	if f.Code != -1121 {
		t.Errorf("%+v", f)
	}
	get(t, url+"/fapi/v1/klines?symbol=BTCUSDT&interval=1s", http.StatusBadRequest, &f)
	if f.Code != -1120 {
		t.Errorf("%+v", f)
	}
	x.spend(usdm, usdm.limit())
	if header := get(t, url+"/fapi/v1/klines?symbol=BTCUSDT&interval=1m", http.StatusTooManyRequests, &f); header.Get("Retry-After") != "30" {
		t.Errorf("%v", header)
	}
	x.Ban(http.StatusTeapot, 10*time.Second)
	if header := get(t, url+"/api/v3/exchangeInfo", http.StatusTeapot, &f); header.Get("Retry-After") != "11" {
		t.Errorf("%v", header)
	}
}
