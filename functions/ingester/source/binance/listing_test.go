package binance_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"quotary/functions/ingester/source/binance"
	"quotary/functions/ingester/source/sourcetest"
	"quotary/shared/market"
)

// listing serves a list of symbols.
func listing(t *testing.T, symbols string) (all []*binance.Market, log *bytes.Buffer) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/fapi/v1/fundingInfo" || r.URL.Path == "/dapi/v1/fundingInfo" {
			_, _ = io.WriteString(w, "[]")
			return
		}
		_, _ = io.WriteString(w, `{"symbols":[`+symbols+`]}`)
	}))
	t.Cleanup(server.Close)
	log = new(bytes.Buffer)
	return binance.Open(server.URL, slog.New(slog.NewTextHandler(log, nil))), log
}

func TestMarketsOfWhichSomethingIsNotKnownAreCountedAndSaidOnce(t *testing.T) {
	t.Parallel()
	all, log := listing(t, `
		{"symbol":"BTCUSDT","status":"TRADING","contractType":"PERPETUAL","baseAsset":"BTC","quoteAsset":"USDT"},
		{"symbol":"XAUUSDT","status":"TRADING","contractType":"TRADIFI_PERPETUAL","baseAsset":"XAU","quoteAsset":"USDT"},
		{"symbol":"BTCUSDT_261225","status":"TRADING","contractType":"CURRENT_QUARTER","baseAsset":"BTC","quoteAsset":"USDT"},
		{"symbol":"OLDUSDT","status":"SETTLING","contractType":"PERPETUAL","baseAsset":"OLD","quoteAsset":"USDT"},
		{"symbol":"SOONUSDT","status":"PENDING_TRADING","contractType":"","baseAsset":"SOON","quoteAsset":"USDT"},
		{"symbol":"AUSDT","status":"TRADING","contractType":"EVENT_PERPETUAL","baseAsset":"A","quoteAsset":"USDT"},
		{"symbol":"BUSDT","status":"TRADING","contractType":"EVENT_PERPETUAL","baseAsset":"B","quoteAsset":"USDT"},
		{"symbol":"CUSDT","status":"PAUSED","contractType":"PERPETUAL","baseAsset":"C","quoteAsset":"USDT"},
		{"symbol":"DUSDT","status":"TRADING","contractType":"PERPETUAL","baseAsset":"D:x","quoteAsset":"USDT"}`)
	sourcetest.Lists(t, all[1], log, []string{"btcswapusdt:binance", "xauswapusdt:binance"}, 4, "EVENT_PERPETUAL", "PAUSED", "D:x")

	all, log = listing(t, `{"symbol":"BTCUSDT","status":"TRADING","baseAsset":"BTC","quoteAsset":"USDT"},{"symbol":"AUSDT","status":"BREAK","baseAsset":"A","quoteAsset":"USDT"},
		{"symbol":"BUSDT","status":"RESTING","baseAsset":"B","quoteAsset":"USDT"}`)
	sourcetest.Lists(t, all[0], log, []string{"btcusdt:binance"}, 1, "RESTING")

	all, log = listing(t, `{"symbol":"BTCUSD_PERP","contractStatus":"TRADING","contractType":"PERPETUAL","contractSize":100,"baseAsset":"BTC","quoteAsset":"USD"},
		{"symbol":"ETHUSD_PERP","contractStatus":"TRADING","contractType":"PERPETUAL","baseAsset":"ETH","quoteAsset":"USD"}`)
	sourcetest.Lists(t, all[2], log, []string{"btcswapusd:binance"}, 1, "contract size")
}

func TestAnAnswerWithoutEndIsRefused(t *testing.T) {
	t.Parallel()
	pair := market.Pair{Symbol: "BTCUSDT", Swap: true}
	for begin, ask := range map[string]func(*binance.Market) error{
		`{"symbols":[`: func(m *binance.Market) error { _, err := m.Pairs(t.Context()); return err },
		`[`:            func(m *binance.Market) error { _, err := m.Tickers(t.Context(), nil); return err },
		` [`:           func(m *binance.Market) error { _, err := m.Interests(t.Context(), nil); return err },
		`[ `:           func(m *binance.Market) error { _, err := m.PastFundings(t.Context(), pair, 0, 1); return err },
		`[[`: func(m *binance.Market) error {
			_, err := m.Klines(t.Context(), pair, market.Minute1, 0, 10)
			return err
		},
	} {
		sourcetest.RefusesEndlessRows(t, begin, func(url string) error { return ask(binance.Open(url, slog.New(slog.DiscardHandler))[1]) })
	}
}
