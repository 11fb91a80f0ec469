package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"quotary/shared/aws/metrics"
	"quotary/shared/catalog"
	"quotary/shared/gate/connections"
)

// budget is what a connection may send in a minute, and its messages read and write: far more
// than a client that follows everything sends, heartbeats included. The dearest messages, which
// read 30,000 addresses and what was left in the last minute, or write again what is left of
// 2,500, would cost ten times as much.
var budget = connections.Budget{Messages: 2000, Bytes: 4 << 20, Reads: 100_000}

// shutOut closes the connection of a client that sends too much, and keeps its key out
// for a while.
func (s *socket) shutOut(ctx context.Context, event *events.APIGatewayWebsocketProxyRequest, c client) error {
	s.metrics.Count(metrics.Denials, metrics.Label{Name: metrics.Reason, Value: string(catalog.ReasonTooManyMessages)})
	err := s.store.Bar(ctx, c.AccessKey)
	s.bars.Delete(c.AccessKey)
	removed, removing := s.store.Remove(ctx, c.Connection)
	if removed {
		s.log.LogAttrs(ctx, slog.LevelInfo, "removed a connection",
			slog.String("reason", string(connections.ReasonFlood)), slog.String("key", c.AccessKey))
	}
	return errors.Join(err, removing, s.hangUp(ctx, event))
}

// bar is whether a key is kept out, as it was known until a time.
type bar struct {
	out   bool
	until time.Time
}

// barKept is for how long an instance remembers that.
const barKept = time.Second

// keptOut reports whether a key is kept out.
func (s *socket) keptOut(ctx context.Context, accessKey string) (bool, error) {
	now := s.clock()
	if known, ok := s.bars.Get(accessKey); ok && now.Before(known.until) {
		return known.out, nil
	}
	out, err := s.store.Barred(ctx, accessKey)
	if err != nil {
		return false, err
	}
	s.bars.Set(accessKey, bar{out, now.Add(barKept)})
	return out, nil
}
