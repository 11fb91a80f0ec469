package binance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"quotary/localstack/prices"
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
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != status {
		t.Fatalf("%s: status %d, want %d", url, resp.StatusCode, status)
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
	return resp.Header
}

func TestTradesCountUpAndFollowFromTheSeed(t *testing.T) {
	t.Parallel()
	from := now.Add(-2 * time.Hour).UnixMilli()
	for i, m := range markets(1) {
		again, other := markets(1)[i], markets(2)[i]
		var before Trade
		same := true
		for n, trade := range m.Trades(from, now.UnixMilli()) {
			if n > 0 && (trade.ID != before.ID+1 || trade.First != before.Last+1 || trade.Time < before.Time) {
				t.Fatalf("%s: %+v after %+v", m.Symbol, trade, before)
			}
			if trade.Price < 1 || trade.Size < 1 {
				t.Fatalf("%s: %+v", m.Symbol, trade)
			}
			before = trade
			if again.Trades(trade.Time, trade.Time+1)[0] != trade {
				t.Fatalf("%s: %+v is another one when asked again", m.Symbol, trade)
			}
			same = same && other.Trades(from, now.UnixMilli())[n] == trade
			if n == 50 {
				break
			}
		}
		if same {
			t.Errorf("%s: another seed makes the same trades", m.Symbol)
		}
	}
}

// Spot and perpetual are one market, which the other simulators show too.
func TestPricesAreThoseOfTheCoins(t *testing.T) {
	t.Parallel()
	at := now.UnixMilli()
	btc, eth, pepe := prices.Of(1, "BTC"), prices.Of(1, "ETH"), prices.Of(1, "PEPE")
	want := map[string]int64{"BTCUSDT": btc.At(at, 9), "ETHUSDT": eth.At(at, 9), "SOLUSDT": prices.Of(1, "SOL").At(at, 9),
		"ETHBTC": eth.At(at, 9) * 1_000_000 / (btc.At(at, 9) / 1000), "1000PEPEUSDT": pepe.At(at, 9) * 1000}
	for _, m := range markets(1) {
		price := m.price(at) * pow10(9-m.tick)
		if off := (price - want[m.Symbol]) * 1000 / want[m.Symbol]; off > 1 || off < -1 {
			t.Errorf("%s is at %s, the coin at %d", m.Symbol, m.Price(m.price(at)), want[m.Symbol])
		}
	}
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
			k.add(&trade)
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
	x.spend(true, swapLimit)
	if header := get(t, url+"/fapi/v1/klines?symbol=BTCUSDT&interval=1m", http.StatusTooManyRequests, &f); header.Get("Retry-After") != "30" {
		t.Errorf("%v", header)
	}
	x.Ban(http.StatusTeapot, 10*time.Second)
	if header := get(t, url+"/api/v3/exchangeInfo", http.StatusTeapot, &f); header.Get("Retry-After") != "11" {
		t.Errorf("%v", header)
	}
}

func TestDecimals(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{"61234.56": decimal(6123456, 2), "0.00005": decimal(5, 5), "7": decimal(7, 0), "0.0": decimal(0, 1)} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
