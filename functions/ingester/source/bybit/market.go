package bybit

import (
	"cmp"
	"log/slog"
	"strings"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/upstream"
)

// Platform is the key of the exchange.
const Platform = "bybit"

// Public addresses.
const (
	URL       = "https://api.bybit.com"
	StreamURL = "wss://stream.bybit.com"
)

// Market is one of the exchange's kinds of markets.
type Market struct {
	source.MarketInfo

	category string
	contract string // type of the contracts that are perpetual
	host     *source.Host
	stream   string // address of the WebSockets
	tickers  *lastTickers
}

// The host allows 600 requests in five seconds. A third of that is spent at most: 20 at
// once and 30 a second.
const (
	requestsPerMinute = 1800
	requestsBurst     = 20
)

// Open returns the spot markets, the linear and the inverse perpetuals of the exchange, or
// of one that is simulated at url.
func Open(url string, log *slog.Logger) []*Market {
	stream := StreamURL
	if url != "" {
		stream = source.StreamURL(url)
	}
	host := source.NewHost(cmp.Or(url, URL), requestsPerMinute)
	host.Budget = source.NewBurstBudget(requestsPerMinute, requestsBurst, time.Now)
	host.Limited = limited
	host.Bounds = map[string]upstream.Bounds{
		"/v5/market/instruments-info": {Bytes: 8 << 20, Rows: mostMarkets}, "/v5/market/tickers": {Bytes: 4 << 20, Rows: mostMarkets},
	}
	market := func(name, category, contract string) *Market {
		info := source.NewMarketInfo(name, Platform, contract != "", log)
		info.Inverse = category == inverse
		return &Market{
			MarketInfo: info, category: category, contract: contract, host: host,
			stream: strings.TrimSuffix(stream, "/"), tickers: new(lastTickers),
		}
	}
	return []*Market{
		market("bybit spot", spot, ""), market("bybit linear", linear, "LinearPerpetual"), market("bybit inverse", inverse, "InversePerpetual"),
	}
}

// mostMarkets is many times how many markets there are of a category.
const mostMarkets = 20_000

// Categories.
const (
	spot    = "spot"
	linear  = "linear"
	inverse = "inverse"
)
