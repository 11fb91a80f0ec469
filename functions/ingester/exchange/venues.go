package exchange

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/binance"
	"quotary/functions/ingester/source/bybit"
	"quotary/functions/ingester/source/okx"
	"quotary/shared/catalog"
	"quotary/shared/market"
)

// Venue is one kind of markets of an exchange, as a package under functions/ingester/source speaks
// it.
type Venue interface {
	// Info says which markets they are.
	Info() source.MarketInfo

	// Pairs lists what trades now.
	Pairs(ctx context.Context) ([]market.Pair, error)

	// Klines returns candles that have ended and open from a time on (ms), at most so
	// many, and the open one behind them; KlinesMost is how many are worth asking for at
	// once.
	Klines(ctx context.Context, pair market.Pair, i market.Interval, from int64, most int) (market.CandleRun, error)
	KlinesMost() int

	// Follow delivers the trades of pairs and, of perpetuals, whatever else the venue
	// pushes, until ctx ends, the sink fails, or the venue does not let one of the pairs be
	// followed ([source.ErrSubscription]). What comes is counted in stats.
	Follow(ctx context.Context, pairs []market.Pair, stats *source.Stats, sink source.EventSink) error
}

// Tickers is what a [Venue] says of all its pairs at once.
type Tickers interface {
	// Tickers asks for the last 24 hours of pairs, which are those of [Venue.Pairs]. One
	// of which the venue says nothing is left out.
	Tickers(ctx context.Context, pairs []market.Pair) ([]market.PairTicker, error)
}

// Contracts is what a [Venue] of perpetuals says besides. What can be had of some pairs
// only comes with an error.
type Contracts interface {
	// Interests asks for the open interest of pairs; nil of a venue that pushes it.
	Interests(ctx context.Context, pairs []market.Pair) ([]market.PairInterest, error)

	// PastFundings returns the funding rates that were paid from a time until before
	// another (ms), oldest first, as far as the venue reaches back.
	PastFundings(ctx context.Context, pair market.Pair, from, to int64) ([]market.PairFunding, error)

	// PastInterests and PastRatios return the open interest and a kind of ratios in steps of
	// five minutes, likewise; nil of a venue that has none.
	PastInterests(ctx context.Context, pair market.Pair, from, to int64) ([]market.PairInterest, error)
	PastRatios(ctx context.Context, kind market.RatioKind, pair market.Pair, from, to int64) ([]market.PairRatio, error)
}

// Books is what a [Venue] pushes of order books.
type Books interface {
	// FollowBooks delivers the order books of pairs as books says, likewise; what comes is
	// counted in stats.
	FollowBooks(ctx context.Context, pairs []market.Pair, books source.Books, stats *source.Stats, sink source.EventSink) error
}

// exchange is one that can be followed: the setting of where it is simulated, and what
// opens the kinds of its markets there or, for "", at its public addresses.
type exchange struct {
	url  *catalog.Setting
	open func(url string, log *slog.Logger) []venue
}

// exchanges are those that can be followed, by the name that the configuration uses. An
// exchange is a line here.
var exchanges = map[string]exchange{
	"binance": {catalog.EnvBinanceURL, opened(binance.Open)},
	"okx":     {catalog.EnvOKXURL, opened(okx.Open)},
	"bybit":   {catalog.EnvBybitURL, opened(bybit.Open)},
}

// venue is a [Venue] with what it says of itself.
type venue struct {
	Venue
	source.MarketInfo
}

// stream follows the pairs that are always followed.
func (v venue) stream(ctx context.Context, pairs []market.Pair, sink source.EventSink) error {
	return v.Follow(ctx, pairs, v.Stats, sink)
}

// Info is that of both.
func (v venue) Info() source.MarketInfo { return v.MarketInfo }

// opened makes venues of the markets that a package opens.
func opened[M Venue](open func(url string, log *slog.Logger) []M) func(string, *slog.Logger) []venue {
	return func(url string, log *slog.Logger) (all []venue) {
		for _, m := range open(url, log) {
			all = append(all, venue{m, m.Info()})
		}
		return all
	}
}

// venues are the kinds of markets of the exchanges that the configuration names.
func (c Config) venues() (all []venue, err error) {
	for _, name := range c.Exchanges {
		x, ok := exchanges[name]
		if !ok {
			return nil, fmt.Errorf("%s is no exchange that can be followed; accepted are %s", name, strings.Join(slices.Sorted(maps.Keys(exchanges)), ", "))
		}
		all = append(all, x.open(c.URLs[name], c.Logger)...)
	}
	return all, nil
}

// quoteCoin is the one in which followed pairs are priced, but for inverse ones: their
// prices are in US dollars.
const quoteCoin = "USDT"

// mostFollowed is how many pairs of a kind of markets are followed at most: more than a
// connection takes.
const mostFollowed = 1000

// pairsOf picks the pairs of coins, under whatever name an exchange trades them.
func pairsOf(coins []string, pairs []market.Pair) (picked []market.Pair) {
	wanted := make(map[string]bool, len(coins))
	for _, coin := range coins {
		wanted[market.CoinOfBase(coin)] = true
	}
	for _, p := range pairs {
		if len(picked) == mostFollowed {
			break
		}
		if (p.Quote == quoteCoin || p.Inverse) && wanted[p.Coin()] {
			picked = append(picked, p)
		}
	}
	return picked
}
