package bybit

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"quotary/functions/ingester/source/sourcetest"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

func TestRecordedFrames(t *testing.T) {
	t.Parallel()
	frames.Recordings(t, "bybit", map[string]sourcetest.Recorded{
		"bybit_wsTicker.jsonl":             {Frames: 8, Fundings: 3},
		"venue_ws_frames.jsonl":            {Frames: 39, Trades: 9, Fundings: 2, Shorts: 1, Books: 9},
		"liquidation_ws_frames.jsonl":      {Frames: 2, Longs: 1, Shorts: 1},
		"liquidation_ws_frames_2026.jsonl": {Frames: 1, Longs: 2},
		"fixtures/ws.jsonl":                {Frames: 22, Answers: 7, Trades: 3, Fundings: 1, Shorts: 1, Books: 1},
	})
}

// documented serves the documentation's examples by path and category.
func documented(t *testing.T) []*Market {
	t.Helper()
	lines := testenv.Recording(t, "exchanges/fixtures/bybit.jsonl")
	answers := map[string]json.RawMessage{}
	for lines.Scan() {
		var l struct {
			Path     string
			Response json.RawMessage
		}
		must.Do(t, json.Unmarshal(lines.Bytes(), &l))
		var of struct{ Result struct{ Category string } }
		_ = json.Unmarshal(l.Response, &of) // some answers hold a list
		if key := l.Path + " " + of.Result.Category; answers[key] == nil {
			answers[key] = l.Response
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := answers[r.URL.Path+" "+r.URL.Query().Get("category")]
		if answer == nil {
			answer = answers[r.URL.Path+" "]
		}
		if r.URL.Path == "/v5/market/mark-price-kline" { // of the times of open interest
			answer = []byte(`{"retCode":0,"result":{"list":[["1669571400000","16500","16500","16500","16500"],["1669571100000","16000","16500","16000","16500"]]},"time":1}`)
		}
		_, _ = w.Write(answer)
	}))
	t.Cleanup(server.Close)
	return Open(server.URL, slog.New(slog.DiscardHandler))
}

// Of instruments those that trade are read, and everything else that is documented.
func TestDocumentedAnswers(t *testing.T) {
	t.Parallel()
	markets := documented(t)
	keys := []string{}
	for _, m := range markets[:2] {
		pairs := must.Get(m.Pairs(t.Context()))(t)
		for _, p := range pairs {
			keys = append(keys, p.Key)
		}
	}
	if got := strings.Join(keys, " "); got != "btcusdt:bybit btcswapusdt:bybit" {
		t.Errorf("pairs are %s", got)
	}
	var inverse, ethPerp, btc market.Pair
	inverse = market.Pair{Key: "btcswapusd:bybit", Symbol: "BTCUSD", Swap: true, Inverse: true, Contract: market.DecimalFromInt(1)}
	ethPerp, btc = market.Pair{Key: "ethswapusdc:bybit", Symbol: "ETHPERP", Swap: true}, market.Pair{Key: "btcusdt:bybit", Symbol: "BTCUSDT"}
	check := func(what string, got any, err error, want string) {
		t.Helper()
		if text := fmt.Sprint(got); err != nil || text != want {
			t.Errorf("%s are %s, %v, want %s", what, text, err, want)
		}
	}
	tickers, err := markets[2].Tickers(t.Context(), []market.Pair{inverse})
	check("tickers", tickers, err, "[{btcswapusd:bybit 1672376496682 16597 16464.5 30912.5 15700 2352.94950046 49337318}]")
	spots, err := markets[0].Tickers(t.Context(), []market.Pair{btc})
	check("tickers of spot", spots, err, "[{btcusdt:bybit 1673859087947 20533.13 20393.48 21128.12 20318.89 11801.27771 243765620.65899866}]")
	interests, err := markets[2].Interests(t.Context(), []market.Pair{inverse}) // half of 22505.67 coins
	check("open interest", interests, err, "[{btcswapusd:bybit 1672376496682 11252.83523138 186752053.5}]")
	fundings, err := markets[1].PastFundings(t.Context(), ethPerp, 1672041600000, 1672051897447)
	check("payments", fundings, err, "[{ethswapusdc:bybit 1672041600000 0.0001 0 28800000 true}]")
	past, err := markets[2].PastInterests(t.Context(), inverse, 1669571100000, 1669571700000)
	check("points", past, err, "[{btcswapusd:bybit 1669571100000 14410.446625 230567146} {btcswapusd:bybit 1669571400000 13973.76921212 230567192}]")
	ratios, err := markets[1].PastRatios(t.Context(), market.LongAccounts, btc, 1695772800000, 1695773100000)
	check("shares of accounts", ratios, err, "[{btcusdt:bybit 1695772800000 0.5777}]")
	run, err := markets[2].Klines(t.Context(), inverse, market.Hour1, 1670601600000, 3)
	check("the newest K-line", run.Candles[len(run.Candles)-1].Size, err, "15.74462667")
}
