package okx

import (
	"cmp"
	"log/slog"
	"strings"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/upstream"
)

// Platforms, as clients name them.
const (
	SpotPlatform = "okex"
	SwapPlatform = "okcoinfutures"
)

// Public addresses.
const (
	URL       = "https://www.okx.com"
	StreamURL = "wss://ws.okx.com"
)

// Market is one of the exchange's kinds of markets.
type Market struct {
	source.MarketInfo

	instType string
	host     *source.Host
	funding  *source.Host // requests for past funding rates
	interest *source.Host // for past open interest
	accounts *source.Host // for past shares of accounts, and for margin loans
	tops     *source.Host // for what top traders had
	stream   string       // address of the WebSockets
}

// Limits of the host: 20 requests in two seconds for instruments and old candles, which
// weigh 2, and 40 for new candles, which weigh 1. In any two seconds a burst and what
// comes back are spent at most: 8 + 24 of 40.
const (
	weightPerMinute = 720
	weightBurst     = 8

	instrumentsWeight = 2
	candlesWeight     = 1
	historyWeight     = 2
	tickersWeight     = 2
	interestsWeight   = 2
)

// limits of what is asked of the past, each counted by itself: 10 requests in two seconds
// for funding and for open interest, 5 for accounts and for top traders.
const (
	fundingPerMinute, fundingBurst   = 180, 4
	accountsPerMinute, accountsBurst = 80, 2
)

// Open returns the spot markets and the swaps of the exchange, or of one that is
// simulated at url.
func Open(url string, log *slog.Logger) []*Market {
	stream := StreamURL
	if url != "" {
		stream = source.StreamURL(url)
	}
	host := source.NewHost(cmp.Or(url, URL), weightPerMinute)
	host.Budget = source.NewBurstBudget(weightPerMinute, weightBurst, time.Now)
	host.Limited = limited
	host.Bounds = map[string]upstream.Bounds{
		"/api/v5/public/instruments": {Bytes: 8 << 20, Rows: mostMarkets}, "/api/v5/market/tickers": {Bytes: 4 << 20, Rows: mostMarkets},
		"/api/v5/public/open-interest": {Bytes: 4 << 20, Rows: mostMarkets},
	}
	pool := func(perMinute, burst int) *source.Host {
		p := host.Pool(perMinute)
		p.Budget = source.NewBurstBudget(perMinute, burst, time.Now)
		return p
	}
	funding, interest, accounts := pool(fundingPerMinute, fundingBurst), pool(fundingPerMinute, fundingBurst), pool(accountsPerMinute, accountsBurst)
	tops := pool(accountsPerMinute, accountsBurst)
	market := func(name, platform, instType string, inverse bool) *Market {
		info := source.NewMarketInfo(name, platform, instType == swap, log)
		info.Inverse = inverse
		return &Market{
			MarketInfo: info, instType: instType, host: host, funding: funding, interest: interest, accounts: accounts, tops: tops,
			stream: strings.TrimSuffix(stream, "/"),
		}
	}
	return []*Market{
		market("okx spot", SpotPlatform, spot, false), market("okx swap", SwapPlatform, swap, false), market("okx inverse", SwapPlatform, swap, true),
	}
}

// mostMarkets is many times how many markets there are of a type.
const mostMarkets = 20_000

// Types of instruments.
const (
	spot = "SPOT"
	swap = "SWAP"
)
