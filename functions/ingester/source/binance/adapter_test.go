package binance

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/sourcetest"
	simulated "quotary/localstack/sim/binance"
	simtrading "quotary/localstack/sim/trading"
	"quotary/shared/market"
)

func TestAdapter(t *testing.T) {
	t.Parallel()
	sourcetest.Adapter[*Market, *simulated.Exchange]{
		Open: Open, Simulate: simulated.New,
		OnClock: func(m *Market, now func() time.Time) { m.Now = now },
		Hosts:   func(m *Market) []*source.Host { return []*source.Host{m.host, m.funding, m.stats} },
		Market: func(x *simulated.Exchange, m *Market, symbol string) *simtrading.Market {
			return x.Market(symbol, m.Swap)
		},
		Pairs: [3]string{
			"btcusdt:binance ethusdt:binance solusdt:binance ethbtc:binance",
			"btcswapusdt:binance ethswapusdt:binance solswapusdt:binance 1000pepeswapusdt:binance",
			"btcswapusd:binance ethswapusd:binance",
		},
		Answer: func(path, rows string) string {
			switch {
			case strings.HasSuffix(path, "/exchangeInfo"):
				return `{"symbols":[` + rows + `]}`
			case strings.HasSuffix(path, "/fundingInfo"):
				return "[]"
			case strings.HasPrefix(path, "/bapi/"):
				return `{"code":"000000","data":{"catalogs":[{"articles":[` + rows + `]}]}}`
			}
			return "[" + rows + "]"
		},
		Listings: []sourcetest.Listing{
			{Kind: sourcetest.Linear, Rows: `{"symbol":"BTCUSDT","status":"TRADING","contractType":"PERPETUAL","baseAsset":"BTC","quoteAsset":"USDT"},
				{"symbol":"XAUUSDT","status":"TRADING","contractType":"TRADIFI_PERPETUAL","baseAsset":"XAU","quoteAsset":"USDT"},
				{"symbol":"BTCUSDT_261225","status":"TRADING","contractType":"CURRENT_QUARTER","baseAsset":"BTC","quoteAsset":"USDT"},
				{"symbol":"OLDUSDT","status":"SETTLING","contractType":"PERPETUAL","baseAsset":"OLD","quoteAsset":"USDT"},
				{"symbol":"SOONUSDT","status":"PENDING_TRADING","contractType":"","baseAsset":"SOON","quoteAsset":"USDT"},
				{"symbol":"AUSDT","status":"TRADING","contractType":"EVENT_PERPETUAL","baseAsset":"A","quoteAsset":"USDT"},
				{"symbol":"BUSDT","status":"TRADING","contractType":"EVENT_PERPETUAL","baseAsset":"B","quoteAsset":"USDT"},
				{"symbol":"CUSDT","status":"PAUSED","contractType":"PERPETUAL","baseAsset":"C","quoteAsset":"USDT"},
				{"symbol":"DUSDT","status":"TRADING","contractType":"PERPETUAL","baseAsset":"D:x","quoteAsset":"USDT"}`,
				Keys: []string{"btcswapusdt:binance", "xauswapusdt:binance"}, Unknown: 4, Said: []string{"EVENT_PERPETUAL", "PAUSED", "D:x"}},
			{Kind: sourcetest.Spot, Rows: `{"symbol":"BTCUSDT","status":"TRADING","baseAsset":"BTC","quoteAsset":"USDT"},{"symbol":"AUSDT","status":"BREAK","baseAsset":"A","quoteAsset":"USDT"},
				{"symbol":"BUSDT","status":"RESTING","baseAsset":"B","quoteAsset":"USDT"}`,
				Keys: []string{"btcusdt:binance"}, Unknown: 1, Said: []string{"RESTING"}},
			{Kind: sourcetest.Inverse, Rows: `{"symbol":"BTCUSD_PERP","contractStatus":"TRADING","contractType":"PERPETUAL","contractSize":100,"baseAsset":"BTC","quoteAsset":"USD"},
				{"symbol":"ETHUSD_PERP","contractStatus":"TRADING","contractType":"PERPETUAL","baseAsset":"ETH","quoteAsset":"USD"}`,
				Keys: []string{"btcswapusd:binance"}, Unknown: 1, Said: []string{"contract size"}},
		},
		PaidRate: func(query url.Values, n int64) string {
			from, _ := strconv.ParseInt(query.Get("startTime"), 10, 64)
			return fmt.Sprintf(`{"fundingTime":%d,"fundingRate":"0.1"}`, from+n)
		},
		Announcements: func(url string) source.Announcer { return OpenAnnouncements(url) },

		Refuse: func(x *simulated.Exchange) { x.Ban(http.StatusTeapot, 1500*time.Millisecond) }, Pause: 1500 * time.Millisecond,
		Takers:       true,
		Numbers:      func(one simtrading.Trade) (id, prev int64) { return one.ID, one.ID - 1 },
		Levels:       bookLimit,
		InterestDays: 5,
		Ratios:       []market.RatioKind{market.LongAccounts, market.LongTopAccounts, market.LongTopPositions},
	}.Test(t)
}
