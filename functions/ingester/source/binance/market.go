package binance

import (
	"log/slog"
	"strings"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/upstream"
)

// Platform is the key of the exchange.
const Platform = "binance"

// Public addresses.
const (
	SpotURL       = "https://api.binance.com"
	SpotStreamURL = "wss://stream.binance.com:9443"
	USDMURL       = "https://fapi.binance.com"
	USDMStreamURL = "wss://fstream.binance.com"

	COINMURL       = "https://dapi.binance.com"
	COINMStreamURL = "wss://dstream.binance.com"
)

// Market is one of the exchange's kinds of markets. [Spot], [USDM] and [COINM] make one.
type Market struct {
	source.MarketInfo

	rules   rules
	host    *source.Host
	funding *source.Host // requests for funding rates and their periods, which are counted by themselves
	stats   *source.Host // requests for statistics of the past
	stream  string       // address of the WebSocket
	periods periods
}

// rules are how the kinds of markets differ.
type rules struct {
	name       string // for logs, positions and health
	swap       bool
	inverse    bool   // of perpetuals: paid in base coins
	path       string // before those of requests
	infoWeight int
	klinesMost int // rows of an answer
	perMinute  int // weight that the host allows, until it says so itself
	weight     func(limit int) int
	route      string // before /stream
	bookRoute  string // the same for order books
	depth      string // the stream of their changes, behind a symbol
	bookWeight int    // of a snapshot

	tickersWeight int // of all of them

	messagesPerSecond int // to the WebSocket
}

var spot = rules{
	name: "binance spot", path: "/api/v3", infoWeight: 20,
	klinesMost: 1000, perMinute: 1200, weight: func(int) int { return 2 },
	tickersWeight: 80, messagesPerSecond: 5,
	depth: "@depth", bookWeight: 50,
}

var usdm = rules{
	name: "binance usdm", swap: true, path: "/fapi/v1", infoWeight: 1,
	klinesMost: 1500, perMinute: 2400, weight: contractWeight,
	tickersWeight: 40, route: "/market", messagesPerSecond: 10,
	bookRoute: "/public", depth: "@depth@500ms", bookWeight: 20,
}

var coinm = rules{
	name: "binance coinm", swap: true, inverse: true, path: "/dapi/v1", infoWeight: 1,
	klinesMost: 1500, perMinute: 2400, weight: contractWeight,
	tickersWeight: 40, messagesPerSecond: 10,
	depth: "@depth@500ms", bookWeight: 20,
}

// contractWeight is what a request for so many K-lines of a perpetual costs.
func contractWeight(limit int) int {
	switch {
	case limit < 100:
		return 1
	case limit < 500:
		return 2
	case limit <= 1000:
		return 5
	}
	return 10
}

// share of the allowed weight that is spent, in percent: other programs may use the
// same address.
const share = 80

// Open returns the spot markets and the perpetual contracts of the exchange, or of one
// that is simulated at url, where the WebSocket of COIN-M is below /dapi.
func Open(url string, log *slog.Logger) []*Market {
	if url == "" {
		return []*Market{Spot(SpotURL, SpotStreamURL, log), USDM(USDMURL, USDMStreamURL, log), COINM(COINMURL, COINMStreamURL, log)}
	}
	stream := source.StreamURL(url)
	return []*Market{Spot(url, stream, log), USDM(url, stream, log), COINM(url, stream+"/dapi", log)}
}

// Spot are the spot markets at a REST host and a WebSocket, of which either may be the
// local stack's.
func Spot(url, stream string, log *slog.Logger) *Market { return newMarket(spot, url, stream, log) }

// USDM are the perpetual contracts in USDT.
func USDM(url, stream string, log *slog.Logger) *Market { return newMarket(usdm, url, stream, log) }

// COINM are the perpetual contracts that are paid in their base coins.
func COINM(url, stream string, log *slog.Logger) *Market { return newMarket(coinm, url, stream, log) }

// mostMarkets is several times how many markets there are.
const mostMarkets = 20_000

// Requests a minute that the exchange allows where it counts them by themselves.
const (
	fundingPerMinute = 100
	statsPerMinute   = 200
)

func newMarket(r rules, url, stream string, log *slog.Logger) *Market {
	host := source.NewHost(url, r.perMinute*share/100)
	host.Bounds = map[string]upstream.Bounds{
		r.path + "/exchangeInfo": {Bytes: 32 << 20, Rows: mostMarkets}, // of spot it is some 15 MB
		r.path + "/ticker/24hr":  {Bytes: 8 << 20, Rows: mostMarkets},
	}
	info := source.NewMarketInfo(r.name, Platform, r.swap, log)
	info.Inverse = r.inverse
	return &Market{
		MarketInfo: info, rules: r,
		host: host, funding: host.Pool(fundingPerMinute * share / 100), stats: host.Pool(statsPerMinute * share / 100),
		stream: strings.TrimSuffix(stream, "/"),
	}
}

// pair is the market of a symbol.
func (m *Market) pair(s *symbol) market.Pair {
	return market.Pair{
		Key: market.PairKey(s.BaseAsset, s.QuoteAsset, Platform, m.rules.swap), Platform: Platform,
		Base: s.BaseAsset, Quote: s.QuoteAsset, Symbol: s.Symbol, Swap: m.rules.swap,
		Inverse: m.rules.inverse, Contract: market.DecimalFromInt(s.ContractSize),
	}
}
