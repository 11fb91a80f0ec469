package bybit

import (
	"fmt"
	"net/url"
	"strconv"
	"testing"
	"time"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/sourcetest"
	simulated "quotary/localstack/sim/bybit"
	"quotary/localstack/sim/trading"
	"quotary/shared/market"
)

func TestAdapter(t *testing.T) {
	t.Parallel()
	sourcetest.Adapter[*Market, *simulated.Exchange]{
		Open: Open, Simulate: simulated.New,
		OnClock: func(m *Market, now func() time.Time) { m.Now = now },
		Hosts:   func(m *Market) []*source.Host { return []*source.Host{m.host} },
		Market: func(x *simulated.Exchange, m *Market, symbol string) *trading.Market {
			return x.Market(m.category, symbol)
		},
		Pairs: [3]string{
			"solusdt:bybit ethusdt:bybit dogeusdt:bybit btcusdt:bybit",
			"ethswapusdt:bybit btcswapusdt:bybit solswapusdt:bybit",
			"btcswapusd:bybit",
		},
		Answer: func(_, rows string) string {
			return `{"retCode":0,"result":{"list":[` + rows + `]},"time":1790000000000}`
		},
		Listings: []sourcetest.Listing{
			{Kind: sourcetest.Spot, Rows: `{"symbol":"BTCUSDT","status":"Trading","baseCoin":"BTC","quoteCoin":"USDT"},{"symbol":"AUSDT","status":"Halted","baseCoin":"A","quoteCoin":"USDT"},
				{"symbol":"BUSDT","status":"Trading","baseCoin":"B:x","quoteCoin":"USDT"}`,
				Keys: []string{"btcusdt:bybit"}, Unknown: 2, Said: []string{"Halted", "B:x"}},
			{Kind: sourcetest.Linear, Rows: `{"symbol":"BTCUSDT","status":"Trading","contractType":"LinearPerpetual","baseCoin":"BTC","quoteCoin":"USDT"},
			{"symbol":"BTC-25DEC26","status":"Trading","contractType":"LinearFutures","baseCoin":"BTC","quoteCoin":"USDT"},
			{"symbol":"SOONUSDT","status":"PreLaunch","contractType":"LinearPerpetual","baseCoin":"SOON","quoteCoin":"USDT"},
			{"symbol":"AUSDT","status":"Trading","contractType":"EventPerpetual","baseCoin":"A","quoteCoin":"USDT"},
			{"symbol":"BUSDT","status":"Trading","contractType":"EventPerpetual","baseCoin":"B","quoteCoin":"USDT"},
			{"symbol":"CUSDT","status":"Resting","contractType":"LinearPerpetual","baseCoin":"C","quoteCoin":"USDT"}`,
				Keys: []string{"btcswapusdt:bybit"}, Unknown: 3, Said: []string{"EventPerpetual", "Resting"}},
		},
		PaidRate: func(query url.Values, n int64) string {
			to, _ := strconv.ParseInt(query.Get("endTime"), 10, 64)
			return fmt.Sprintf(`{"fundingRateTimestamp":"%d","fundingRate":"0.1"}`, to-n)
		},
		Announcements: func(url string) source.Announcer { return OpenAnnouncements(url) },

		Refuse: func(x *simulated.Exchange) { x.Refuse(1) }, Pause: tooManyPause,
		// One topic that there is not refuses the message.
		NoSuch: "OLDUSDT", NoSuchTopics: 3,
		Levels:       bookLevels,
		InterestDays: 5,
		Ratios:       []market.RatioKind{market.LongAccounts},
	}.Test(t)
}
