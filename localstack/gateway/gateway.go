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
	cfg     Config
	prefix  string // the stage with its slash: /api
	arn     string // of the stage's methods, to be followed by method and path
	routes  *tree
	answers map[string]answer
	sockets *sockets
	slots   chan struct{} // one taken by every request under way
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
	if g.sockets, err = newSockets(cfg, g.prefix, routes); err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	return g, nil
}

// statusGone is logged for a client that left before its answer.
const statusGone = 499

// ServeHTTP takes one request through the gateway.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.sockets.manages(r) {
		g.manage(w, r)
		return
	}
	req := g.newRequest(r)
	began := time.Now()
	header := w.Header()
	header["x-amzn-RequestId"] = []string{req.id}
	header["x-amz-apigw-id"] = []string{req.extendedID}

	if path, _, ok := g.inStage(r); ok && g.sockets.at(path) != nil {
		api := g.sockets.at(path)
		status, no := g.handshake(w, req, api)
		g.log(req, status, time.Since(began), no)
		return
	}
	answer, no := g.handle(w, req)
	status := g.reply(w, req, answer, no)
	g.log(req, status, time.Since(began), no)
}

// reply writes the answer or the refusal, and returns its status for the log.
func (g *Gateway) reply(w http.ResponseWriter, req *request, answer *proxyAnswer, no *refusal) int {
	switch {
	case req.http.Context().Err() != nil:
		return statusGone
	case no != nil:
		return g.refuse(w, req, no)
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
		return nil, &refusal{kind: "DEFAULT_4XX", status: http.StatusRequestHeaderFieldsTooLarge, message: headersTooLarge}
	}
	if no := g.locate(req); no != nil {
		return nil, no
	}
	if no := g.readBody(w, req); no != nil {
		return nil, no
	}
	ctx := req.http.Context()
	common := g.commonMembers(req)
	if req.route.Authorize {
		given, no := g.authorize(ctx, g.methodARN(req), g.authorizerEvent(req, common))
		req.grant = given
		if no != nil {
			return nil, no
		}
	}
	return g.integrate(ctx, req.route.Function, g.functionEvent(req, common))
}

// log writes the request down without its path and query, which are the client's
// text and may hold a signature.
func (g *Gateway) log(req *request, status int, took time.Duration, no *refusal) {
	level := slog.LevelInfo
	attrs := make([]slog.Attr, 0, 7)
	attrs = append(attrs,
		slog.String("method", req.http.Method),
		slog.String("resource", req.resource.name()),
		slog.Int("status", status),
		slog.Float64("ms", float64(took.Microseconds())/1000),
		slog.String("request_id", req.id))
	if no != nil {
		attrs = append(attrs, slog.String("type", no.kind))
		if no.cause != nil && !errors.Is(no.cause, context.Canceled) {
			level = slog.LevelWarn
			attrs = append(attrs, slog.String("error", no.cause.Error()))
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
