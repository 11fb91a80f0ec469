package okx

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/sourcetest"
	simulated "quotary/localstack/sim/okx"
	"quotary/localstack/sim/trading"
	"quotary/shared/market"
)

func TestAdapter(t *testing.T) {
	t.Parallel()
	sourcetest.Adapter[*Market, *simulated.Exchange]{
		Open: Open, Simulate: simulated.New,
		OnClock: func(m *Market, now func() time.Time) { m.Now = now },
		Hosts:   func(m *Market) []*source.Host { return []*source.Host{m.host, m.funding, m.interest} },
		Market:  func(x *simulated.Exchange, _ *Market, symbol string) *trading.Market { return x.Market(symbol) },
		Pairs: [3]string{
			"dogeusdt:okex solusdt:okex btcusdt:okex ethusdt:okex",
			"ethswapusdt:okcoinfutures btcswapusdt:okcoinfutures solswapusdt:okcoinfutures",
			"btcswapusd:okcoinfutures",
		},
		Contracts: true,
		Answer:    func(_, rows string) string { return `{"code":"0","data":[` + rows + `]}` },
		Listings: []sourcetest.Listing{
			{Kind: sourcetest.Spot, Rows: `{"instId":"BTC-USDT","state":"live","baseCcy":"BTC","quoteCcy":"USDT"},{"instId":"A-USDT","state":"preopen","baseCcy":"A","quoteCcy":"USDT"},
			{"instId":"B-USDT","state":"halted","baseCcy":"B","quoteCcy":"USDT"},{"instId":"C-USDT","state":"live","baseCcy":"C","quoteCcy":""},
			{"instId":"D-USDT","state":"live","baseCcy":"D\u202eX","quoteCcy":"USDT"},{"instId":7,"state":"live","baseCcy":"E","quoteCcy":"USDT"},
			{"instId":"F-USDT","state":"live","baseCcy":"` + strings.Repeat("F", market.MaxName+1) + `","quoteCcy":"USDT"},"G"`,
				Keys: []string{"btcusdt:okex"}, Unknown: 6, Said: []string{"halted", "C/", `D\\u202eX`, "E/USDT", "FFFF", `market="\"\""`}},
			{Kind: sourcetest.Linear, Rows: `{"instId":"BTC-USDT-SWAP","state":"live","ctVal":"0.01","ctMult":"1","ctValCcy":"BTC","settleCcy":"USDT","ctType":"linear"},
			{"instId":"XYZ-USDT-SWAP","state":"live","ctVal":"1","ctMult":"1","ctValCcy":"XYZ","settleCcy":"USDT","ctType":"linear"},
			{"instId":"BTC-USD-SWAP","state":"live","ctVal":"100","ctMult":"1","ctValCcy":"USD","settleCcy":"BTC","ctType":"inverse"},
			{"instId":"BTC-USD_UM-SWAP","state":"live","ctVal":"0.01","ctMult":"1","ctValCcy":"BTC","settleCcy":"USDC","ctType":"linear"},
			{"instId":"A-USDT-SWAP","state":"live","ctVal":"1","ctMult":"1","ctValCcy":"A","settleCcy":"USDT","ctType":"quanto"},
			{"instId":"B-USDT-SWAP","state":"live","ctVal":"1","ctMult":"1","ctValCcy":"B","settleCcy":"USDT","ctType":"quanto"}`,
				Keys: []string{"btcswapusdt:okcoinfutures", "xyzswapusdt:okcoinfutures"}, Unknown: 3, Said: []string{"quanto", "BTC-USD_UM-SWAP"}},
		},
		PaidRate: func(query url.Values, n int64) string {
			before, _ := strconv.ParseInt(query.Get("after"), 10, 64)
			return fmt.Sprintf(`{"fundingTime":"%d","realizedRate":"0.1"}`, before-1-n)
		},
		Announcements: func(url string) source.Announcer { return OpenAnnouncements(url) },

		Refuse: func(x *simulated.Exchange) { x.Refuse(1) }, Pause: tooManyPause,
		Numbers: func(one trading.Trade) (id, prev int64) { return one.Last, one.First - 1 },
		NoSuch:  "OLD-USDT-SWAP", NoSuchTopics: 2,
		Levels:       bookLevels,
		Paid:         func(day *trading.Kline) int64 { return day.Size * day.Last }, // at the last price, as the exchange does not say what was paid
		InterestDays: 3,
		Ratios:       market.RatioKinds[:],
		Share: func(tenThousandths int64) market.Decimal {
			ratio := sourcetest.Decimal(t, simulated.Ratio(tenThousandths))
			return ratio.MustDiv(ratio.Add(market.DecimalFromInt(1))).RoundHAZ(sharePlaces)
		},
		NoInverseAccount: true,
	}.Test(t)
}
