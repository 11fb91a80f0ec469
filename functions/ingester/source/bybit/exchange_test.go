package bybit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/sourcetest"
	simulated "quotary/localstack/sim/bybit"
	"quotary/shared/market"
	"quotary/shared/testing/testclock"
	"quotary/shared/testing/testenv"
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

// openAll runs a simulated exchange and returns its kinds of markets as the product sees
// them, on its clock.
func openAll(t *testing.T, c simulated.Config) (*simulated.Exchange, []*Market) {
	t.Helper()
	x := simulated.New(c)
	all := Open(sourcetest.Serve(t, x), slog.New(slog.DiscardHandler))
	for _, m := range all {
		if c.Clock != nil {
			m.Now = c.Clock
		}
	}
	return x, all
}

// Of contracts the perpetual ones that trade are pairs; inverse ones count US dollars.
func TestPairsAreThoseThatTrade(t *testing.T) {
	t.Parallel()
	_, all := openAll(t, simulated.Config{})
	for i, want := range []string{
		"solusdt:bybit ethusdt:bybit dogeusdt:bybit btcusdt:bybit", "ethswapusdt:bybit btcswapusdt:bybit solswapusdt:bybit", "btcswapusd:bybit",
	} {
		pairs, err := all[i].Pairs(t.Context())
		var keys []string
		for _, p := range pairs {
			keys = append(keys, p.Key)
			if inverse := i == 2; p.Swap != (i > 0) || p.Inverse != inverse || p.Contract.Equal(market.DecimalFromInt(1)) != inverse || p.Contract.IsZero() == inverse {
				t.Errorf("%+v", p)
			}
		}
		if got := strings.Join(keys, " "); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", all[i].Name, got, err, want)
		}
	}
}

// Pages from before the exchange began to trade until the open candle are the exchange's
// own, in coins.
func TestKlinesArePagedThroughUntilTheOpenOne(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 30, 20, 0, time.UTC)
	x, all := openAll(t, simulated.Config{Clock: func() time.Time { return now }, Since: now.Add(-3 * 24 * time.Hour)})
	for _, c := range []struct {
		of   *Market
		key  string
		i    market.Interval
		from time.Time
	}{
		{all[0], "solusdt:bybit", market.Minute1, now.Truncate(24 * time.Hour)},
		{all[1], "btcswapusdt:bybit", market.Minute1, now.Add(-28 * time.Hour).Truncate(time.Hour)},
		{all[1], "solswapusdt:bybit", market.Hour4, x.Since()},
		{all[0], "btcusdt:bybit", market.Day1, time.UnixMilli(0)},
		{all[2], "btcswapusd:bybit", market.Minute15, now.Truncate(24 * time.Hour)},
	} {
		pair := sourcetest.Find(t, c.of, c.key)
		m := x.Market(c.of.category, pair.Symbol)
		sourcetest.AreKlines(t, c.of, m, pair, c.i, x.Since().UnixMilli(), c.from.UnixMilli(), now)
	}
}

func TestTooManyRequestsAreTriedAgain(t *testing.T) {
	t.Parallel()
	x, all := openAll(t, simulated.Config{})
	x.Refuse(1)
	began := time.Now()
	if _, err := all[0].Pairs(t.Context()); err != nil || time.Since(began) < tooManyPause {
		t.Errorf("%v after %s", err, time.Since(began))
	}
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
	var refused *source.RefusedError
	if _, err := m.Klines(t.Context(), market.Pair{Symbol: "NOSUCH"}, market.Minute1, from, 10); !errors.As(err, &refused) || refused.Status != 400 {
		t.Errorf("an unknown symbol: %v", err)
	}
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

// Trades of a connection are numbered without a gap; between two connections there is one.
func TestTradesOfAConnectionFollowEachOther(t *testing.T) {
	t.Parallel()
	m := serve(t, map[string]http.HandlerFunc{"GET /v5/public/linear": func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		_, message, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		if string(message) != `{"req_id":"1","op":"subscribe","args":["publicTrade.BTCUSDT"]}` {
			t.Errorf("it sends %s", message)
		}
		for _, frame := range []string{`{"success":true,"ret_msg":"","conn_id":"a","req_id":"1","op":"subscribe"}`, tradesFrame, blockFrame, tradesFrame} {
			if conn.Write(r.Context(), websocket.MessageText, []byte(frame)) != nil {
				return
			}
		}
		_ = conn.Close(websocket.StatusGoingAway, "")
	}})
	m.Now = func() time.Time { return time.UnixMilli(1790000000130) }
	got := make(chan market.PairTrade, 100)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- m.Follow(ctx, []market.Pair{{Key: "btcswapusdt:bybit", Symbol: "BTCUSDT"}}, m.Stats, func(_ context.Context, events *market.PairEvents) error {
			for _, trade := range events.Trades {
				got <- trade
			}
			return nil
		})
	}()
	testenv.Until(t, "trades of two connections have come", func() bool { return len(got) >= 8 })
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	var before market.PairTrade
	for n := range 8 {
		trade := <-got
		if n > 0 && (trade.Prev > before.ID) != (n == 4) || trade.ID <= before.ID {
			t.Errorf("trade %d has number %d behind %d, after %d", n, trade.ID, trade.Prev, before.ID)
		}
		before = trade
	}
	if m.Stats.Malformed.Load() != 0 || m.Stats.Gaps.Load() != 0 {
		t.Errorf("%d frames could not be read", m.Stats.Malformed.Load())
	}
}

// A message with a topic that there is not is refused as a whole: the topic costs itself alone.
func TestAPairThatCannotBeFollowedLeavesTheOthers(t *testing.T) {
	t.Parallel()
	_, all := openAll(t, simulated.Config{Clock: testclock.Running(time.Now(), 60)})
	pairs := []market.Pair{sourcetest.Find(t, all[1], "btcswapusdt:bybit"), {Key: "oldswapusdt:bybit", Symbol: "OLDUSDT", Swap: true}, sourcetest.Find(t, all[1], "ethswapusdt:bybit"), sourcetest.Find(t, all[1], "solswapusdt:bybit")}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	seen := map[string]bool{}
	err := all[1].Follow(ctx, pairs, all[1].Stats, func(_ context.Context, e *market.PairEvents) error {
		for _, trade := range e.Trades {
			seen[trade.Pair] = true
		}
		if len(seen) == 3 && all[1].Stats.Dropped.Load() == 3 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || all[1].Stats.Dropped.Load() != 3 || all[1].Stats.Reconnects.Load() != 0 {
		t.Errorf("%v, %d refused, %d connections, of %v", err, all[1].Stats.Dropped.Load(), all[1].Stats.Reconnects.Load(), seen)
	}
}
