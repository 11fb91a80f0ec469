package exchange

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/lease"
	"quotary/shared/catalog"
	"quotary/shared/config"
	"quotary/shared/metrics"
)

// Name is that of the domain.
const Name = metrics.ExchangeDomain

// Config is what the domain follows and where it writes.
type Config struct {
	Stores engine.Stores
	Logger *slog.Logger

	Exchanges  []string      // platforms, which venues.go lists; empty follows none
	Coins      []string      // whose pairs with USDT are followed, spot and perpetual, in upper case
	Depth      Depth         // how much of the past is kept
	Refresh    time.Duration // between writes of the rows of open buckets
	ListEvery  time.Duration // between two looks at what pairs trade; 0 means an hour
	BinanceURL string        // where all of Binance is simulated; "" is Binance itself
}

// Settings reads the domain's part of the environment.
func Settings(env *config.Env) Config {
	return Config{
		Exchanges: names(env.Optional(catalog.EnvExchanges, "")),
		Coins:     names(strings.ToUpper(env.Optional(catalog.EnvExchangeCoins, strings.Join(mostTraded, ",")))),
		Depth: Depth{
			Minutes: env.Int(catalog.EnvExchangeMinutes, 7, 1, "how many days of K-lines of a minute are filled back when a pair is first followed"),
			Hours:   env.Int(catalog.EnvExchangeHours, 365, 1, "how many days of K-lines of an hour are filled back"),
		},
		Refresh:    env.Duration(catalog.EnvExchangeRefresh, 10*time.Second, "how often the rows of open K-lines are written"),
		BinanceURL: env.Optional(catalog.EnvBinanceURL, ""),
	}
}

func (c Config) listEvery() time.Duration { return cmp.Or(c.ListEvery, time.Hour) }

// mostTraded are the 30 coins with the most volume against USDT on Binance, spot and
// perpetual together, without stable coins, in no order.
var mostTraded = []string{
	"BTC", "ETH", "SOL", "XRP", "DOGE", "BNB", "ADA", "SUI", "LINK", "AVAX",
	"TRX", "LTC", "DOT", "BCH", "UNI", "NEAR", "APT", "AAVE", "FIL", "ETC",
	"ARB", "OP", "WIF", "PEPE", "SHIB", "HBAR", "XLM", "INJ", "TAO", "ENA",
}

// names reads a list that is separated by commas.
func names(list string) (all []string) {
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// Domain returns the domain for a process to run.
func (c Config) Domain() engine.Domain {
	return engine.Domain{Name: Name, Begin: c.begin}
}

// begin makes the pipeline of one term.
func (c Config) begin(_ context.Context, term *lease.Term) (engine.Work, error) {
	followed, err := c.venues()
	if err != nil {
		return nil, err
	}
	p := &engine.Pipeline[*Batch]{
		Domain: Name, Stores: c.Stores.Under(term), NewBatch: NewBatch, Projections: Projections(c.Refresh), Logger: c.Logger, Term: term,
	}
	for _, v := range followed {
		p.Sources = append(p.Sources, c.sources(v)...)
	}
	return p, nil
}
