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

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/guard"
	"quotary/functions/ingester/lease"
	"quotary/shared/aws/metrics"
	"quotary/shared/catalog"
	"quotary/shared/store/schema"
)

// Run does the work of each domain whenever this process holds its lease, and
// stands by else, until ctx ends. It serves its health meanwhile.
func (runCommand) Run(ctx context.Context) error {
	i, err := open(ctx)
	if err != nil {
		return err
	}
	i.log = slog.New(slog.NewJSONHandler(os.Stdout, nil)).With("program", "ingester")
	runners := i.runners()
	listener, err := net.Listen("tcp", i.address)
	if err != nil {
		return fmt.Errorf("listen for health checks on %s: %w", catalog.EnvIngesterAddr, err)
	}
	health := engine.Health{Runners: runners, Now: time.Now}
	server := &http.Server{Handler: health.Handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	i.log.Info("started", "health", listener.Addr().String(), "owner", runners[0].Lease.Owner, "domains", i.domains)

	group, ctx := guard.WithContext(ctx)
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve health checks: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		defer server.Close()
		return i.work(ctx, runners)
	})
	err = group.Wait()
	i.log.Info("stopped", "error", fmt.Sprint(err))
	return err
}

// runners are the domains that the settings name, each with a lease of its own.
func (i *ingester) runners() (runners []*engine.Runner) {
	owner := i.owner()
	for _, name := range i.domains {
		log := i.log.With("domain", name)
		domain := i.configured[name](i, engine.Host{Stores: i.stores, Objects: i.s3, Bucket: i.bucket, Retention: i.retention, Logger: log})
		l := &lease.Lease{DB: i.dynamodb, Table: i.prefix + schema.SeriesTable, Name: engine.LeaseName(name), Owner: owner, Timing: lease.Standard, Log: log, Rank: domain.Rank}
		runners = append(runners, &engine.Runner{Domain: domain, Lease: l, Logger: log})
	}
	return runners
}

// work runs the domains until ctx ends, and reports on them until all have ended.
func (i *ingester) work(ctx context.Context, runners []*engine.Runner) error {
	out := metrics.New(os.Stdout, i.metrics, time.Now)
	var domains, reports guard.Group
	reporting, stop := context.WithCancel(context.WithoutCancel(ctx))
	for _, r := range runners {
		domains.Go(func() error { return r.Run(ctx) })
		reports.Go(func() error {
			(&engine.Report{Runner: r, Out: out, Now: time.Now}).Run(reporting)
			return nil
		})
	}
	err := domains.Wait()
	stop()
	return errors.Join(err, reports.Wait())
}

// owner is the name of this process in the leases.
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
