package main

import (
	"context"
	"log/slog"
	"time"

	"quotary/functions/ingester/ingest"
	"quotary/shared/data/funding"
	"quotary/shared/source/hyperliquid"
)

// marketSources tell of whole markets. Where a node is followed it tells what
// funding was paid; the public API is asked for the same with its past, and for
// the figures of all coins. Without a client it is not.
func (s settings) marketSources(info *hyperliquid.Info, stores ingest.Stores, log *slog.Logger) []ingest.Source {
	var sources []ingest.Source
	if s.nodeDir != "" {
		for _, stream := range hyperliquid.LedgerStreams {
			files := s.files(stream, log)
			files.Read = hyperliquid.ReadFunding
			sources = append(sources, ingest.Source{Name: "funding of " + stream, Stats: files.Stats, Follow: files.Follow})
		}
	}
	if info == nil {
		return sources
	}
	contexts := &hyperliquid.Contexts{Info: info, Stats: new(hyperliquid.Stats), Log: log.With("source", "contexts")}
	newest := func(ctx context.Context, coin string) (time.Time, error) {
		return funding.NewestFinal(ctx, stores.Series, coin)
	}
	paid := &hyperliquid.Funding{Info: info, Newest: newest, Stats: new(hyperliquid.Stats), Log: log.With("source", "funding")}
	return append(sources,
		asking("contexts", contexts.Stats, contexts.Follow),
		asking("funding", paid.Stats, paid.Follow))
}

// asking is a source without positions, whose silence is no trouble: it tells
// only what others do not wait for.
func asking(name string, stats *hyperliquid.Stats, follow func(context.Context, hyperliquid.Sink) error) ingest.Source {
	return ingest.Source{Name: name, Stats: stats, NoCheckpoint: true,
		Follow: func(ctx context.Context, _ hyperliquid.Position, sink hyperliquid.Sink) error {
			return follow(ctx, sink)
		}}
}
