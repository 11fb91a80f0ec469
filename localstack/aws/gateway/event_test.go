package gateway

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"

	"quotary/shared/testing/must"
)

// noFunctions refuses everything; for tests of what comes before a function.
type noFunctions struct{}

func (noFunctions) Invoke(context.Context, string, []byte) ([]byte, error) {
	return nil, fmt.Errorf("there are no functions here")
}

// recorder keeps the events of a request and allows it.
type recorder struct{ authorizer, function []byte }

func (r *recorder) Invoke(_ context.Context, name string, event []byte) ([]byte, error) {
	if name == "authorizer" {
		r.authorizer = event
		return []byte(`{"principalId":"p\"","policyDocument":{"Statement":{"Effect":"Allow","Action":"*","Resource":"*"}},"context":{"k\"":"v\\"}}`), nil
	}
	r.function = event
	return []byte(`{"statusCode":200,"body":"fine"}`), nil
}

// FuzzRequest sends any bytes that net/http takes for a request: every answer is
// JSON with a client's or a good status, and the events of an accepted request
// are what aws-lambda-go reads the request back from.
func FuzzRequest(f *testing.F) {
	for _, line := range []string{
		"GET /api/coins/PURR%2FUSDC?a=1&a=2&b HTTP/1.1\r\nHost: x\r\nX-A: 1\r\nX-A: 2\r\n\r\n",
		"POST /api/coins/%00%22?%22=%5c HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 3\r\n\r\n\xff{}",
		"GET /api/coins/a%GG HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http://other.example/api/coins/%e2%82%ac;x HTTP/1.0\r\nUser-Agent: \xff\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET //api//coins/ HTTP/1.1\r\nHost:\r\nConnection: X-A\r\nTe: trailers\r\n\r\n",
		"GET /api/coins/..?%zz;=%ff HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(string(wire))))
		if err != nil {
			return
		}
		body, err := io.ReadAll(io.LimitReader(r.Body, 2<<20))
		if err != nil {
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		r.RemoteAddr = "192.0.2.1:1234"
		seen := new(recorder)
		g := must.Get(New(Config{Functions: seen, Authorizer: "authorizer", MaxBody: 1 << 10, Routes: []Route{
			{Method: "GET", Path: "/coins/{coin}", Function: "f", Authorize: true},
			{Method: "POST", Path: "/coins/{coin}", Function: "f", Authorize: true},
		}}))(t)
		method, uri, host := r.Method, r.RequestURI, r.Host
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		if seen.function == nil {
			if w.Code < 400 || w.Code > 499 || !json.Valid(w.Body.Bytes()) {
				t.Fatalf("%s %s: refused with %d %q", method, uri, w.Code, w.Body)
			}
			return
		}
		if w.Code != 200 || w.Body.String() != "fine" {
			t.Fatalf("%s %s: answer %d %q", method, uri, w.Code, w.Body)
		}
		var first events.APIGatewayCustomAuthorizerRequestTypeRequest
		if err := json.Unmarshal(seen.authorizer, &first); err != nil {
			t.Fatalf("authorizer event %q: %v", seen.authorizer, err)
		}
		var event events.APIGatewayProxyRequest
		if err := json.Unmarshal(seen.function, &event); err != nil {
			t.Fatalf("function event %q: %v", seen.function, err)
		}
		if !utf8.Valid(seen.function) || !utf8.Valid(seen.authorizer) {
			t.Fatal("an event is not UTF-8")
		}
		got := []byte(event.Body)
		if event.IsBase64Encoded {
			if got, err = base64.StdEncoding.DecodeString(event.Body); err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case string(got) != string(body):
			t.Errorf("body %q arrived as %q", body, got)
		case event.HTTPMethod != method || first.HTTPMethod != method:
			t.Errorf("method %q arrived as %q and %q", method, event.HTTPMethod, first.HTTPMethod)
		case strings.TrimSuffix(event.Path, "/") != "/coins/"+event.PathParameters["coin"]:
			t.Errorf("path %q with parameters %v", event.Path, event.PathParameters)
		case event.PathParameters["coin"] == "" || first.PathParameters["coin"] != event.PathParameters["coin"]:
			t.Errorf("parameters %v and %v", event.PathParameters, first.PathParameters)
		case event.RequestContext.Authorizer["principalId"] != `p"` || event.RequestContext.Authorizer[`k"`] != `v\`:
			t.Errorf("authorizer context %v", event.RequestContext.Authorizer)
		case utf8.ValidString(host) && event.Headers["Host"] != host:
			t.Errorf("host %q arrived as %q", host, event.Headers["Host"])
		}
	})
}
