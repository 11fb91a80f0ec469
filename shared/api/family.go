// Package api turns typed handlers into the Lambda function of a family.
//
// A handler is a plain function from a request struct to a response value, tied
// by the compiler to its line in the catalog. Around it this package does what
// every endpoint needs, in one order: who calls (from the authorizer, or from a
// signature in the body), parameters (compiled once at start from the tags of
// the request struct), time span, rate and quota, the handler itself, envelope,
// headers, log line. A request that fails after it was counted is refunded.
//
// Requests arrive and leave in the shapes of API Gateway; nothing outside this
// package reads them.
package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"quotary/shared/admission"
	"quotary/shared/catalog"
	"quotary/shared/metrics"
	"quotary/shared/runtimeapi"
	"quotary/shared/usage"
)

// Family is one function: the handlers of the endpoints it serves.
type Family struct {
	// Metrics counts what is refused and what fails; nil does not.
	Metrics *metrics.Writer

	function string
	gate     *admission.Gate
	log      *slog.Logger
	routes   map[route]*endpoint
}

type route struct{ method, resource string }

// endpoint is one catalog entry, ready to serve. A planned one has no serve.
type endpoint struct {
	*catalog.Endpoint
	bind  func(*request) (any, error)
	serve func(ctx context.Context, in any) (any, error)
	bare  bool // answered without envelope
	list  bool // data is a list: [] when empty, never null
}

// New returns the family of the named function without any handler.
func New(function string, gate *admission.Gate, log *slog.Logger) *Family {
	f := &Family{function: function, gate: gate, log: log, routes: make(map[route]*endpoint)}
	for _, e := range catalog.Served(function) {
		f.routes[route{e.Method, e.Path}] = &endpoint{Endpoint: e}
	}
	return f
}

// Handle serves a catalog entry with h. The error of h is shown to the caller
// when it is an [*Error]; any other is logged and answered with 500.
// A mistake in the wiring panics: it is found by the first test.
func Handle[In, Out any](f *Family, r catalog.Route[In, Out], h func(ctx context.Context, in In) (Out, error)) {
	e, ok := f.routes[route{r.Method, r.Path}]
	if !ok {
		panic(fmt.Sprintf("api: %s does not belong to the function %s", r.Endpoint, f.function))
	}
	if e.serve != nil {
		panic(fmt.Sprintf("api: %s is handled twice", r.Endpoint))
	}
	plan, err := compile[In](r.Method)
	if err != nil {
		panic(fmt.Sprintf("api: %s: %v", r.Endpoint, err))
	}
	var out Out
	_, e.bare = any(out).(interface{ Bare() })
	e.list = reflect.TypeFor[Out]().Kind() == reflect.Slice && reflect.TypeFor[Out]() != reflect.TypeFor[json.RawMessage]()
	e.bind = func(req *request) (any, error) {
		in := new(In)
		err := plan.bind(req, in)
		return in, err
	}
	e.serve = func(ctx context.Context, in any) (any, error) { return h(ctx, *in.(*In)) }
}

// Start serves the function's invocations and does not return. It panics when
// an endpoint that the catalog calls built has no handler.
func (f *Family) Start() {
	if err := f.Complete(); err != nil {
		panic(err)
	}
	runtimeapi.Start(f)
}

// Complete returns an error when a built endpoint has no handler.
func (f *Family) Complete() error {
	var missing []error
	for _, e := range f.routes {
		if !e.Planned && e.serve == nil {
			missing = append(missing, fmt.Errorf("%s has no handler", e.Endpoint))
		}
	}
	return errors.Join(missing...)
}

// Answer answers one request: faults become answers.
func (f *Family) Answer(ctx context.Context, event events.APIGatewayProxyRequest) events.APIGatewayProxyResponse {
	started := f.gate.Clock()
	req := &request{event: &event, now: started}
	var res response
	if e, ok := f.routes[route{event.HTTPMethod, event.Resource}]; ok {
		res = f.answer(withRequest(ctx, req), e, req)
	} else {
		res = req.fail(&Error{Status: http.StatusNotFound, Message: "no such endpoint: see the endpoint list for paths and methods"})
	}
	f.record(ctx, &event, req, &res, f.gate.Clock().Sub(started))
	return res.event(req)
}

// answer takes a request through the gate and its handler.
func (f *Family) answer(ctx context.Context, e *endpoint, req *request) (res response) {
	var receipt usage.Receipt
	counted := false
	defer func() {
		if crash := recover(); crash != nil {
			res = req.fail(fmt.Errorf("panic: %v\n%s", crash, debug.Stack()))
		}
		if counted && res.status >= http.StatusBadRequest {
			if err := f.gate.Counters.Refund(ctx, receipt); err != nil {
				f.log.ErrorContext(ctx, "refund failed", "request_id", req.id(), "key", receipt.Key, "err", err)
			}
			req.receipt = nil
		}
	}()

	if err := f.identify(ctx, e, req); err != nil {
		return req.fail(err)
	}
	if e.serve == nil {
		return req.fail(&Error{Status: http.StatusNotImplemented, Message: "this endpoint is specified but not available yet"})
	}
	in, err := e.bind(req)
	if err != nil {
		return req.fail(err)
	}
	if spanner, ok := in.(catalog.Spanner); ok {
		start, end := spanner.Span(req.now)
		if !start.IsZero() && end.Before(start) {
			return req.fail(BadRequest("the end of the time range lies before its start"))
		}
		if err := admission.CheckSpan(&req.caller, start, end); err != nil {
			return req.fail(err)
		}
	}
	if counts(e.Access.Kind) {
		if receipt, err = f.gate.Admit(ctx, &req.caller); err != nil {
			return req.fail(err)
		}
		counted = true
		req.receipt = &receipt
	}
	out, err := e.serve(ctx, in)
	if err != nil {
		return req.fail(err)
	}
	return req.succeed(e, out)
}

// counts reports whether requests to such an endpoint are charged: those of
// data, not those of management.
func counts(kind catalog.AccessKind) bool {
	return kind == catalog.ActionAccess || kind == catalog.GrantAccess || kind == catalog.AnyLevel
}

// identify finds out who calls: nobody for a public endpoint, otherwise whom
// the authorizer names, or whose signature the body carries.
func (f *Family) identify(ctx context.Context, e *endpoint, req *request) error {
	if e.Access.Kind == catalog.Public {
		return nil
	}
	caller, verdict, message := admission.CallerFrom(req.event.RequestContext.Authorizer)
	switch verdict {
	case admission.VerdictCaller:
		req.caller = caller
		return nil
	case admission.VerdictRefused:
		return &admission.Refusal{Status: http.StatusUnauthorized, Message: message, Proven: true}
	case admission.VerdictBody:
		if e.Method != http.MethodPost {
			return admission.Unsigned("the signature parameters must be in the query")
		}
		params, err := req.bodySignature()
		if err != nil {
			return err
		}
		req.caller, err = f.gate.Check(ctx, params, e.Access)
		return err
	default:
		return admission.Unsigned("the request did not pass the authorizer")
	}
}

// record writes the one log line of a request. The query is left out: it holds
// the signature.
func (f *Family) record(ctx context.Context, event *events.APIGatewayProxyRequest, req *request, res *response, took time.Duration) {
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("request_id", req.id()),
		slog.String("method", event.HTTPMethod),
		slog.String("resource", event.Resource),
		slog.Int("status", res.status),
		slog.Int64("us", took.Microseconds()),
	}
	if req.caller.AccessKey != "" {
		attrs = append(attrs, slog.String("key", req.caller.AccessKey))
	}
	if res.fault != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.String("err", res.fault.Error()))
	}
	f.log.LogAttrs(ctx, level, "request", attrs...)
	switch {
	case res.fault != nil:
		f.Metrics.Count(metrics.Faults, metrics.Label{Name: metrics.Function, Value: f.function})
	case res.denied != "":
		f.Metrics.Count(metrics.Denials, metrics.Label{Name: metrics.Reason, Value: string(res.denied)})
	}
}
