package main

import (
	"context"
	"log/slog"

	"quotary/functions/ingester/ingest"
	"quotary/shared/source/hyperliquid"
)

// marketSources ask the public API for what no stream tells: the figures of all
// coins and the funding that was paid. Without a client there are none.
func marketSources(info *hyperliquid.Info, stores ingest.Stores, log *slog.Logger) []ingest.Source {
	if info == nil {
		return nil
	}
	contexts := &hyperliquid.Contexts{Info: info, Stats: new(hyperliquid.Stats), Log: log.With("source", "contexts")}
	funding := &hyperliquid.Funding{Info: info, Newest: stores.NewestFunding, Stats: new(hyperliquid.Stats), Log: log.With("source", "funding")}
	return []ingest.Source{
		asking("contexts", contexts.Stats, contexts.Follow),
		asking("funding", funding.Stats, funding.Follow),
	}
}

// asking is a source without positions, whose silence is no trouble: it tells
// only what others do not wait for.
func asking(name string, stats *hyperliquid.Stats, follow func(context.Context, hyperliquid.Sink) error) ingest.Source {
	return ingest.Source{Name: name, Stats: stats, NoCheckpoint: true,
		Follow: func(ctx context.Context, _ hyperliquid.Position, sink hyperliquid.Sink) error {
			return follow(ctx, sink)
		}}
}
