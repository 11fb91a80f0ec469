package okx

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

func get(t *testing.T, url string) (status int, code string, rows []json.RawMessage) {
	t.Helper()
	response, body := simtest.Get(t, url)
	var a struct {
		Code string
		Data []json.RawMessage
	}
	must.Do(t, json.Unmarshal(body, &a))
	return response.StatusCode, a.Code, a.Data
}

func TestCandlesComeNewestFirstWithinTheirReach(t *testing.T) {
	t.Parallel()
	x := New(Config{Clock: func() time.Time { return now }})
	server := httptest.NewServer(x.Handler())
	t.Cleanup(server.Close)
	newest := now.Truncate(time.Minute).UnixMilli()
	for _, c := range []struct {
		path, query    string
		rows           int
		first, last    int64
		ended, endedOf string
	}{
		{"candles", "limit=300", 300, newest, newest - 299*minute, "0", "1"},
		{"candles", fmt.Sprintf("before=%d&after=%d", newest-5*minute-1, newest-2*minute), 3, newest - 3*minute, newest - 5*minute, "1", "1"},
		{"candles", fmt.Sprintf("before=%d", newest-5*minute), 5, newest, newest - 4*minute, "0", "1"},
		{"candles", fmt.Sprintf("after=%d&limit=300", newest-1400*minute), 39, newest - 1401*minute, newest - 1439*minute, "1", "1"},
		{"history-candles", fmt.Sprintf("after=%d&limit=300", newest-1400*minute), 100, newest - 1401*minute, newest - 1500*minute, "1", "1"},
		{"history-candles", "limit=1", 1, newest - minute, newest - minute, "1", "1"},
		{"candles", fmt.Sprintf("after=%d", x.since), 0, 0, 0, "", ""},
	} {
		_, code, rows := get(t, server.URL+"/api/v5/market/"+c.path+"?instId=BTC-USDT-SWAP&bar=1m&"+c.query)
		if code != "0" || len(rows) != c.rows {
			t.Errorf("%s %s: code %s, %d rows, want %d", c.path, c.query, code, len(rows), c.rows)
			continue
		}
		if c.rows == 0 {
			continue
		}
		var first, last []string
		if json.Unmarshal(rows[0], &first) != nil || json.Unmarshal(rows[len(rows)-1], &last) != nil ||
			first[0] != text(c.first) || last[0] != text(c.last) || first[8] != c.ended || last[8] != c.endedOf {
			t.Errorf("%s %s: from %v to %v", c.path, c.query, first, last)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	x := New(Config{Clock: func() time.Time { return now }})
	server := httptest.NewServer(x.Handler())
	t.Cleanup(server.Close)
	if _, code, _ := get(t, server.URL+"/api/v5/market/candles?instId=NO-SUCH&bar=1m"); code != "51001" {
		t.Errorf("an unknown instrument: %s", code)
	}
	if _, code, _ := get(t, server.URL+"/api/v5/market/candles?instId=BTC-USDT&bar=1s"); code != "51000" {
		t.Errorf("an unknown bar: %s", code)
	}
	x.Refuse(1)
	if status, code, _ := get(t, server.URL+"/api/v5/public/instruments?instType=SPOT"); status != http.StatusTooManyRequests || code != "50011" {
		t.Errorf("refused: %d, %s", status, code)
	}
	for n := range 21 {
		if x.allow("/path", 20) != (n < 20) {
			t.Errorf("request %d of two seconds", n)
		}
	}
}
