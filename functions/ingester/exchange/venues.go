package exchange

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"quotary/shared/market"
	"quotary/shared/source"
	"quotary/shared/source/binance"
)

// Venue is one kind of markets of an exchange, as a package under shared/source speaks
// it.
type Venue interface {
	// Name tells venues apart, in positions, health and logs: "binance spot".
	Name() string

	// Pairs lists what trades now.
	Pairs(ctx context.Context) ([]market.Pair, error)

	// Klines returns candles that have ended and open from a time on (ms), at most so
	// many, and the open one behind them; KlinesMost is how many are worth asking for at
	// once.
	Klines(ctx context.Context, pair market.Pair, i market.Interval, from int64, most int) (market.CandleRun, error)
	KlinesMost() int

	// Trades delivers the trades of pairs until ctx ends or the sink fails.
	Trades(ctx context.Context, pairs []market.Pair, sink func(context.Context, []market.PairTrade) error) error
}

// listed is a venue with what the domain knows of it.
type listed struct {
	Venue
	platform string
	swap     bool
	stats    *source.Stats // of the trades
	log      *slog.Logger
}

// venues are the kinds of markets of the exchanges that the configuration names. An
// exchange is a line here.
func (c Config) venues() (all []listed, err error) {
	exchanges := map[string]func() []listed{
		binance.Platform: c.binance,
	}
	for _, name := range c.Exchanges {
		open := exchanges[name]
		if open == nil {
			return nil, fmt.Errorf("%s is no exchange that can be followed", name)
		}
		all = append(all, open()...)
	}
	return all, nil
}

func (c Config) binance() []listed {
	spot := binance.Spot(binance.SpotURL, binance.SpotStreamURL, c.Logger)
	usdm := binance.USDM(binance.USDMURL, binance.USDMStreamURL, c.Logger)
	if c.BinanceURL != "" {
		stream := "ws" + strings.TrimPrefix(c.BinanceURL, "http") // https becomes wss
		spot, usdm = binance.Spot(c.BinanceURL, stream, c.Logger), binance.USDM(c.BinanceURL, stream, c.Logger)
	}
	return []listed{
		{Venue: spot, platform: binance.Platform, stats: spot.Stats, log: spot.Log},
		{Venue: usdm, platform: binance.Platform, swap: true, stats: usdm.Stats, log: usdm.Log},
	}
}

// quoteCoin is the one in which followed pairs are priced.
const quoteCoin = "USDT"

// follow picks the pairs of the configured coins. A coin of a very low price is traded
// as a perpetual by the thousand, under a name of its own (1000PEPE).
func (c Config) follow(pairs []market.Pair) (followed []market.Pair) {
	for _, p := range pairs {
		if p.Quote != quoteCoin {
			continue
		}
		if slices.Contains(c.Coins, p.Base) || p.Swap && slices.Contains(c.Coins, strings.TrimPrefix(p.Base, "1000")) {
			followed = append(followed, p)
		}
	}
	return followed
}
