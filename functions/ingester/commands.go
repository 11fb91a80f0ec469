package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/functions/ingester/ingest"
	"quotary/functions/ingester/live"
	"quotary/shared/market"
	"quotary/shared/source/hyperliquid"
	"quotary/shared/store"
)

// Run follows the sources until ctx ends. It serves its health meanwhile.
func (runCommand) Run(ctx context.Context) error {
	s, c, stores, err := open(ctx)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil)).With("program", "ingester")
	var info *hyperliquid.Info // one budget for all who ask the public API
	if s.url != "" {
		info = hyperliquid.NewInfo(s.url)
	}
	feeds, err := s.openFeeds(ctx, c, stores, info, log)
	if err != nil {
		return err
	}
	p := &ingest.Pipeline{Stores: stores, Sources: s.sources(info, feeds, log), Log: log}
	p.Sources = append(p.Sources, s.marketSources(info, stores, log)...)
	if feeds != nil {
		p.Applied = feeds.Applied
	}
	if s.spool != "" {
		p.Spool = &ingest.Spool{Dir: s.spool, Stats: new(hyperliquid.Stats), Log: log}
	}
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		return fmt.Errorf("listen for health checks on QUOTARY_INGESTER_ADDR: %w", err)
	}
	health := &ingest.Health{Pipeline: p, Started: time.Now(), Now: time.Now}
	if feeds != nil {
		health.Feeds = feeds.Totals
	}
	server := &http.Server{Handler: health.Handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	log.Info("started", "health", listener.Addr().String(), "sources", len(p.Sources), "spool", s.spool, "feeds", feeds != nil)

	// The server and the feeds end with the pipeline, the pipeline with ctx or a
	// fault.
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve health checks: %w", err)
		}
		return nil
	})
	serving, stop := context.WithCancel(ctx)
	if feeds != nil {
		group.Go(func() error { return feeds.Run(serving) })
	}
	group.Go(func() error {
		defer stop()
		defer server.Close()
		return p.Run(ctx)
	})
	err = group.Wait()
	log.Info("stopped", "error", fmt.Sprint(err))
	return err
}

// sources are those that the settings name, shown to the feeds where there are
// any. Where a node is followed, it tells every trade, and the public API is only
// asked for the rest.
func (s settings) sources(info *hyperliquid.Info, feeds *live.Feeds, log *slog.Logger) []ingest.Source {
	var sources []ingest.Source
	if s.nodeDir != "" {
		for _, stream := range hyperliquid.Streams {
			files := s.files(stream, log)
			sources = append(sources, ingest.Source{Name: stream, Group: "node", Stats: files.Stats, Follow: files.Follow})
		}
		if feeds != nil {
			sources = append(sources, s.present(hyperliquid.OrderStreams[:], hyperliquid.ReadFilled, log)...)
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

func (s settings) files(stream string, log *slog.Logger) *hyperliquid.Files {
	return &hyperliquid.Files{Dir: filepath.Join(s.nodeDir, stream, "hourly"), Stats: new(hyperliquid.Stats), Log: log.With("source", stream)}
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

// Run creates what a deployment creates, where it is not there yet.
func (setupCommand) Run(ctx context.Context) error {
	s, c, _, err := open(ctx)
	if err != nil {
		return err
	}
	if err := store.Create(ctx, c.dynamodb, store.Schema(s.prefix)); err != nil {
		return err
	}
	return store.CreateBucket(ctx, c.s3, s.bucket)
}

// Run replays a file and prints what it holds.
func (r replayCommand) Run(ctx context.Context) error {
	s, _, stores, err := open(ctx)
	if err != nil {
		return err
	}
	if s.spool == "" {
		return errors.New("QUOTARY_SPOOL_DIR is not set: the folder in which the running ingester finds files to replay")
	}
	replay := ingest.Replay{Stores: stores, Spool: ingest.Spool{Dir: s.spool}, Out: os.Stderr}
	counts, err := replay.Run(ctx, r.File)
	if counts.Lines > 0 {
		fmt.Printf("lines %d, fills %d, trades %d, malformed %d, missing %d\n", counts.Lines, counts.Fills, counts.Trades, counts.Malformed, counts.Missing)
	}
	return err
}
