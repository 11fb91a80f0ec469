// Package api turns typed handlers into the http.Handler of a family of endpoints.
//
// A handler is a plain function from a request struct to a response value, tied
// by the compiler to its line in the catalog. Around it this package does what
// every endpoint needs, in one order: who calls (from the authorizer, or from a
// signature), parameters (compiled once at start from the tags of the request
// struct), time span, rate and quota, the handler itself, envelope, headers, log
// line. A request that fails after it was counted is refunded, unless its data was read
// in vain: an answer that takes too long, or more of the store than a request may read.
//
// The same [Family] serves Lambda behind API Gateway ([Lambda]), an httptest server
// and net/http. Without a gateway in front nobody has authorized a request: the
// family then checks the signature in its query by the same gate.
package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"runtime/debug"
	"strings"
	"time"

	"quotary/shared/aws/metrics"
	"quotary/shared/aws/readunits"
	"quotary/shared/catalog"
	"quotary/shared/data/delivered"
	"quotary/shared/gate/admission"
	"quotary/shared/gate/signature"
	"quotary/shared/gate/usage"
	"quotary/shared/store/retention"
)

// Family is one function: the handlers of the endpoints it serves.
type Family struct {
	// Metrics counts what is refused and what fails; nil does not.
	Metrics *metrics.Writer

	// Delivered says whether any source has spoken of what an endpoint needs; a family of
	// which none needs anything has none.
	Delivered *delivered.Reader

	// Shares hold what the requests of one distributor read of what others read too; nil does not.
	Shares *readunits.Shares

	function  string
	gate      *admission.Gate
	log       *slog.Logger
	endpoints map[*catalog.Endpoint]*endpoint
	mux       http.Handler
	readUnits float64 // that a request may read
}

// endpoint is one catalog entry, ready to serve. A planned one has no serve.
type endpoint struct {
	*catalog.Endpoint
	binder *binder
	serve  func(ctx context.Context, in any) (any, error)
	bare   bool // answered without envelope
	list   bool // data is a list: [] when empty, never null

	cursor  []int           // the field of In that is one; nil: none is
	reach   []int           // the field of In that is a [catalog.Reacher]; nil: none is, or In itself
	refuses catalog.Refuser // what a bad parameter is answered with; nil for the common body
}

// New returns the family of the named function without any handler.
func New(function string, gate *admission.Gate, log *slog.Logger) *Family {
	f := &Family{function: function, gate: gate, log: log, endpoints: make(map[*catalog.Endpoint]*endpoint), readUnits: catalog.MostReadUnits}
	if program, ok := catalog.ProgramOf(function); ok {
		f.readUnits = program.ReadUnits
	}
	f.mux = newMux(catalog.Served(function), func(served *catalog.Endpoint) http.Handler {
		e := &endpoint{Endpoint: served}
		f.endpoints[served] = e
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.serve(w, r, e) })
	}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.serve(w, r, nil) }))
	return f
}

// Handle serves a catalog entry with h. The error of h is shown to the caller
// when it is an [*Error]; any other is logged and answered with 500.
// A mistake in the wiring panics: it is found by the first test.
func Handle[In, Out any](f *Family, r catalog.Route[In, Out], h func(ctx context.Context, in In) (Out, error)) {
	f.handle(r.Endpoint, func(ctx context.Context, in any) (any, error) { return h(ctx, *in.(*In)) })
}

// handle serves an endpoint with serve, which is given a pointer to the request
// struct.
func (f *Family) handle(served *catalog.Endpoint, serve func(ctx context.Context, in any) (any, error)) {
	e, ok := f.endpoints[served]
	if !ok {
		panic(fmt.Sprintf("api: %s does not belong to the function %s", served, f.function))
	}
	if e.serve != nil {
		panic(fmt.Sprintf("api: %s is handled twice", served))
	}
	binder, err := compile(e.In, e.Method)
	if err != nil {
		panic(fmt.Sprintf("api: %s: %v", served, err))
	}
	e.binder, e.serve = binder, serve
	e.bare = e.Out.Implements(reflect.TypeFor[interface{ Bare() }]())
	e.list = e.Out.Kind() == reflect.Slice && e.Out.Elem().Kind() != reflect.Uint8 // which is JSON
	for _, f := range reflect.VisibleFields(e.In) {
		if f.IsExported() && f.Type.Implements(reflect.TypeFor[catalog.Reacher]()) {
			e.reach = f.Index
		}
		if f.Type == reflect.TypeFor[catalog.Cursor]() || f.Type == reflect.TypeFor[catalog.EventCursor]() {
			e.cursor = f.Index
		}
	}
	e.refuses, _ = reflect.Zero(e.Out).Interface().(catalog.Refuser)
}

// Complete returns an error when a built endpoint has no handler, or nothing that says
// whether what it needs was delivered.
func (f *Family) Complete() error {
	var missing []error
	for _, e := range f.endpoints {
		if !e.Planned && e.serve == nil {
			missing = append(missing, fmt.Errorf("%s has no handler", e.Endpoint))
		}
		if len(e.Needs) > 0 && f.Delivered == nil {
			missing = append(missing, fmt.Errorf("%s needs datasets, and nothing says whether they were delivered", e.Endpoint))
		}
	}
	return errors.Join(missing...)
}

// ServeHTTP implements [http.Handler].
func (f *Family) ServeHTTP(w http.ResponseWriter, r *http.Request) { f.mux.ServeHTTP(w, r) }

// serve answers one request for e, which is nil where there is no such endpoint:
// faults become answers.
func (f *Family) serve(w http.ResponseWriter, r *http.Request, e *endpoint) {
	req := newRequest(r, f.gate.Clock())
	var res response
	if e == nil || req.gateway && req.resource != e.Path {
		// The second: what stands in a path decoded differently for the gateway,
		// whose authorizer thus decided on another endpoint.
		res = req.fail(errNoEndpoint)
	} else {
		res = f.answer(e, req)
		res.reword(e)
	}
	res.write(w, req)
	f.record(e, req, &res, f.gate.Clock().Sub(req.now))
}

// answer takes a request through the gate and its handler.
func (f *Family) answer(e *endpoint, req *request) (res response) {
	ctx, retained := retention.WithReport(withRequest(req.Context(), req))
	ctx, cancel := WithReserve(ctx)
	defer cancel()
	counted := false
	defer func() {
		if crash := recover(); crash != nil {
			res = req.fail(fmt.Errorf("panic: %v\n%s", crash, debug.Stack()))
		}
		if res.fault != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			fault := res.fault
			res = req.fail(errTooLong)
			res.fault = fault
		}
		if counted && res.reason != "" && !res.reason.Refusal().Charged {
			f.refund(ctx, req)
		}
	}()

	if err := f.identify(ctx, e, req); err != nil {
		return req.fail(err)
	}
	if e.serve == nil {
		return req.fail(NotBuilt("this endpoint is specified but not available yet"))
	}
	in, err := e.binder.bind(req)
	if err != nil {
		return req.fail(err)
	}
	if e.cursor != nil && !catalog.Cursor(reflect.ValueOf(in).Elem().FieldByIndex(e.cursor).String()).IsOf(req.list()) {
		return req.fail(BadParameter("invalid cursor: must be the %s of an earlier answer to the same request", catalog.HeaderNextCursor))
	}
	if spanner, ok := in.(catalog.Spanner); ok {
		start, end := spanner.Span(req.now)
		if !start.IsZero() && end.Before(start) {
			from, to := e.binder.spanNames(in, req)
			return req.fail(BadParameter("the end of the time range lies before its start: %s, now where it is absent, must not be before %s", to, from))
		}
		if err := admission.CheckSpan(&req.caller, start, end); err != nil {
			return req.fail(err)
		}
	}
	if e.Access.Counted() {
		receipt, err := f.gate.Admit(ctx, &req.caller)
		if err != nil {
			return req.fail(err)
		}
		counted, req.receipt = e.Access.Charged(), &receipt
	}
	if err := f.ready(ctx, e, in); err != nil {
		return req.fail(err)
	}
	if err := f.whole(ctx, e, in, req); err != nil {
		return req.fail(err)
	}
	ctx, req.read = readunits.WithBudget(ctx, f.readUnits)
	req.read.Within(f.Shares, req.caller.Distributor)
	out, err := e.serve(ctx, in)
	err = e.found(in, out, err, req)
	var exceeded *readunits.ExceededError
	var beyond *readunits.ShareError
	switch {
	case errors.As(err, &exceeded):
		err = e.tooDear()
	case errors.As(err, &beyond):
		err = &admission.Refusal{Reason: catalog.ReasonShareExceeded, Message: beyond.Error(), RetryAfter: time.Second}
	}
	var absent *absence
	switch {
	case errors.As(err, &absent):
		res = req.absent(absent)
	case err != nil:
		return req.fail(awaited(e, in, err))
	default:
		res = req.succeed(e, out)
	}
	res.dataSince, res.dataVenue = retained.Since(), retained.Venue()
	return res
}

// tooDear is the answer to a request that would have read more than it may. It names the
// parameters by which less is asked for.
func (e *endpoint) tooDear() error {
	var narrower []string
	for _, p := range catalog.Parameters(e.In) {
		if p.In != "path" && catalog.Narrows(p.Names[0]) {
			narrower = append(narrower, p.Names[0])
		}
	}
	if len(narrower) == 0 {
		return Refuse(catalog.ReasonTooDear, "more would have to be read than one request may read")
	}
	return Refuse(catalog.ReasonTooDear, "more would have to be read than one request may read: narrow it by %s", strings.Join(narrower, ", "))
}

// refund takes back what a failed request was charged, even where its own time is
// over or its caller has gone.
func (f *Family) refund(ctx context.Context, req *request) {
	within, cancel := usage.RefundContext(ctx)
	defer cancel()
	if err := f.gate.Counters.Refund(within, *req.receipt); err != nil {
		f.log.ErrorContext(ctx, "refund failed", "request_id", req.id, "key", req.receipt.Key, "err", err)
		return
	}
	req.receipt.InMonth--
}

// identify finds out who calls: nobody for a public endpoint, otherwise whom
// the authorizer names, or whose signature the request carries.
func (f *Family) identify(ctx context.Context, e *endpoint, req *request) error {
	if e.Access.Kind == catalog.Public {
		return nil
	}
	if !req.gateway {
		params, err := signature.FromQuery(req.query)
		if err != nil {
			return admission.Unverified(err)
		}
		if params.Empty() && e.Method == http.MethodPost {
			return f.identifyByBody(ctx, e, req)
		}
		request := ""
		if e.Method == http.MethodGet {
			request = admission.Repeatable(req.URL.Path, req.query)
		}
		req.caller, err = f.gate.Check(ctx, params, request, e.Access)
		return err
	}
	caller, verdict, refusal := admission.CallerFrom(req.authorizer)
	switch {
	case verdict == admission.VerdictBody && e.Method == http.MethodPost:
		return f.identifyByBody(ctx, e, req)
	case refusal != nil:
		return refusal
	}
	req.caller = caller
	return nil
}

// identifyByBody checks the signature in a JSON body.
func (f *Family) identifyByBody(ctx context.Context, e *endpoint, req *request) error {
	params, err := req.bodySignature()
	if err != nil {
		return err
	}
	req.caller, err = f.gate.Check(ctx, params, "", e.Access)
	return err
}

// record writes the one log line of a request. The query is left out: it holds
// the signature.
func (f *Family) record(e *endpoint, req *request, res *response, took time.Duration) {
	level := slog.LevelInfo
	resource := req.resource
	if e != nil {
		resource = e.Path
	}
	attrs := []slog.Attr{
		slog.String("request_id", req.id),
		slog.String("method", req.Method),
		slog.String("resource", resource),
		slog.Int("status", res.status),
		slog.Int64("us", took.Microseconds()),
	}
	if req.caller.AccessKey != "" {
		attrs = append(attrs, slog.String("key", req.caller.AccessKey))
	}
	if req.read != nil {
		attrs = append(attrs, slog.Float64("read_units", req.read.Spent()))
	}
	if trace := req.Header.Get(traceHeader); trace != "" {
		attrs = append(attrs, slog.String("trace", trace))
	}
	if res.reason != "" {
		attrs = append(attrs, slog.String("reason", string(res.reason)))
	}
	if res.fault != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.String("err", res.fault.Error()))
	}
	f.log.LogAttrs(req.Context(), level, "request", attrs...)
	switch {
	case res.fault != nil:
		f.Metrics.Count(metrics.Faults, metrics.Label{Name: metrics.Function, Value: f.function})
	case res.refusal != nil && !res.refusal.Counted:
		f.Metrics.Count(metrics.Denials, metrics.Label{Name: metrics.Reason, Value: string(res.reason)})
	}
}
