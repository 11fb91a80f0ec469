package reference

import (
	"context"
	"log/slog"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/lease"
	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/coingecko"
	"quotary/functions/ingester/source/ecb"
	"quotary/shared/aws/metrics"
	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/service/config"
)

// Name is that of the domain.
const Name = "reference"

// themesEvery is how often the coins of themes are asked for, five calls: some hundred of the
// 10,000 of a month.
const themesEvery = 24 * time.Hour

// Config is what the domain follows. Its stores and logger are set by whoever runs it.
type Config struct {
	CoinsURL   string        // of CoinGecko, or whoever speaks its protocol; "" asks nobody
	CoinsKey   string        // of the account there; "" has none
	CoinsPages int           // pages of 250 coins, from the largest on
	CoinsEvery time.Duration // between two looks at all pages
	RatesURL   string        // of the European Central Bank's files; "" asks nobody
	RatesEvery time.Duration // between two looks at the last day
	Indices    Indices
	Filings    Filings
	DropsEvery time.Duration // between two looks for drops

	Stores  engine.Stores
	Objects engine.DropObjects // where drops lie
	Bucket  string
	Logger  *slog.Logger
}

// Settings reads what the domain follows from the environment.
func Settings(env *config.Env) Config {
	return Config{
		CoinsURL:   env.Text(catalog.EnvCoinGeckoURL),
		CoinsKey:   env.Text(catalog.EnvCoinGeckoKey),
		CoinsPages: env.Int(catalog.EnvCoinGeckoPages),
		CoinsEvery: env.Duration(catalog.EnvCoinGeckoEvery),
		RatesURL:   env.Text(catalog.EnvRatesURL),
		RatesEvery: env.Duration(catalog.EnvRatesEvery),
		Indices:    indexSettings(env),
		Filings:    filingSettings(env),
		DropsEvery: env.Duration(catalog.EnvDropsEvery),
	}
}

// Domain returns the domain for a process to run.
func (c Config) Domain(host engine.Host) engine.Domain {
	c.Stores, c.Logger = host.Stores, host.Logger
	c.Objects, c.Bucket = host.Objects, host.Bucket
	return engine.Domain{Name: Name, Begin: c.begin}
}

// begin makes the pipeline of one term.
func (c Config) begin(_ context.Context, term *lease.Term) (engine.Work, error) {
	c.Stores = c.Stores.Under(term)
	return c.pipeline(term), nil
}

func (c Config) pipeline(term *lease.Term) *engine.Pipeline[*Batch] {
	left := new(leftOut)
	p := &engine.Pipeline[*Batch]{Domain: Name, Stores: c.Stores, NewBatch: NewBatch, Logs: Logs, Projections: Projections(left), Holds: holds, Logger: c.Logger, Term: term}
	p.Figures = func() []engine.Figure {
		return []engine.Figure{{Name: metrics.OtherVenuesLeftOut, Unit: metrics.Count, Value: left.venues.Load(), Grows: true}}
	}
	if c.CoinsURL != "" {
		stats := new(source.Stats)
		coins := &coingecko.Markets{URL: c.CoinsURL, Key: c.CoinsKey, Pages: c.CoinsPages, Every: c.CoinsEvery, ThemesEvery: themesEvery, Stats: stats, Log: source.Watched(c.Logger.With("source", "coingecko"), stats)}
		prices := polled("coingecko", coins.Stats, func(ctx context.Context, sink engine.Sink[*Batch]) error {
			coins.Themes = func(ctx context.Context, theme market.CoinTheme) error {
				return sink(ctx, engine.Delivery[*Batch]{Batch: &Batch{Themes: []market.CoinTheme{theme}}})
			}
			return coins.Follow(ctx, func(ctx context.Context, list []market.CoinMarket) error {
				return sink(ctx, engine.Delivery[*Batch]{Batch: &Batch{Coins: list}})
			})
		})
		prices.Brings = catalog.AllOf(catalog.ReferenceCoins, catalog.ReferencePrices)
		p.Sources = append(p.Sources, prices)
	}
	if c.RatesURL != "" {
		stats := new(source.Stats)
		rates := &ecb.Rates{URL: c.RatesURL, Every: c.RatesEvery, Stats: stats, Log: source.Watched(c.Logger.With("source", "ecb"), stats)}
		daily := polled("ecb", rates.Stats, func(ctx context.Context, sink engine.Sink[*Batch]) error {
			return rates.Follow(ctx, func(ctx context.Context, days []market.DayRates) error {
				return sink(ctx, engine.Delivery[*Batch]{Batch: &Batch{Rates: days}})
			})
		})
		daily.Brings = catalog.AllOf(catalog.ReferenceRates)
		p.Sources = append(p.Sources, daily)
	}
	p.Sources = append(append(p.Sources, c.Indices.sources(c.Logger)...), c.Filings.sources(c.Logger)...)
	drops := &engine.Drops[*Batch]{Domain: Name, Datasets: Drops, NewBatch: NewBatch, Objects: c.Objects, Bucket: c.Bucket, Series: c.Stores.Series,
		Every: c.DropsEvery, Stats: new(source.Stats), Logger: c.Logger.With("source", "drops")}
	p.Sources = append(p.Sources, drops.Source())
	return p
}

// polled is a source without positions: what it missed is asked for again.
func polled(name string, stats *source.Stats, follow func(context.Context, engine.Sink[*Batch]) error) engine.Source[*Batch] {
	return engine.Source[*Batch]{Name: name, Stats: stats, NoCheckpoint: true, Awaited: true,
		Follow: func(ctx context.Context, _ engine.Position, sink engine.Sink[*Batch]) error { return follow(ctx, sink) }}
}
