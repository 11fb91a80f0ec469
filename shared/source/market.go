package source

import "log/slog"

// MarketInfo says what one kind of markets of an exchange is.
type MarketInfo struct {
	Name     string       // tells kinds of markets apart, in positions, health and logs: "binance spot"
	Platform string       // key of the exchange in the keys of its pairs
	Swap     bool         // perpetuals
	Stats    *Stats       // of its stream of trades
	Log      *slog.Logger // names the market
}

// NewMarketInfo returns a description with a count of its own.
func NewMarketInfo(name, platform string, swap bool, log *slog.Logger) MarketInfo {
	return MarketInfo{Name: name, Platform: platform, Swap: swap, Stats: new(Stats), Log: log.With("source", name)}
}

// Info returns i, for those who embed it.
func (i MarketInfo) Info() MarketInfo { return i }

// StreamURL is the address of the WebSockets of a host at which all of an exchange is
// simulated: ws for http, wss for https.
func StreamURL(url string) string {
	return "ws" + url[min(len(url), len("http")):]
}
