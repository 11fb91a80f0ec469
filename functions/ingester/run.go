package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"quotary/functions/ingester/ingest"
	"quotary/functions/ingester/lease"
	"quotary/functions/ingester/projection"
	"quotary/shared/market"
	"quotary/shared/metrics"
	"quotary/shared/source/hyperliquid"
	"quotary/shared/store"
	"quotary/shared/store/schema"
)

// ingester is what a process has ready while it stands by: settings, and clients
// that are connected to the tables.
type ingester struct {
	settings
	clients
	stores ingest.Stores
	serves bool              // the WebSocket feeds
	info   *hyperliquid.Info // one budget for all who ask the public API; nil without
	health *ingest.Health
	log    *slog.Logger
}

// Run does the work of the ingester whenever this process holds the lease, and
// stands by else, until ctx ends. It serves its health meanwhile.
func (runCommand) Run(ctx context.Context) error {
	s, c, stores, err := open(ctx)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil)).With("program", "ingester")
	i := &ingester{settings: s, clients: c, stores: stores, log: log}
	if s.url != "" {
		i.info = hyperliquid.NewInfo(s.url)
	}
	if i.serves, err = s.hasFeeds(ctx, c); err != nil {
		return err
	}
	rank := &ranking{settings: s}
	rank.look()
	l := &lease.Lease{DB: c.dynamodb, Table: s.prefix + schema.SeriesTable, Name: "ingester", Owner: s.owner(), Timing: lease.Standard, Log: log, Rank: rank.known.Load}
	i.health = &ingest.Health{Lease: l, Now: time.Now}
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		return fmt.Errorf("listen for health checks on QUOTARY_INGESTER_ADDR: %w", err)
	}
	server := &http.Server{Handler: i.health.Handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	log.Info("started", "health", listener.Addr().String(), "owner", l.Owner, "spool", s.spool, "feeds", i.serves)

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve health checks: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		rank.watch(ctx)
		return nil
	})
	reporting, stop := context.WithCancel(context.WithoutCancel(ctx))
	group.Go(func() error {
		report := ingest.Report{Health: i.health, Out: metrics.New(os.Stdout, s.metrics, time.Now)}
		report.Run(reporting)
		return nil
	})
	group.Go(func() error {
		defer server.Close()
		defer stop()
		return i.attend(ctx, l)
	})
	err = group.Wait()
	log.Info("stopped", "error", fmt.Sprint(err))
	return err
}

// owner is the name of this process in the lease.
func (s settings) owner() string {
	if s.name != "" {
		return s.name
	}
	host, err := os.Hostname()
	if err != nil {
		host = "ingester"
	}
	return host + "/" + rand.Text()[:8]
}

// attend holds the lease and works, again and again as others take it and leave
// it, until ctx ends or the work fails.
func (i *ingester) attend(ctx context.Context, l *lease.Lease) error {
	for ctx.Err() == nil {
		err := l.Hold(ctx, i.work)
		switch {
		case errors.Is(err, lease.ErrAsked):
			i.log.Info("another ingester takes over; standing by", "why", err.Error())
		case errors.Is(err, lease.ErrLost), errors.Is(err, store.ErrFenced):
			i.log.Warn("another ingester has taken over; standing by", "error", err.Error())
		default:
			return err
		}
	}
	return nil
}

// work follows the sources and serves the feeds for one term.
func (i *ingester) work(ctx context.Context, term *lease.Term) error {
	stores := i.stores.Under(term)
	feeds := i.newFeeds(stores, term)
	p := &ingest.Pipeline{Stores: stores, Sources: i.sources(i.info, feeds, i.log), Log: i.log, Term: term}
	p.Sources = append(p.Sources, i.marketSources(i.info, stores, i.log)...)
	duty := ingest.Duty{Pipeline: p, Began: time.Now()}
	if feeds != nil {
		p.Applied = func(e *market.Events, set *projection.Set) { feeds.Applied(e, set) }
		duty.Feeds = feeds.Totals
	}
	if i.spool != "" {
		p.Spool = &ingest.Spool{Dir: i.spool, Stats: new(hyperliquid.Stats), Log: i.log}
	}
	i.health.Begin(duty)
	defer i.health.End()

	// The feeds end with the pipeline, the pipeline with ctx or a fault.
	group, ctx := errgroup.WithContext(ctx)
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	if feeds != nil {
		group.Go(func() error { return feeds.Run(serving) })
	}
	group.Go(func() error {
		defer stop()
		return p.Run(ctx)
	})
	return group.Wait()
}
