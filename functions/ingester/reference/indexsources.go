package reference

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/daily"
	"quotary/shared/catalog"
	"quotary/shared/data/drop"
	"quotary/shared/data/indices"
	"quotary/shared/market"
	"quotary/shared/service/config"
)

// Indices is which indexes and daily prices are asked for.
type Indices struct {
	FearGreedURL string // of alternative.me; "" asks nobody
	VIXURL       string // of the folder of Cboe's file; "" asks nobody
	StooqURL     string // of Stooq; "" asks nobody
	StooqKey     string // of an account there; "" has none
	Symbols      []daily.Symbol
	Every        time.Duration // between two looks at each
}

// maxSymbols bounds the shares that are asked for.
const maxSymbols = 100

func indexSettings(env *config.Env) Indices {
	return Indices{
		FearGreedURL: env.Text(catalog.EnvFearGreedURL),
		VIXURL:       env.Text(catalog.EnvVIXURL),
		StooqURL:     env.Text(catalog.EnvStooqURL),
		StooqKey:     env.Text(catalog.EnvStooqKey),
		Symbols:      config.Parsed(env, catalog.EnvStooqSymbols, parseSymbols),
		Every:        env.Duration(catalog.EnvIndicesEvery),
	}
}

var (
	validSymbol = regexp.MustCompile(`^[A-Za-z0-9^._=-]{1,32}$`)
	validUnit   = regexp.MustCompile(`^([A-Z]{3})?$`)
)

// parseSymbols reads the setting of symbols, a JSON list:
//
//	[{"key": "i:mstr:nasdaq", "symbol": "mstr.us", "unit": "USD"}, {"key": "i:spx:us", "symbol": "^spx"}]
func parseSymbols(text string) ([]daily.Symbol, error) {
	type object struct {
		Key    string `json:"key"`
		Symbol string `json:"symbol"`
		Unit   string `json:"unit"`
	}
	list, err := config.Objects[object](text, "{key, symbol, unit}", maxSymbols, "symbols")
	if err != nil {
		return nil, err
	}
	var symbols []daily.Symbol
	for n, one := range list {
		switch {
		case !market.ValidCoinKey(one.Key):
			return nil, fmt.Errorf("symbol %d: key must be one that clients can send, such as i:mstr:nasdaq, not %q", n+1, one.Key)
		case slices.ContainsFunc(symbols, func(have daily.Symbol) bool { return have.Key == one.Key }):
			return nil, fmt.Errorf("symbol %d: its key is listed twice", n+1)
		case !validSymbol.MatchString(one.Symbol):
			return nil, fmt.Errorf("symbol %d: symbol must be the upstream's, such as mstr.us, not %q", n+1, one.Symbol)
		case !validUnit.MatchString(one.Unit):
			return nil, fmt.Errorf("symbol %d: unit must be a currency such as USD, or be left out for points, not %q", n+1, one.Unit)
		}
		symbols = append(symbols, daily.Symbol{Key: one.Key, Name: one.Symbol, Unit: one.Unit})
	}
	return symbols, nil
}

// sources are those that are set.
func (c Indices) sources(logger *slog.Logger) (all []engine.Source[*Batch]) {
	add := func(name string, s *daily.Series) {
		s.Every, s.Stats = c.Every, new(source.Stats)
		s.Log = source.Watched(logger.With("source", name), s.Stats)
		polls := polled(name, s.Stats, func(ctx context.Context, sink engine.Sink[*Batch]) error {
			return s.Follow(ctx, func(ctx context.Context, asked time.Time, days []market.DayQuote) error {
				b := NewBatch()
				for _, day := range days {
					b.Indices = append(b.Indices, indices.EntryOf(day, drop.Place{Time: asked.UnixMilli()}))
				}
				return sink(ctx, engine.Delivery[*Batch]{Batch: b})
			})
		})
		polls.Brings = catalog.AllOf(catalog.ReferenceIndices)
		all = append(all, polls)
	}
	if c.FearGreedURL != "" {
		add("alternative", daily.FearGreed(c.FearGreedURL, indices.FearGreed))
	}
	if c.VIXURL != "" {
		add("cboe", daily.VIX(c.VIXURL, indices.VIX))
	}
	if c.StooqURL != "" && len(c.Symbols) > 0 {
		add("stooq", daily.Stooq(c.StooqURL, c.StooqKey, c.Symbols))
	}
	return all
}
