package apitest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/gate/admission"
	"quotary/shared/gate/signature"
	"quotary/shared/testing/must"
)

// Send calls with signature parameters as they are.
func (w *World) Send(t testing.TB, params signature.Params, method, target string, body any) Answer {
	t.Helper()
	event := Event(t, method, target, body)
	if refused := w.authorize(t, params, &event); refused != nil {
		return *refused
	}
	answer := w.Invoke(t, event)
	if e := find(event.HTTPMethod, event.Resource); e != nil && answer.Header[catalog.HeaderDataSince] != "" && !e.SaysSince() {
		t.Errorf("%s %s sends %s, which the catalog does not say: see begins", event.HTTPMethod, event.Path, catalog.HeaderDataSince)
	}
	answer.request = record(&event)
	return answer
}

// Invoke has the family answer an event of the gateway as its function does, in
// JSON. A query that is no UTF-8, which JSON cannot carry, is passed on as it is.
func (w *World) Invoke(t testing.TB, event events.APIGatewayProxyRequest) Answer {
	t.Helper()
	return invoke(t, api.Lambda(w.Family, w.log), event)
}

// Invoke has h answer an event of the gateway as [World.Invoke] does.
func Invoke(t testing.TB, h http.Handler, event events.APIGatewayProxyRequest) Answer {
	t.Helper()
	return invoke(t, api.Lambda(h, slog.New(slog.DiscardHandler)), event)
}

type handler = func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error)

func invoke(t testing.TB, handler handler, event events.APIGatewayProxyRequest) Answer {
	t.Helper()
	out, err := handle(t.Context(), handler, event)
	if err != nil {
		t.Fatalf("%s %s: %v", event.HTTPMethod, event.Path, err)
	}
	answer := Answer{Status: out.StatusCode, Header: make(map[string]string), Body: []byte(out.Body)}
	for name, values := range out.MultiValueHeaders {
		answer.Header[name] = values[len(values)-1]
	}
	return answer
}

func handle(ctx context.Context, handler handler, event events.APIGatewayProxyRequest) (out events.APIGatewayProxyResponse, err error) {
	for _, values := range event.MultiValueQueryStringParameters {
		if slices.ContainsFunc(values, func(value string) bool { return !utf8.ValidString(value) }) {
			return handler(ctx, event)
		}
	}
	payload, err := json.Marshal(event)
	if err != nil {
		return out, err
	}
	answer, err := lambda.NewHandler(handler).Invoke(ctx, payload)
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(answer, &out)
}

// authorize does what the authorizer function does and puts its context into
// the event. A request that the gateway itself refuses is answered at once.
func (w *World) authorize(t testing.TB, params signature.Params, event *events.APIGatewayProxyRequest) *Answer {
	t.Helper()
	endpoint := find(event.HTTPMethod, event.Resource)
	if endpoint == nil || !endpoint.Authorized() {
		return nil
	}
	if params.Empty() && event.HTTPMethod == http.MethodPost {
		event.RequestContext.Authorizer = admission.BodyContext()
		return nil
	}
	request := ""
	if event.HTTPMethod == http.MethodGet {
		request = admission.Repeatable(event.Path, event.MultiValueQueryStringParameters)
	}
	caller, err := w.Gate.Check(t.Context(), params, request, endpoint.Access)
	var refusal *admission.Refusal
	switch {
	case err == nil:
		event.RequestContext.Authorizer = caller.Context()
		return nil
	case errors.As(err, &refusal):
		reason, body := api.Render(refusal, event.RequestContext.RequestID)
		return &Answer{Status: reason.Status(), Body: body}
	}
	t.Fatal(err)
	return nil
}

// Event returns the gateway's event for a call.
func Event(t testing.TB, method, target string, body any) events.APIGatewayProxyRequest {
	t.Helper()
	u := must.Get(url.Parse(target))(t)
	u.RawQuery = strings.ReplaceAll(u.RawQuery, ";", "%3B") // data, as for the gateway
	event := events.APIGatewayProxyRequest{
		HTTPMethod: method, Path: u.Path, Resource: "/unknown",
		MultiValueQueryStringParameters: u.Query(),
		QueryStringParameters:           make(map[string]string),
	}
	for name, values := range u.Query() {
		event.QueryStringParameters[name] = values[len(values)-1]
	}
	event.RequestContext.RequestID = "test-request"
	event.Resource, event.PathParameters = match(method, u.EscapedPath())
	switch body := body.(type) {
	case nil:
	case string:
		event.Body = body
	case []byte:
		event.Body = string(body)
	default:
		text := must.Get(json.Marshal(body))(t)
		event.Body = string(text)
	}
	if !utf8.ValidString(event.Body) { // the gateway passes on in base64 what is no text
		event.Body, event.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte(event.Body)), true
	}
	return event
}

func find(method, resource string) *catalog.Endpoint {
	for _, e := range catalog.All() {
		if e.Method == method && e.Path == resource {
			return e
		}
	}
	return nil
}

// match finds the resource of a path: literal segments before parameters, these
// before one that takes the rest.
func match(method, path string) (resource string, parameters map[string]string) {
	best := -1
	for _, e := range catalog.All() {
		if e.Method != method {
			continue
		}
		if values, literal := fit(strings.Split(e.Path, "/"), strings.Split(path, "/")); literal > best {
			best, resource, parameters = literal, e.Path, values
		}
	}
	return resource, parameters
}

// fit reads the parameters of a pattern out of the segments of a path, and counts
// the segments that are literally the same; -1 where the path is of another.
func fit(pattern, segments []string) (values map[string]string, literal int) {
	values = make(map[string]string)
	for i, segment := range pattern {
		name, greedy, ok := catalog.PathParameter(segment)
		switch {
		case i >= len(segments):
			return nil, -1
		case greedy:
			segments = append(segments[:i:i], strings.Join(segments[i:], "/"))
			values[name] = unescape(segments[i])
		case ok:
			values[name] = unescape(segments[i])
		case segment == segments[i]:
			literal++
		default:
			return nil, -1
		}
	}
	if len(segments) != len(pattern) {
		return nil, -1
	}
	return values, literal
}

func unescape(segment string) string {
	if value, err := url.PathUnescape(segment); err == nil {
		return value
	}
	return segment
}
