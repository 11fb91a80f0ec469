package source

import (
	"log/slog"
	"time"
)

// MarketInfo says what one kind of markets of an exchange is.
type MarketInfo struct {
	Name     string       // tells kinds of markets apart, in positions, health and logs: "binance spot"
	Platform string       // key of the exchange in the keys of its pairs
	Swap     bool         // perpetuals
	Inverse  bool         // of these, those that are margined in the base coin
	Stats    *Stats       // of its stream
	Log      *slog.Logger // names the market

	Now func() time.Time // the clock that the exchange's times are held against

	unknown *unknownMarkets
}

// NewMarketInfo returns a description with a count of its own.
func NewMarketInfo(name, platform string, swap bool, log *slog.Logger) MarketInfo {
	stats := new(Stats)
	return MarketInfo{Name: name, Platform: platform, Swap: swap, Stats: stats, Log: Watched(log.With("source", name), stats), Now: time.Now,
		unknown: &unknownMarkets{said: map[string]bool{}}}
}

// Info returns i, for those who embed it.
func (i MarketInfo) Info() MarketInfo { return i }

// StreamURL is the address of the WebSockets of a host at which all of an exchange is
// simulated: ws for http, wss for https.
func StreamURL(url string) string {
	return "ws" + url[min(len(url), len("http")):]
}
