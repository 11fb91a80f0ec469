package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"quotary/shared/api"
	"quotary/shared/aws/metrics"
	"quotary/shared/aws/readunits"
	"quotary/shared/catalog"
	"quotary/shared/data/delivered"
	"quotary/shared/data/listed"
	"quotary/shared/gate/admission"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/gate/keys"
	"quotary/shared/lru"
	"quotary/shared/text/strictjson"
)

// socket serves the routes of every feed.
type socket struct {
	store      *connections.Store
	meter      *connections.Meter
	spending   *connections.Spending
	bars       lru.Cache[string, bar] // by key
	keys       *keys.Store
	coins      *listed.Coins
	delivered  *delivered.Reader
	management management
	log        *slog.Logger
	metrics    *metrics.Writer // nil counts nothing
	clock      func() time.Time
	readUnits  float64 // what a message may read

	// switchWithin is how long a client may take to leave an account while it asks for
	// another on the same channel.
	switchWithin time.Duration
}

// answer is what an event came to.
type answer struct {
	status int
	reason catalog.Reason // of a refusal; "" for none
	body   []byte
	fault  error // for the log, not for the client
}

// Invoke answers one event. Its error is always nil: faults become answers.
func (s *socket) Invoke(ctx context.Context, event events.APIGatewayWebsocketProxyRequest) (events.APIGatewayProxyResponse, error) {
	started := s.clock()
	within, cancel := api.WithReserve(ctx)
	defer cancel()
	a := s.serve(within, &event)
	s.record(ctx, &event, &a, s.clock().Sub(started))
	res := events.APIGatewayProxyResponse{StatusCode: a.status, Body: string(a.body)}
	if event.RequestContext.RouteKey == "$connect" {
		res.Headers = map[string]string{"Content-Type": "application/json"}
	}
	return res, nil
}

func (s *socket) serve(ctx context.Context, event *events.APIGatewayWebsocketProxyRequest) (a answer) {
	defer func() {
		if crash := recover(); crash != nil {
			a = fail(fmt.Errorf("panic: %v\n%s", crash, debug.Stack()))
		}
	}()
	feed := channel.Feed(event.StageVariables[catalog.VariableFeed])
	if !feed.Known() {
		return fail(fmt.Errorf("the stage variable feed names no feed: %.40q", feed))
	}
	switch event.RequestContext.RouteKey {
	case "$connect":
		return s.connect(ctx, event, feed)
	case "$disconnect":
		who, _ := caller(event)
		ctx, units := readunits.WithBudget(ctx, math.Inf(1))
		_, err := s.store.Remove(ctx, event.RequestContext.ConnectionID)
		s.spent(who, units)
		if err != nil {
			return fail(err) // the sweeper frees the slots
		}
		return answer{status: http.StatusOK}
	}
	return s.message(ctx, event, feed)
}

// caller returns whom the authorizer let in; its context comes with every event
// of a connection.
func caller(event *events.APIGatewayWebsocketProxyRequest) (admission.Caller, *admission.Refusal) {
	context, _ := event.RequestContext.Authorizer.(map[string]any)
	c, _, refusal := admission.CallerFrom(context)
	return c, refusal
}

// errFlood refuses the handshakes of a key that is kept out.
var errFlood = api.Refuse(catalog.ReasonTooManyMessages, "the connections of the sub key have sent more messages, or dearer ones, than are accepted: connect again in a minute")

// connect takes a slot for a new connection, or refuses the handshake.
func (s *socket) connect(ctx context.Context, event *events.APIGatewayWebsocketProxyRequest, feed channel.Feed) answer {
	who, refusal := caller(event)
	if refusal != nil {
		return refuse(event, refusal)
	}
	dex, err := dexOf(event, feed)
	if err == nil {
		err = s.checkDex(ctx, dex)
	}
	if err != nil {
		return refuse(event, refusalOf(err))
	}
	if out, err := s.keptOut(ctx, who.AccessKey); err != nil {
		return refuse(event, err)
	} else if out {
		s.metrics.Count(metrics.Denials, metrics.Label{Name: metrics.Reason, Value: string(catalog.ReasonTooManyMessages)})
		return refuse(event, errFlood)
	}
	ctx, units := readunits.WithBudget(ctx, math.Inf(1))
	if err := s.spending.Check(ctx, who.AccessKey, who.Distributor); errors.Is(err, connections.ErrFlood) {
		return refuse(event, cmp.Or(s.bar(ctx, who.AccessKey), errFlood))
	} else if err != nil {
		return refuse(event, err)
	}
	defer func() { s.spent(who, units) }()
	err = s.store.Connect(ctx, connections.Connection{
		ID: event.RequestContext.ConnectionID, Key: who.AccessKey, Distributor: who.Distributor,
		Feed: feed, Dex: dex, Endpoint: endpoint(event), Generation: who.Generation,
	}, connections.Limits{
		Key: who.WSConnLimit, KeySince: who.WSConnSince, Distributor: who.DistributorWSConnLimit, DistributorSince: who.DistributorWSConnSince,
	})
	var over *connections.LimitError
	switch {
	case errors.As(err, &over):
		s.metrics.Count(metrics.Denials, metrics.Label{Name: metrics.Reason, Value: string(catalog.ReasonConnectionsExceeded)})
		return refuse(event, api.Refuse(catalog.ReasonConnectionsExceeded, "ws connection limit exceeded for sub key"))
	case err != nil:
		return refuse(event, refusalOf(err))
	}
	return answer{status: http.StatusOK}
}

// dexOf returns the dex that a connection names.
func dexOf(event *events.APIGatewayWebsocketProxyRequest, feed channel.Feed) (string, error) {
	if !feed.TakesDex() {
		return "", nil
	}
	dex := event.QueryStringParameters["dex"]
	if values := event.MultiValueQueryStringParameters["dex"]; len(values) > 1 {
		return "", api.BadParameter("dex is given more than once: a connection follows one dex, use several connections for several")
	} else if len(values) == 1 {
		dex = values[0]
	}
	if !channel.ValidDex(dex) {
		return "", api.BadParameter("dex must be %s", channel.DexRule)
	}
	return dex, nil
}

// refuse answers a handshake, with the error body of the REST endpoints.
func refuse(event *events.APIGatewayWebsocketProxyRequest, err error) answer {
	reason, body := api.Render(err, event.RequestContext.RequestID)
	a := answer{status: reason.Status(), reason: reason, body: body}
	if reason == catalog.ReasonInternal {
		a.fault = err
	}
	return a
}

// fail answers an event of which nobody reads a body.
func fail(fault error) answer {
	return answer{status: catalog.ReasonInternal.Status(), reason: catalog.ReasonInternal, fault: fault}
}

// refusalOf turns what the client may read of an error into an [api.Error]; any other is a
// fault and stays as it is.
func refusalOf(err error) error {
	var wrong *strictjson.Error
	var exceeded *readunits.ExceededError
	switch {
	case errors.As(err, &wrong):
		return api.BadParameter("%s", wrong.Error())
	case errors.As(err, &exceeded):
		return api.Refuse(catalog.ReasonTooDear, "the connection follows too much for the message to be carried out: use another connection")
	case errors.Is(err, connections.ErrCounting):
		return api.Refuse(catalog.ReasonNotReady, "%s", connections.ErrCounting.Error())
	}
	return err
}

// record writes the one log line of an event: nothing that a client wrote.
func (s *socket) record(ctx context.Context, event *events.APIGatewayWebsocketProxyRequest, a *answer, took time.Duration) {
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("request_id", event.RequestContext.RequestID),
		slog.String("route", event.RequestContext.RouteKey),
		slog.String("feed", event.StageVariables[catalog.VariableFeed]),
		slog.String("connection", event.RequestContext.ConnectionID),
		slog.Int("status", a.status),
		slog.Int64("us", took.Microseconds()),
	}
	if who, refusal := caller(event); refusal == nil {
		attrs = append(attrs, slog.String("key", who.AccessKey))
	}
	if a.reason != "" {
		attrs = append(attrs, slog.String("reason", string(a.reason)))
	}
	if a.fault != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.String("err", a.fault.Error()))
	}
	s.log.LogAttrs(ctx, level, "event", attrs...)
	if a.fault != nil {
		s.metrics.Count(metrics.Faults, metrics.Label{Name: metrics.Function, Value: catalog.FunctionSocket})
	}
}
