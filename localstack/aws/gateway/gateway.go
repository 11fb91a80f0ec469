package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"
)

// Gateway is one stage of a REST API and of WebSocket APIs beside it. It is an
// http.Handler.
type Gateway struct {
	cfg         Config
	prefix      string // the stage with its slash: /api
	arn         string // of the stage's methods, to be followed by method and path
	routes      *tree
	answers     map[string]answer
	connections *connections
	slots       chan struct{} // one taken by every request under way
}

// New checks a configuration and makes its gateway.
func New(cfg Config) (*Gateway, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	routes, err := newTree(cfg.Routes)
	if err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	answers, err := compileResponses(cfg)
	if err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	g := &Gateway{
		cfg:     cfg,
		prefix:  "/" + cfg.Stage,
		arn:     "arn:aws:execute-api:" + cfg.Region + ":" + cfg.AccountID + ":" + cfg.APIID + "/" + cfg.Stage + "/",
		routes:  routes,
		answers: answers,
		slots:   make(chan struct{}, cfg.MaxInFlight),
	}
	if g.connections, err = newConnections(cfg, routes); err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	return g, nil
}

// statusGone is logged for a client that left before its answer.
const statusGone = 499

// ServeHTTP takes one request through the gateway.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if id, ok := g.managedID(r); ok {
		g.serveManagement(w, r, id)
		return
	}
	req := g.newRequest(r)
	began := time.Now()
	header := w.Header()
	header["x-amzn-RequestId"] = []string{req.id}
	header["x-amz-apigw-id"] = []string{req.extendedID}

	if path, _, ok := g.inStage(r); ok {
		if api := g.connections.api(path); api != nil {
			g.serveSocket(w, req, api)
			return
		}
	}
	answer, refused := g.handle(w, req)
	status := g.reply(w, req, answer, refused)
	g.log(req, status, time.Since(began), refused)
}

// reply writes the answer or the refusal, and returns its status for the log.
func (g *Gateway) reply(w http.ResponseWriter, req *request, answer *proxyAnswer, refused *refusal) int {
	switch {
	case req.http.Context().Err() != nil:
		return statusGone
	case refused != nil:
		return g.refuse(w, req, refused)
	}
	answer.write(w)
	return answer.status
}

// handle takes the request through everything that can refuse it.
func (g *Gateway) handle(w http.ResponseWriter, req *request) (*proxyAnswer, *refusal) {
	select {
	case g.slots <- struct{}{}:
		defer func() { <-g.slots }()
	default:
		return nil, &refusal{kind: "THROTTLED", message: "Too Many Requests"}
	}
	if headerSize(req.http) > MaxHeader {
		return nil, tooLarge
	}
	if refused := g.locate(req); refused != nil {
		return nil, refused
	}
	if refused := g.readBody(w, req); refused != nil {
		return nil, refused
	}
	ctx := req.http.Context()
	if req.route.Authorize {
		if !identified(req, req.route.IdentitySource) {
			return nil, unauthorized
		}
		given, refused := g.authorize(ctx, g.methodARN(req), g.authorizerEvent(req))
		req.grant = given
		if refused != nil {
			return nil, refused
		}
	}
	return g.integrate(ctx, req.route.Function, g.functionEvent(req), g.cfg.Binary)
}

// log writes the request down without its path and query, which are the client's
// text and may hold a signature.
func (g *Gateway) log(req *request, status int, took time.Duration, refused *refusal) {
	level := slog.LevelInfo
	attrs := make([]slog.Attr, 0, 7)
	attrs = append(attrs,
		slog.String("method", req.http.Method),
		slog.String("resource", req.resource.name()),
		slog.Int("status", status),
		slog.Float64("ms", float64(took.Microseconds())/1000),
		slog.String("request_id", req.id))
	if refused != nil {
		attrs = append(attrs, slog.String("type", refused.kind))
		if refused.cause != nil && !errors.Is(refused.cause, context.Canceled) {
			level = slog.LevelWarn
			attrs = append(attrs, slog.String("error", refused.cause.Error()))
		}
	}
	g.cfg.Log.LogAttrs(context.Background(), level, "request", attrs...)
}

// name is the resource's path as configured; a request that matched none has no
// name.
func (r *resource) name() string {
	if r == nil {
		return ""
	}
	return r.path
}
