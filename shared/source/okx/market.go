package okx

import (
	"cmp"
	"log/slog"
	"strings"
	"time"

	"quotary/shared/source"
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
	stream   string // address of the WebSockets
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
	market := func(name, platform, instType string) *Market {
		return &Market{
			MarketInfo: source.NewMarketInfo(name, platform, instType == swap, log),
			instType:   instType, host: host, stream: strings.TrimSuffix(stream, "/"),
		}
	}
	return []*Market{market("okx spot", SpotPlatform, spot), market("okx swap", SwapPlatform, swap)}
}

// Types of instruments.
const (
	spot = "SPOT"
	swap = "SWAP"
)
