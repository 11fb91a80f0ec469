package bybit

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"quotary/functions/ingester/source/sourcetest"
	"quotary/shared/market"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
	"quotary/shared/upstream"
)

// serve answers as the exchange does, by path; it returns the linear perpetuals.
func serve(t *testing.T, handlers map[string]http.HandlerFunc) *Market {
	t.Helper()
	mux := http.NewServeMux()
	for path, h := range handlers {
		mux.HandleFunc(path, h)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return Open(server.URL, slog.New(slog.DiscardHandler))[1]
}

func TestContractsComeInPages(t *testing.T) {
	t.Parallel()
	pages := map[string]string{
		"": `{"retCode":0,"retMsg":"OK","result":{"category":"linear","list":[` +
			`{"symbol":"BTCUSDT","contractType":"LinearPerpetual","status":"Trading","baseCoin":"BTC","quoteCoin":"USDT"},` +
			`{"symbol":"NEWUSDT","contractType":"LinearPerpetual","status":"PreLaunch","baseCoin":"NEW","quoteCoin":"USDT"}],"nextPageCursor":"first%3DB"},"time":1790000000000}`,
		"first%3DB": `{"retCode":0,"retMsg":"OK","result":{"category":"linear","list":[` +
			`{"symbol":"BTC-25DEC26","contractType":"LinearFutures","status":"Trading","baseCoin":"BTC","quoteCoin":"USDC"},` +
			`{"symbol":"SHIB1000USDT","contractType":"LinearPerpetual","status":"Trading","baseCoin":"SHIB1000","quoteCoin":"USDT"}],"nextPageCursor":""},"time":1790000000000}`,
	}
	m := serve(t, map[string]http.HandlerFunc{"GET /v5/market/instruments-info": func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, pages[r.URL.Query().Get("cursor")])
	}})
	pairs, err := m.Pairs(t.Context())
	var keys []string
	for _, p := range pairs {
		keys = append(keys, p.Key)
	}
	if got := strings.Join(keys, " "); err != nil || got != "btcswapusdt:bybit shib1000swapusdt:bybit" {
		t.Errorf("%s, %v", got, err)
	}
}

// The exchange's clock says which rows have ended.
func TestKlinesEndAtTheExchangesClock(t *testing.T) {
	t.Parallel()
	const from = 1_790_000_040_000
	var asked atomic.Value
	m := serve(t, map[string]http.HandlerFunc{"GET /v5/market/kline": func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		switch {
		case q.Get("symbol") == "NOSUCH":
			fmt.Fprint(w, `{"retCode":10001,"retMsg":"Not supported symbols","result":{},"time":1790000170000}`)
		case q.Get("start") == fmt.Sprint(from):
			asked.Store(q.Encode())
			fmt.Fprint(w, `{"retCode":0,"retMsg":"OK","result":{"symbol":"BTCUSDT","category":"linear","list":[`+
				`["1790000160000","12","12","12","12","0.5","6"],["1790000100000","11","13","10","12","2","23"],["1790000040000","10","12","9","11","1","10.5"]]},"time":1790000170000}`)
		case q.Get("start") == "": // the newest
			fmt.Fprint(w, `{"retCode":0,"result":{"list":[["1790000160000","12","12","12","12","0.5","6"]]},"time":1790000170000}`)
		default: // before the market traded
			fmt.Fprint(w, `{"retCode":0,"result":{"list":[]},"time":1790000170000}`)
		}
	}})
	pair := market.Pair{Key: "btcswapusdt:bybit", Symbol: "BTCUSDT", Swap: true}
	run, err := m.Klines(t.Context(), pair, market.Minute1, from, 10)
	if err != nil || run.From != from || run.To != from+120_000 || len(run.Candles) != 2 || !run.Candles[1].Size.Equal(sourcetest.Decimal(t, "2")) ||
		!run.Candles[1].Amount.Equal(sourcetest.Decimal(t, "23")) || run.Open.OpenTime != from+120_000 || !run.Open.Size.Equal(sourcetest.Decimal(t, "0.5")) {
		t.Errorf("%+v, %v", run, err)
	}
	if want := "category=linear&end=1790000699999&interval=1&limit=11&start=1790000040000&symbol=BTCUSDT"; asked.Load() != want {
		t.Errorf("asked for %s, want %s", asked.Load(), want)
	}
	if run, err := m.Klines(t.Context(), pair, market.Minute1, from-3_600_000, 10); err != nil || run.To != from-3_600_000+600_000 || len(run.Candles) > 0 {
		t.Errorf("before it traded: %+v, %v", run, err)
	}
	var refused *upstream.RefusedError
	if _, err := m.Klines(t.Context(), market.Pair{Symbol: "NOSUCH"}, market.Minute1, from, 10); !errors.As(err, &refused) || refused.Status != 400 {
		t.Errorf("an unknown symbol: %v", err)
	}
}

func TestTheMessageThatSubscribesIsNumberedInText(t *testing.T) {
	t.Parallel()
	p := protocol(false)
	message := must.Get(json.Marshal(p.Subscribe(1, p.Topics([]market.Pair{{Symbol: "BTCUSDT"}}))))(t)
	check.Equalf(t, `{"req_id":"1","op":"subscribe","args":["publicTrade.BTCUSDT"]}`, string(message), "the message")
}

func TestRefusalsForTooManyRequestsAreRecognised(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		limits bool
	}{
		{200, `{"retCode":10006,"retMsg":"Too many visits!"}`, true}, {403, `<html>`, true},
		{200, `{"retCode":10001,"retMsg":"10006"}`, false}, {200, `{"retCode":0}`, false}, {502, `<html>`, false},
	} {
		if got := limited(c.status, []byte(c.body)) > 0; got != c.limits {
			t.Errorf("%d %s: %t", c.status, c.body, got)
		}
	}
}
