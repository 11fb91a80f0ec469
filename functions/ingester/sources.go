package main

import (
	"context"
	"log/slog"
	"path/filepath"

	"quotary/functions/ingester/feeds"
	"quotary/functions/ingester/ingest"
	"quotary/shared/market"
	"quotary/shared/source/hyperliquid"
)

// sources are those that the settings name, shown to the feeds where there are
// any. Where a node is followed, it tells every trade, and the public API is only
// asked for the rest.
func (s settings) sources(info *hyperliquid.Info, feeds *feeds.Feeds, log *slog.Logger) []ingest.Source {
	var sources []ingest.Source
	if s.nodeDir != "" {
		for _, stream := range hyperliquid.Streams {
			files := s.files(stream, log)
			sources = append(sources, ingest.Source{Name: stream, Group: "node", Stats: files.Stats, Follow: files.Follow})
		}
		for _, stream := range hyperliquid.OrderStreams {
			files := s.files(stream, log)
			files.Read = hyperliquid.ReadFilled
			if s.orders == ordersAll {
				files.Read = hyperliquid.ReadOrders
			}
			sources = append(sources, ingest.Source{Name: stream, Stats: files.Stats, Follow: files.Follow})
		}
		if feeds != nil {
			sources = append(sources, s.present(hyperliquid.LedgerStreams[:], hyperliquid.ReadLedgers, log)...)
		}
	}
	if s.url != "" {
		public := &hyperliquid.Feed{URL: s.url, Trades: s.nodeDir == "", Books: true, Info: info, Stats: new(hyperliquid.Stats), Log: log.With("source", "hyperliquid")}
		sources = append(sources, ingest.Source{Name: "hyperliquid", Group: "hyperliquid", Stats: public.Stats, NoCheckpoint: true,
			Follow: func(ctx context.Context, _ hyperliquid.Position, sink hyperliquid.Sink) error {
				return public.Follow(ctx, sink)
			}})
	}
	for i := range sources {
		follow, checkpointed := sources[i].Follow, !sources[i].NoCheckpoint
		sources[i].Follow = func(ctx context.Context, from hyperliquid.Position, sink hyperliquid.Sink) error {
			if feeds != nil {
				sink = feeds.Tap(sink, checkpointed)
			}
			return follow(ctx, from, sink)
		}
	}
	return sources
}

func (s settings) folder(stream string) string {
	return filepath.Join(s.nodeDir, stream, "hourly")
}

func (s settings) files(stream string, log *slog.Logger) *hyperliquid.Files {
	return &hyperliquid.Files{Dir: s.folder(stream), Stats: new(hyperliquid.Stats), Log: log.With("source", stream)}
}

// present are streams of the node that only the feeds want: what they told
// before the start is of no interest.
func (s settings) present(streams []string, read func(*market.Events, string, int64) (int, error), log *slog.Logger) []ingest.Source {
	sources := make([]ingest.Source, 0, len(streams))
	for _, stream := range streams {
		files := s.files(stream, log)
		files.Read = read
		sources = append(sources, ingest.Source{Name: stream, Stats: files.Stats, NoCheckpoint: true,
			Follow: func(ctx context.Context, _ hyperliquid.Position, sink hyperliquid.Sink) error {
				end, err := files.End()
				if err != nil {
					log.Warn("cannot find the end of a stream; reading all of it", "source", stream, "error", err.Error())
				}
				return files.Follow(ctx, end, sink)
			}})
	}
	return sources
}
