package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"quotary/shared/aws/metrics"
	"quotary/shared/aws/readunits"
	"quotary/shared/catalog"
	"quotary/shared/gate/admission"
	"quotary/shared/gate/connections"
)

// budget is what a connection may send in a minute, and its messages read and write: far more
// than a client that follows everything sends, heartbeats included. The dearest messages, which
// read 30,000 addresses and what was left in the last minute, or write again what is left of
// 2,500, would cost ten times as much.
var budget = connections.Budget{Messages: 2000, Bytes: 4 << 20, Reads: 100_000}

// What all connections of a key, and of a distributor, may cost in a minute: a quarter of what a
// table takes at AWS's defaults, 40,000 write units a second, is one distributor's, and half of
// that one key's. Some 20,000 sockets of a key may connect and follow a few things meanwhile.
const (
	keySpending         = 1_500_000
	distributorSpending = 3_000_000
)

// writePrice is what a write unit costs, in read units.
const writePrice = 5

// spent counts what an event of a client has read and written, and returns it.
func (s *socket) spent(who admission.Caller, budget *readunits.Budget) float64 {
	units := budget.Spent() + writePrice*budget.Written()
	s.spending.Add(who.AccessKey, who.Distributor, units)
	return units
}

// shutOut closes the connection of a client that sends too much, and keeps its key out
// for a while.
func (s *socket) shutOut(ctx context.Context, event *events.APIGatewayWebsocketProxyRequest, c client) error {
	err := s.bar(ctx, c.AccessKey)
	removed, removing := s.store.Remove(ctx, c.Connection)
	if removed {
		s.log.LogAttrs(ctx, slog.LevelInfo, "removed a connection",
			slog.String("reason", string(connections.ReasonFlood)), slog.String("key", c.AccessKey))
	}
	return errors.Join(err, removing, s.hangUp(ctx, event))
}

// bar keeps a key out for a while.
func (s *socket) bar(ctx context.Context, accessKey string) error {
	s.metrics.Count(metrics.Denials, metrics.Label{Name: metrics.Reason, Value: string(catalog.ReasonTooManyMessages)})
	err := s.store.Bar(ctx, accessKey)
	s.bars.Delete(accessKey)
	return err
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
