package api

import (
	"context"
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
// parameters that it found. The path of the event may begin with the mapping of a
// domain, and what is special in a URL may stand in it decoded.
func Lambda(h http.Handler) func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	var accessor core.RequestAccessor
	return func(ctx context.Context, event events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		w := &writer{ProxyResponseWriter: core.NewProxyResponseWriter()}
		event.RequestContext.ResourcePath = event.Resource // which is what the authorizer decided on
		path, ok := requestPath(event.Resource, event.PathParameters)
		if !ok {
			writeError(w, errNoEndpoint, event.RequestContext.RequestID)
			return w.GetProxyResponse()
		}
		event.Path = path
		r, err := accessor.EventToRequestWithContext(ctx, event)
		if err != nil { // a body that is no base64
			writeError(w, errUnreadable, event.RequestContext.RequestID)
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

// requestPath puts the parameters into the resource, each as one escaped segment.
// It is not ok where one is missing.
func requestPath(resource string, parameters map[string]string) (path string, ok bool) {
	segments := strings.Split(resource, "/")
	for i, segment := range segments {
		name, _, is := catalog.PathParameter(segment)
		if !is {
			continue
		}
		value := parameters[name]
		if strings.Contains(value, "%") { // some gateways pass it on still encoded
			if decoded, err := url.PathUnescape(value); err == nil {
				value = decoded
			}
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
