package bybit

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/sourcetest"
	"quotary/shared/market"
)

func TestMarketsOfWhichSomethingIsNotKnownAreCountedAndSaidOnce(t *testing.T) {
	t.Parallel()
	instruments := map[string]string{
		spot: `{"symbol":"BTCUSDT","status":"Trading","baseCoin":"BTC","quoteCoin":"USDT"},{"symbol":"AUSDT","status":"Halted","baseCoin":"A","quoteCoin":"USDT"}`,
		linear: `{"symbol":"BTCUSDT","status":"Trading","contractType":"LinearPerpetual","baseCoin":"BTC","quoteCoin":"USDT"},
			{"symbol":"BTC-25DEC26","status":"Trading","contractType":"LinearFutures","baseCoin":"BTC","quoteCoin":"USDT"},
			{"symbol":"SOONUSDT","status":"PreLaunch","contractType":"LinearPerpetual","baseCoin":"SOON","quoteCoin":"USDT"},
			{"symbol":"AUSDT","status":"Trading","contractType":"EventPerpetual","baseCoin":"A","quoteCoin":"USDT"},
			{"symbol":"BUSDT","status":"Trading","contractType":"EventPerpetual","baseCoin":"B","quoteCoin":"USDT"},
			{"symbol":"CUSDT","status":"Resting","contractType":"LinearPerpetual","baseCoin":"C","quoteCoin":"USDT"}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"retCode":0,"result":{"list":[`+instruments[r.FormValue("category")]+`]},"time":1790000000000}`)
	}))
	t.Cleanup(server.Close)
	log := new(bytes.Buffer)
	all := Open(server.URL, slog.New(slog.NewTextHandler(log, nil)))
	sourcetest.Lists(t, all[0], log, []string{"btcusdt:bybit"}, 1, "Halted")
	log.Reset()
	sourcetest.Lists(t, all[1], log, []string{"btcswapusdt:bybit"}, 3, "EventPerpetual", "Resting")
}

func TestAnAnswerWithoutEndIsRefused(t *testing.T) {
	t.Parallel()
	pair := market.Pair{Symbol: "A", Swap: true}
	for _, ask := range []func(*Market) error{
		func(m *Market) error { _, err := m.Pairs(t.Context()); return err },
		func(m *Market) error { _, err := m.Tickers(t.Context(), nil); return err },
		func(m *Market) error { _, err := m.PastFundings(t.Context(), pair, 0, 1); return err },
		func(m *Market) error { _, err := m.Klines(t.Context(), pair, market.Minute1, 0, 10); return err },
	} {
		sourcetest.RefusesEndlessRows(t, `{"retCode":0,"result":{"list":[`, func(url string) error { return ask(Open(url, slog.New(slog.DiscardHandler))[1]) })
	}
	sourcetest.RefusesEndlessRows(t, `{"retCode":0,"result":{"list":[`, func(url string) error {
		announcements := OpenAnnouncements(url)
		_, err := announcements.Announcements(t.Context(), source.AnnouncedEnglish, announcements.Categories()[0], 1)
		return err
	})
}
