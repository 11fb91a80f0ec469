package okx

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/sourcetest"
	"quotary/shared/market"
)

func TestMarketsOfWhichSomethingIsNotKnownAreCountedAndSaidOnce(t *testing.T) {
	t.Parallel()
	instruments := map[string]string{
		"SPOT": `{"instId":"BTC-USDT","state":"live","baseCcy":"BTC","quoteCcy":"USDT"},{"instId":"A-USDT","state":"preopen","baseCcy":"A","quoteCcy":"USDT"},
			{"instId":"B-USDT","state":"halted","baseCcy":"B","quoteCcy":"USDT"},{"instId":"C-USDT","state":"live","baseCcy":"C","quoteCcy":""},
			{"instId":"D-USDT","state":"live","baseCcy":"D\u202eX","quoteCcy":"USDT"},{"instId":7,"state":"live","baseCcy":"E","quoteCcy":"USDT"},
			{"instId":"F-USDT","state":"live","baseCcy":"` + strings.Repeat("F", market.MaxName+1) + `","quoteCcy":"USDT"},"G"`,
		"SWAP": `{"instId":"BTC-USDT-SWAP","state":"live","ctVal":"0.01","ctMult":"1","ctValCcy":"BTC","settleCcy":"USDT","ctType":"linear"},
			{"instId":"XYZ-USDT-SWAP","state":"live","ctVal":"1","ctMult":"1","ctValCcy":"XYZ","settleCcy":"USDT","ctType":"linear"},
			{"instId":"BTC-USD-SWAP","state":"live","ctVal":"100","ctMult":"1","ctValCcy":"USD","settleCcy":"BTC","ctType":"inverse"},
			{"instId":"BTC-USD_UM-SWAP","state":"live","ctVal":"0.01","ctMult":"1","ctValCcy":"BTC","settleCcy":"USDC","ctType":"linear"},
			{"instId":"A-USDT-SWAP","state":"live","ctVal":"1","ctMult":"1","ctValCcy":"A","settleCcy":"USDT","ctType":"quanto"},
			{"instId":"B-USDT-SWAP","state":"live","ctVal":"1","ctMult":"1","ctValCcy":"B","settleCcy":"USDT","ctType":"quanto"}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"code":"0","data":[`+instruments[r.FormValue("instType")]+`]}`)
	}))
	t.Cleanup(server.Close)
	log := new(bytes.Buffer)
	all := Open(server.URL, slog.New(slog.NewTextHandler(log, nil)))
	sourcetest.Lists(t, all[0], log, []string{"btcusdt:okex"}, 6, "halted", "C/", `D\\u202eX`, "E/USDT", "FFFF", `market="\"\""`)
	log.Reset()
	sourcetest.Lists(t, all[1], log, []string{"btcswapusdt:okcoinfutures", "xyzswapusdt:okcoinfutures"}, 3, "quanto", "BTC-USD_UM-SWAP")
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
		sourcetest.RefusesEndlessRows(t, `{"code":"0","data":[`, func(url string) error { return ask(Open(url, slog.New(slog.DiscardHandler))[1]) })
	}
	sourcetest.RefusesEndlessRows(t, `{"code":"0","data":[`, func(url string) error {
		announcements := OpenAnnouncements(url)
		_, err := announcements.Announcements(t.Context(), source.AnnouncedEnglish, announcements.Categories()[0], 1)
		return err
	})
}
