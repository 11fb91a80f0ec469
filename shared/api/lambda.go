package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"

	"quotary/shared/catalog"
)

// traceHeader carries the X-Ray trace of a request.
const traceHeader = "X-Amzn-Trace-Id"

// Lambda returns h as the handler of a Lambda function behind API Gateway, for
// lambda.Start. The request has the gateway's request id, resource and authorizer
// context in its context, the trace in its X-Amzn-Trace-Id header and the deadline
// of the invocation.
//
// Its path is rebuilt from the resource that the gateway matched and the
// parameters that it found, as the path of the event may begin with the base path of
// a domain. What cannot become a request is refused and logged here.
func Lambda(h http.Handler, log *slog.Logger) func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	var accessor core.RequestAccessor
	endpoints := map[string]*catalog.Endpoint{}
	for _, e := range catalog.All() {
		endpoints[e.Method+" "+e.Path] = e
	}
	return func(ctx context.Context, event events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		w := &writer{ProxyResponseWriter: core.NewProxyResponseWriter()}
		event.RequestContext.ResourcePath = event.Resource // which is what the authorizer decided on
		template, parameters := event.Resource, event.PathParameters
		if e := endpoints[event.HTTPMethod+" "+event.Resource]; e != nil {
			template, parameters = e.Documented(), e.Values(parameters)
		}
		path, ok := requestPath(template, parameters)
		if !ok {
			refuse(ctx, w, log, &event, errNoEndpoint)
			return w.GetProxyResponse()
		}
		event.Path = path
		r, err := accessor.EventToRequestWithContext(ctx, event)
		if err != nil { // a body that is no base64
			refuse(ctx, w, log, &event, errUnreadable)
			return w.GetProxyResponse()
		}
		if trace, ok := ctx.Value("x-amzn-trace-id").(string); ok && trace != "" { // the function's part of it
			r.Header.Set(traceHeader, trace)
		}
		h.ServeHTTP(w, r)
		w.WriteHeader(http.StatusOK) // unless it has, as net/http does
		return w.GetProxyResponse()
	}
}

// refuse answers and logs an event that does not become a request.
func refuse(ctx context.Context, w http.ResponseWriter, log *slog.Logger, event *events.APIGatewayProxyRequest, err error) {
	r := &request{id: event.RequestContext.RequestID}
	res := r.fail(err)
	res.write(w, r)
	log.InfoContext(ctx, "request", "request_id", r.id, "method", event.HTTPMethod, "resource", event.Resource, "status", res.status)
}

// writer makes the adapter's writer one of net/http: the first status stands, and
// a handler that writes nothing answers 200.
type writer struct {
	*core.ProxyResponseWriter
	wrote bool
}

func (w *writer) WriteHeader(status int) {
	if !w.wrote {
		w.wrote = true
		w.ProxyResponseWriter.WriteHeader(status)
	}
}

func (w *writer) Write(body []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.ProxyResponseWriter.Write(body)
}

// requestPath puts the parameters into a path, each as one escaped segment. It is not ok
// where one is missing.
func requestPath(template string, parameters map[string]string) (path string, ok bool) {
	segments := strings.Split(template, "/")
	for i, segment := range segments {
		name, _, is := catalog.PathParameter(segment)
		if !is {
			continue
		}
		value := parameters[name]
		// A REST API passes a parameter on as the client sent it, percent-encoded.
		// This is the one place that decodes it.
		if decoded, err := url.PathUnescape(value); err == nil {
			value = decoded
		}
		switch value {
		case "":
			return "", false
		case ".", "..": // in which ServeMux sees folders
			segments[i] = strings.ReplaceAll(value, ".", "%2E")
		default:
			segments[i] = url.PathEscape(value)
		}
	}
	return strings.Join(segments, "/"), true
}
