package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"quotary/localstack/gateway"
	"quotary/localstack/lambdahost"
)

// This binary is its own Lambda function: with the variable set it runs the
// runtime of aws-lambda-go instead of the tests.
const actAs = "GATEWAY_TEST_FUNCTION"

func TestMain(m *testing.M) {
	switch os.Getenv(actAs) {
	case "":
		goleak.VerifyTestMain(m)
	case "authorizer":
		lambda.Start(authorize)
	case "probe":
		lambda.Start(probe)
	case "trivial authorizer":
		lambda.Start(allow)
	case "trivial":
		lambda.Start(hello)
	}
}

// authorize does what the query parameter "auth" says.
func authorize(e json.RawMessage) (any, error) {
	var event events.APIGatewayCustomAuthorizerRequestTypeRequest
	if err := json.Unmarshal(e, &event); err != nil {
		return nil, err
	}
	policy := func(effect string, resources ...string) map[string]any {
		return map[string]any{
			"principalId": "someone",
			"policyDocument": map[string]any{"Version": "2012-10-17", "Statement": []any{map[string]any{
				"Effect": effect, "Action": "execute-api:Invoke", "Resource": resources,
			}}},
			"context": map[string]any{"reason": "no \"grant\"", "limit": 12.50, "trial": true, "seen": string(e)},
		}
	}
	switch auth := event.QueryStringParameters["auth"]; auth {
	case "allow":
		return policy("Allow", event.MethodArn), nil
	case "deny":
		return policy("Deny", "*"), nil
	case "elsewhere":
		return policy("Allow", event.MethodArn+"/further"), nil
	case "object":
		answer := policy("Allow", "*")
		answer["context"] = map[string]any{"nested": map[string]any{}}
		return answer, nil
	case "garbage":
		return "yes", nil
	case "crash":
		os.Exit(1)
	case "broken":
		return nil, errors.New("the table is gone")
	}
	return nil, errors.New("Unauthorized") //nolint:staticcheck // the very text that AWS demands
}

// probe does what the query parameter "do" says, and returns its event.
func probe(ctx context.Context, e json.RawMessage) (any, error) {
	var event events.APIGatewayProxyRequest
	if err := json.Unmarshal(e, &event); err != nil {
		return nil, err
	}
	switch event.QueryStringParameters["do"] {
	case "fail":
		return nil, errors.New("secret detail")
	case "exit":
		os.Exit(1)
	case "sleep":
		time.Sleep(time.Minute)
	case "nap":
		time.Sleep(time.Second)
	case "raw":
		return json.RawMessage(event.QueryStringParameters["answer"]), nil
	}
	return events.APIGatewayProxyResponse{StatusCode: 200, Body: string(e)}, nil
}

func allow(e events.APIGatewayCustomAuthorizerRequestTypeRequest) (events.APIGatewayCustomAuthorizerResponse, error) {
	return events.APIGatewayCustomAuthorizerResponse{
		PrincipalID: "someone",
		PolicyDocument: events.APIGatewayCustomAuthorizerPolicy{Version: "2012-10-17", Statement: []events.IAMPolicyStatement{
			{Effect: "Allow", Action: []string{"execute-api:Invoke"}, Resource: []string{e.MethodArn}},
		}},
		Context: map[string]any{"limit": 60},
	}, nil
}

func hello(events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	return events.APIGatewayProxyResponse{StatusCode: 200, Body: `{"hello":"world"}`}, nil
}

// stage is a running gateway with its functions.
type stage struct {
	url    string // with the stage's name
	addr   string
	client *http.Client
	logs   *lockedBuffer
}

var routes = []gateway.Route{
	{Method: "GET", Path: "/open", Function: "probe"},
	{Method: "POST", Path: "/open", Function: "probe"},
	{Method: "GET", Path: "/guarded/{coin}", Function: "probe", Authorize: true},
	{Method: "POST", Path: "/guarded/{coin}", Function: "probe", Authorize: true},
	{Method: "GET", Path: "/guarded/best", Function: "probe"},
	{Method: "GET", Path: "/missing", Function: "nobody"},
}

var responses = []gateway.Response{
	{Type: "UNAUTHORIZED", Status: 401, Template: `{"error":"who are you?","id":"$context.requestId"}`},
	{Type: "ACCESS_DENIED", Template: `{"error":"$context.authorizer.reason","limit":$context.authorizer.limit,"none":$context.authorizer.none}`},
	{Type: "MISSING_AUTHENTICATION_TOKEN", Status: 404, Template: `{"error":"nothing here"}`},
	{Type: "THROTTLED", Headers: map[string]string{"Retry-After": "1", "X-Request-Id": "$context.requestId"}},
}

func start(t testing.TB, edit ...func(*gateway.Config, map[string]lambdahost.Function)) *stage {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	functions := map[string]lambdahost.Function{
		"probe":      {Path: self, Env: []string{actAs + "=probe"}},
		"authorizer": {Path: self, Env: []string{actAs + "=authorizer"}},
	}
	logs := new(lockedBuffer)
	cfg := gateway.Config{
		Routes:           routes,
		Authorizer:       "authorizer",
		Responses:        responses,
		MethodNotAllowed: gateway.Response{Template: `{"error":"not with $context.httpMethod"}`},
		MaxBody:          1 << 20,
		Log:              slog.New(slog.NewJSONHandler(logs, nil)),
	}
	for _, e := range edit {
		e(&cfg, functions)
	}
	host, err := lambdahost.New(lambdahost.Config{Functions: functions})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Functions = host
	g, err := gateway.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- g.Serve(ctx, listener) }()
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		grace, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = host.Close(grace) // tests that leave a function asleep have it cut short
	})
	addr := listener.Addr().String()
	return &stage{url: "http://" + addr + "/api", addr: addr, client: &http.Client{Transport: transport}, logs: logs}
}

type reply struct {
	*http.Response
	body []byte
}

func (s *stage) send(t testing.TB, method, path, body string, headers ...string) reply {
	t.Helper()
	req, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	resp, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Header.Get("X-Amzn-RequestId") == "" || resp.Header.Get("X-Amz-Apigw-Id") == "" {
		t.Errorf("%s %s: an answer without request ids: %v", method, path, resp.Header)
	}
	return reply{resp, all}
}

// raw sends bytes that no HTTP client would.
func (s *stage) raw(t *testing.T, text string) reply {
	t.Helper()
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp, all}
}

func event(t testing.TB, r reply) map[string]any {
	t.Helper()
	var e map[string]any
	if err := json.Unmarshal(r.body, &e); err != nil || r.StatusCode != 200 {
		t.Fatalf("status %d, body %s", r.StatusCode, r.body)
	}
	return e
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func TestAFunctionGetsTheEventOfAProxyIntegration(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *gateway.Config, _ map[string]lambdahost.Function) {
		c.Now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC) }
	})
	r := s.send(t, "POST", "/guarded/PURR%2FUSDC?auth=allow&a=1&a=2%26&empty=", "{\"x\":\"π\"}",
		"X-One", "1", "X-Two", "a", "X-Two", "b", "User-Agent", "tester/1", "X-Forwarded-For", "203.0.113.9")
	got := event(t, r)

	context := got["requestContext"].(map[string]any)
	for _, varies := range []string{"requestId", "extendedRequestId", "resourceId"} {
		if context[varies] == "" {
			t.Errorf("requestContext.%s is empty", varies)
		}
	}
	if context["requestId"] != r.Header.Get("X-Amzn-RequestId") {
		t.Error("the event's request id is not the answer's")
	}
	authorizer := context["authorizer"].(map[string]any)
	delete(authorizer, "seen")
	if _, isNumber := authorizer["integrationLatency"].(float64); !isNumber {
		t.Errorf("integrationLatency = %v", authorizer["integrationLatency"])
	}
	identity := context["identity"].(map[string]any)
	for name, value := range identity {
		if value == nil {
			delete(identity, name)
		}
	}
	for _, varies := range []string{"requestId", "extendedRequestId", "resourceId"} {
		delete(context, varies)
	}
	delete(authorizer, "integrationLatency")
	headers, multi := got["headers"].(map[string]any), got["multiValueHeaders"].(map[string]any)
	for _, m := range []map[string]any{headers, multi} {
		for _, varies := range []string{"X-Amzn-Trace-Id", "X-Forwarded-Port", "Host"} {
			if m[varies] == nil {
				t.Errorf("header %s is missing", varies)
			}
			delete(m, varies)
		}
	}

	want := map[string]any{
		"resource": "/guarded/{coin}", "path": "/guarded/PURR%2FUSDC", "httpMethod": "POST",
		"headers": map[string]any{"X-One": "1", "X-Two": "b", "User-Agent": "tester/1", "Accept-Encoding": "gzip",
			"X-Forwarded-For": "203.0.113.9, 127.0.0.1", "X-Forwarded-Proto": "http"},
		"multiValueHeaders": map[string]any{"X-One": []any{"1"}, "X-Two": []any{"a", "b"}, "User-Agent": []any{"tester/1"},
			"Accept-Encoding": []any{"gzip"}, "X-Forwarded-For": []any{"203.0.113.9, 127.0.0.1"}, "X-Forwarded-Proto": []any{"http"}},
		"queryStringParameters":           map[string]any{"auth": "allow", "a": "2&", "empty": ""},
		"multiValueQueryStringParameters": map[string]any{"auth": []any{"allow"}, "a": []any{"1", "2&"}, "empty": []any{""}},
		"pathParameters":                  map[string]any{"coin": "PURR/USDC"},
		"stageVariables":                  nil,
		"body":                            `{"x":"π"}`,
		"isBase64Encoded":                 false,
		"requestContext": map[string]any{
			"resourcePath": "/guarded/{coin}", "httpMethod": "POST", "path": "/api/guarded/PURR%2FUSDC",
			"requestTime": "02/Jan/2026:03:04:05 +0000", "requestTimeEpoch": float64(1767323045678),
			"accountId": "000000000000", "apiId": "local00000", "stage": "api", "protocol": "HTTP/1.1",
			"domainName": "127.0.0.1", "domainPrefix": "127",
			"identity":   map[string]any{"sourceIp": "127.0.0.1", "userAgent": "tester/1"},
			"authorizer": map[string]any{"principalId": "someone", "reason": `no "grant"`, "limit": "12.5", "trial": "true"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

func TestTheAuthorizerGetsTheRequestWithoutItsBody(t *testing.T) {
	t.Parallel()
	r := start(t).send(t, "POST", "/guarded/BTC?auth=allow", "a body")
	context := event(t, r)["requestContext"].(map[string]any)
	var seen map[string]any
	if err := json.Unmarshal([]byte(context["authorizer"].(map[string]any)["seen"].(string)), &seen); err != nil {
		t.Fatal(err)
	}
	for member, want := range map[string]any{
		"type": "REQUEST", "resource": "/guarded/{coin}", "path": "/guarded/BTC", "httpMethod": "POST",
		"methodArn":             "arn:aws:execute-api:us-east-1:000000000000:local00000/api/POST/guarded/BTC",
		"pathParameters":        map[string]any{"coin": "BTC"},
		"queryStringParameters": map[string]any{"auth": "allow"},
		"stageVariables":        map[string]any{},
	} {
		if !cmp.Equal(seen[member], want) {
			t.Errorf("%s = %v, want %v", member, seen[member], want)
		}
	}
	if _, has := seen["body"]; has {
		t.Error("the authorizer got the body")
	}
	if seen["requestContext"].(map[string]any)["requestId"] != context["requestId"] {
		t.Error("authorizer and function were told different request ids")
	}
}

func TestABodyThatIsNotTextArrivesInBase64(t *testing.T) {
	t.Parallel()
	s := start(t)
	for body, want := range map[string]struct {
		body    any
		encoded bool
	}{
		"":             {nil, false},
		"plain \x00":   {"plain \x00", false},
		"\xff\xfe\x00": {"//4A", true},
	} {
		e := event(t, s.send(t, "POST", "/open", body))
		if e["body"] != want.body || e["isBase64Encoded"] != want.encoded {
			t.Errorf("%q arrived as %v, base64 %v", body, e["body"], e["isBase64Encoded"])
		}
	}
}

func TestEveryRefusalHasItsStatusAndItsBody(t *testing.T) {
	t.Parallel()
	s := start(t)
	tests := map[string]struct {
		method, path, body string
		status             int
		want               string
	}{
		"401 the authorizer says Unauthorized": {"GET", "/guarded/BTC", "", 401, `{"error":"who are you?","id":"<id>"}`},
		"403 the policy denies":                {"GET", "/guarded/BTC?auth=deny", "", 403, `{"error":"no \"grant\"","limit":12.5,"none":null}`},
		"403 the policy allows another path":   {"GET", "/guarded/BTC?auth=elsewhere", "", 403, `{"error":"no \"grant\"","limit":12.5,"none":null}`},
		"404 unknown path":                     {"GET", "/nowhere", "", 404, `{"error":"nothing here"}`},
		"404 the stage alone":                  {"GET", "", "", 404, `{"error":"nothing here"}`},
		"404 an empty parameter":               {"GET", "/guarded/", "", 404, `{"error":"nothing here"}`},
		"405 known path, other method":         {"DELETE", "/open", "", 405, `{"error":"not with DELETE"}`},
		"413 a body over the limit":            {"POST", "/open", strings.Repeat("x", 1<<20+1), 413, `{"message":"the request body is too large"}`},
		"400 a path that is not UTF-8":         {"GET", "/guarded/%ff", "", 400, `{"message":"the path must be percent-encoded UTF-8"}`},
		"400 a query that is not UTF-8": {"GET", "/open?a=%ff", "", 400,
			`{"message":"the query must be name=value pairs in percent-encoded UTF-8, separated by &"}`},
		"400 a query with a broken escape": {"GET", "/open?a=%g1", "", 400,
			`{"message":"the query must be name=value pairs in percent-encoded UTF-8, separated by &"}`},
		"500 the authorizer fails":            {"GET", "/guarded/BTC?auth=broken", "", 500, `{"message":null}`},
		"500 the authorizer's process ends":   {"GET", "/guarded/BTC?auth=crash", "", 500, `{"message":null}`},
		"500 the authorizer answers nonsense": {"GET", "/guarded/BTC?auth=garbage", "", 500, `{"message":null}`},
		"500 a context that is not flat":      {"GET", "/guarded/BTC?auth=object", "", 500, `{"message":null}`},
		"502 the function fails":              {"GET", "/open?do=fail", "", 502, `{"message":"Internal server error"}`},
		"502 the function's process ends":     {"GET", "/open?do=exit", "", 502, `{"message":"Internal server error"}`},
		"504 there is no such function":       {"GET", "/missing", "", 504, `{"message":"Internal server error"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := s.send(t, tt.method, tt.path, tt.body)
			got := strings.ReplaceAll(string(r.body), r.Header.Get("X-Amzn-RequestId"), "<id>")
			if r.StatusCode != tt.status || got != tt.want {
				t.Errorf("answer %d %s, want %d %s", r.StatusCode, got, tt.status, tt.want)
			}
			if kind := r.Header.Get("Content-Type"); kind != "application/json" {
				t.Errorf("Content-Type = %q", kind)
			}
			if allow := r.Header.Get("Allow"); tt.status == 405 && allow != "GET, POST" {
				t.Errorf("Allow = %q", allow)
			}
		})
	}
}

func TestWhatIsNotHTTPIsRefusedInTheGatewaysOwnWords(t *testing.T) {
	t.Parallel()
	s := start(t)
	bad := `{"message":"the request is not valid HTTP, or its path is not percent-encoded UTF-8"}`
	large := `{"message":"the request line and headers are larger than 10240 bytes"}`
	tests := map[string]struct {
		text   string
		status int
		want   string
	}{
		"a broken escape in the path":  {"GET /api/guarded/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400, bad},
		"noise":                        {"\x16\x03\x01\r\n\r\n", 400, bad},
		"no host":                      {"GET /api/open HTTP/1.1\r\n\r\n", 400, bad},
		"an unknown transfer encoding": {"POST /api/open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: zip\r\n\r\n", 400, bad},
		"two lengths":                  {"POST /api/open HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400, bad},
		"headers a little too large":   {"GET /api/open HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("a", 10_240) + "\r\n\r\n", 431, large},
		"headers far too large":        {"GET /api/open HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("a", 60_000) + "\r\n\r\n", 431, large},
		"a chunked body that breaks": {"POST /api/open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400,
			`{"message":"the request body could not be read to its end"}`},
		"a chunked body over the limit": {"POST /api/open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n100001\r\n" +
			strings.Repeat("x", 0x100001) + "\r\n0\r\n\r\n", 413, `{"message":"the request body is too large"}`},
		"a promise of too large a body": {"POST /api/open HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n", 413,
			`{"message":"the request body is too large"}`},
		"an asterisk for a path": {"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 404, `{"error":"nothing here"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := s.raw(t, tt.text)
			if r.StatusCode != tt.status || string(r.body) != tt.want {
				t.Errorf("answer %d %s, want %d %s", r.StatusCode, r.body, tt.status, tt.want)
			}
			if r.Header.Get("X-Amzn-RequestId") == "" {
				t.Error("the answer has no request id")
			}
		})
	}
}

func TestAFunctionsAnswerIsMappedBack(t *testing.T) {
	t.Parallel()
	s := start(t)
	tests := map[string]struct {
		answer string
		status int
		body   string
		header map[string][]string
	}{
		"plain":   {`{"statusCode":201,"body":"made"}`, 201, "made", map[string][]string{"Content-Type": {"application/json"}}},
		"headers": {`{"statusCode":200,"headers":{"content-type":"text/csv","X-N":7,"X-A":"one"},"multiValueHeaders":{"X-A":["two","three"]},"body":null}`, 200, "", map[string][]string{"Content-Type": {"text/csv"}, "X-N": {"7"}, "X-A": {"two", "three"}}},
		"binary":  {`{"statusCode":"200","isBase64Encoded":true,"body":"/wA="}`, 200, "\xff\x00", nil},
		"renamed": {`{"statusCode":200,"headers":{"Connection":"close","Server":"mine"},"body":""}`, 200, "", map[string][]string{"X-Amzn-Remapped-Connection": {"close"}, "X-Amzn-Remapped-Server": {"mine"}, "Server": nil}},
		"no body": {`{"statusCode":204}`, 204, "", nil},

		"no status":        {`{"body":"x"}`, 502, `{"message":"Internal server error"}`, nil},
		"unknown key":      {`{"statusCode":200,"cookies":[]}`, 502, `{"message":"Internal server error"}`, nil},
		"body not text":    {`{"statusCode":200,"body":{"a":1}}`, 502, `{"message":"Internal server error"}`, nil},
		"status too small": {`{"statusCode":101}`, 502, `{"message":"Internal server error"}`, nil},
		"broken base64":    {`{"statusCode":200,"isBase64Encoded":true,"body":"%"}`, 502, `{"message":"Internal server error"}`, nil},
		"not an object":    {`"hello"`, 502, `{"message":"Internal server error"}`, nil},
		"null":             {`null`, 502, `{"message":"Internal server error"}`, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := s.send(t, "GET", "/open?do=raw&answer="+url.QueryEscape(tt.answer), "")
			if r.StatusCode != tt.status || string(r.body) != tt.body {
				t.Errorf("answer %d %q, want %d %q", r.StatusCode, r.body, tt.status, tt.body)
			}
			for name, want := range tt.header {
				if got := r.Header.Values(name); !cmp.Equal([]string(got), want) {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestAFunctionThatTakesTooLongIs504(t *testing.T) {
	t.Parallel()
	const enough = 100 * time.Millisecond
	t.Run("by the gateway's clock", func(t *testing.T) {
		t.Parallel()
		s := start(t, func(c *gateway.Config, _ map[string]lambdahost.Function) { c.Timeout = enough })
		r := s.send(t, "GET", "/open?do=nap", "")
		if want := `{"message":"Endpoint request timed out"}`; r.StatusCode != 504 || string(r.body) != want {
			t.Errorf("answer %d %s", r.StatusCode, r.body)
		}
	})
	t.Run("by the function's clock", func(t *testing.T) {
		t.Parallel()
		s := start(t, func(_ *gateway.Config, f map[string]lambdahost.Function) {
			probe := f["probe"]
			probe.Timeout = enough
			f["probe"] = probe
		})
		r := s.send(t, "GET", "/open?do=sleep", "")
		if want := `{"message":"Endpoint request timed out"}`; r.StatusCode != 504 || string(r.body) != want {
			t.Errorf("answer %d %s", r.StatusCode, r.body)
		}
	})
}

func TestABusyFunctionIs429(t *testing.T) {
	t.Parallel()
	s := start(t, func(_ *gateway.Config, f map[string]lambdahost.Function) {
		probe := f["probe"]
		probe.MaxInstances, probe.MaxQueue = 1, 1
		f["probe"] = probe
	})
	s.send(t, "GET", "/open", "")
	replies := make(chan reply)
	for range 3 {
		go func() { replies <- s.send(t, "GET", "/open?do=nap", "") }()
	}
	first := <-replies // one runs, one waits, and the third is refused before either ends
	if first.StatusCode != 429 || first.Header.Get("Retry-After") != "1" ||
		first.Header.Get("X-Request-Id") != first.Header.Get("X-Amzn-RequestId") {
		t.Errorf("answer %d %v", first.StatusCode, first.Header)
	}
	for range 2 {
		if r := <-replies; r.StatusCode != 200 {
			t.Errorf("answer %d %s", r.StatusCode, r.body)
		}
	}
}

func TestRequestsOverTheLimitInFlightAre429(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *gateway.Config, _ map[string]lambdahost.Function) { c.MaxInFlight = 1 })
	replies := make(chan int)
	for range 2 {
		go func() { replies <- s.send(t, "GET", "/open?do=nap", "").StatusCode }()
	}
	if first, second := <-replies, <-replies; first != 429 || second != 200 {
		t.Errorf("answers %d and %d, want 429 at once and 200", first, second)
	}
}

func TestManyRequestsAtOnceAreAllAnswered(t *testing.T) {
	t.Parallel()
	s := start(t)
	var clients sync.WaitGroup
	for client := range 32 {
		clients.Go(func() {
			for n := range 8 {
				coin := fmt.Sprintf("C%d-%d", client, n)
				e := event(t, s.send(t, "GET", "/guarded/"+coin+"?auth=allow", ""))
				if got := e["pathParameters"].(map[string]any)["coin"]; got != coin {
					t.Errorf("asked for %s, got the answer for %v", coin, got)
				}
			}
		})
	}
	clients.Wait()
}

func TestAClientThatLeavesDoesNotEndTheFunction(t *testing.T) {
	t.Parallel()
	s := start(t, func(_ *gateway.Config, f map[string]lambdahost.Function) {
		probe := f["probe"]
		probe.MaxInstances = 1
		f["probe"] = probe
	})
	s.send(t, "GET", "/open", "")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", s.url+"/open?do=nap", nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := s.client.Do(req); err == nil {
		resp.Body.Close()
		t.Fatal("the client did not leave")
	}
	// The one instance is still at its nap, and answers the next request after it.
	if r := s.send(t, "GET", "/open", ""); r.StatusCode != 200 {
		t.Errorf("answer %d %s", r.StatusCode, r.body)
	}
	if logs := s.logs.String(); !strings.Contains(logs, `"status":499`) {
		t.Errorf("the log does not show that the client left:\n%s", logs)
	}
}

func TestTheLogHoldsNeitherPathNorQuery(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.send(t, "GET", "/guarded/PRIVATE?auth=allow&Signature=SECRET", "")
	s.send(t, "GET", "/nowhere/PRIVATE?Signature=SECRET", "")
	s.send(t, "GET", "/open?do=fail&Signature=SECRET", "")
	logs := s.logs.String()
	if strings.Contains(logs, "SECRET") || strings.Contains(logs, "PRIVATE") {
		t.Errorf("the log holds the client's text:\n%s", logs)
	}
	for _, want := range []string{`"method":"GET","resource":"/guarded/{coin}","status":200,"ms":`, `"resource":"","status":404`, `"level":"WARN"`} {
		if !strings.Contains(logs, want) {
			t.Errorf("the log lacks %s:\n%s", want, logs)
		}
	}
}
