package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"quotary/shared/connections"
	"quotary/shared/metrics"
)

// budget is what a connection may send in a minute: far more than a client that follows
// everything sends, heartbeats included.
var budget = connections.Budget{Messages: 2000, Bytes: 4 << 20}

// shutOut closes the connection of a client that sends too much, and keeps its key out
// for a while.
func (s *socket) shutOut(ctx context.Context, event *events.APIGatewayWebsocketProxyRequest, c client) error {
	s.metrics.Count(metrics.Denials, metrics.Label{Name: metrics.Reason, Value: "flood"})
	err := s.store.Bar(ctx, c.AccessKey)
	s.barred.forget(c.AccessKey)
	removed, removing := s.store.Remove(ctx, c.Connection)
	if removed {
		s.log.LogAttrs(ctx, slog.LevelInfo, "removed a connection",
			slog.String("reason", string(connections.ReasonFlood)), slog.String("key", c.AccessKey))
	}
	return errors.Join(err, removing, s.hangUp(ctx, event))
}

// barred remembers for a moment whether keys are kept out.
type barred struct {
	mu    sync.Mutex
	byKey map[string]bar
}

type bar struct {
	out   bool
	until time.Time
}

const (
	barredKept = time.Second
	barredMost = 10_000 // keys
)

// has reports whether a key is kept out.
func (b *barred) has(ctx context.Context, s *socket, accessKey string) (bool, error) {
	now := s.clock()
	b.mu.Lock()
	defer b.mu.Unlock() // an instance handles one event at a time
	if known, ok := b.byKey[accessKey]; ok && now.Before(known.until) {
		return known.out, nil
	}
	out, err := s.store.Barred(ctx, accessKey)
	if err != nil {
		return false, err
	}
	if b.byKey == nil || len(b.byKey) >= barredMost {
		b.byKey = make(map[string]bar)
	}
	b.byKey[accessKey] = bar{out, now.Add(barredKept)}
	return out, nil
}

// forget has the next look go to the table.
func (b *barred) forget(accessKey string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.byKey, accessKey)
}
