package binance_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/binance"
	"quotary/shared/market"
	"quotary/shared/upstream"
)

// Whoever took the exchange at its word that minutes have ended which are to come would never ask
// for another one.
func TestKlinesThatWereNotAskedForAreRefused(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 11, 40, 30, 0, time.UTC)
	minute := now.Truncate(time.Minute)
	for name, c := range map[string]struct {
		opens []time.Time
		want  error
	}{
		"the open one":       {[]time.Time{minute.Add(-time.Minute), minute}, nil},
		"of a clock ahead":   {[]time.Time{minute, minute.Add(time.Minute)}, nil},
		"of the future":      {[]time.Time{minute, minute.Add(2 * time.Minute)}, source.ErrFuture},
		"of another century": {[]time.Time{minute, time.Date(9710, 1, 1, 0, 0, 0, 0, time.UTC)}, source.ErrFuture},
		"too many":           {[]time.Time{minute.Add(-2 * time.Minute), minute.Add(-time.Minute), minute}, upstream.ErrBounds},
	} {
		var rows []string
		for _, open := range c.opens {
			rows = append(rows, fmt.Sprintf(`[%d,"1","1","1","1","1",%d,"1",1,"1","1","0"]`, open.UnixMilli(), open.UnixMilli()+59_999))
		}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "["+strings.Join(rows, ",")+"]")
		}))
		t.Cleanup(server.Close)
		of := binance.Open(server.URL, slog.New(slog.DiscardHandler))[0]
		of.Now = func() time.Time { return now }
		run, err := of.Klines(t.Context(), market.Pair{Key: "btcusdt:binance", Symbol: "BTCUSDT"}, market.Minute1, c.opens[0].UnixMilli(), 1)
		last := c.opens[len(c.opens)-1].UnixMilli()
		if !errors.Is(err, c.want) || err == nil && run.To != last || err != nil && run.To == last {
			t.Errorf("%s: until %d, %v", name, run.To, err)
		}
	}
}
