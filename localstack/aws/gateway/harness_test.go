package gateway_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"go.uber.org/goleak"

	"quotary/localstack/aws/gateway"
	"quotary/localstack/aws/lambdahost"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
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
	case "socket":
		lambda.Start(socket)
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
	case "another":
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
func probe(_ context.Context, e json.RawMessage) (any, error) {
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
	case "wait": // shows that it has begun, and waits until the file is there
		file := event.QueryStringParameters["file"]
		if err := os.WriteFile(file+".begun", nil, 0o600); err != nil {
			return nil, err
		}
		for !exists(file) {
			time.Sleep(time.Millisecond)
		}
	case "pid":
		return events.APIGatewayProxyResponse{StatusCode: 200, Body: fmt.Sprintf(`{"pid":%d}`, os.Getpid())}, nil
	case "raw":
		return json.RawMessage(event.QueryStringParameters["answer"]), nil
	}
	return events.APIGatewayProxyResponse{StatusCode: 200, Body: string(e)}, nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
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
	events string // file with every event of the socket function
	stop   func() // ends the gateway; the functions stay
	done   chan struct{}
}

var routes = []gateway.Route{
	{Method: "GET", Path: "/open", Function: "probe"},
	{Method: "POST", Path: "/open", Function: "probe"},
	{Method: "GET", Path: "/guarded/{coin}", Function: "probe", Authorize: true},
	{Method: "POST", Path: "/guarded/{coin}", Function: "probe", Authorize: true},
	{Method: "GET", Path: "/signed", Function: "probe", Authorize: true, IdentitySource: []string{"auth", "n"}},
	{Method: "GET", Path: "/guarded/best", Function: "probe"},
	{Method: "GET", Path: "/tickers/{coin+}", Function: "probe", Authorize: true},
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
	self := must.Get(os.Executable())(t)
	events := filepath.Join(t.TempDir(), "events")
	functions := map[string]lambdahost.Function{
		"probe":      {Path: self, Env: []string{actAs + "=probe"}},
		"authorizer": {Path: self, Env: []string{actAs + "=authorizer"}},
		"socket":     {Path: self, Env: []string{actAs + "=socket", eventsFile + "=" + events}},
	}
	logs := new(lockedBuffer)
	cfg := gateway.Config{
		Routes:           routes,
		Sockets:          socketAPIs,
		Authorizer:       "authorizer",
		Responses:        responses,
		MethodNotAllowed: gateway.Response{Template: `{"error":"not with $context.httpMethod"}`},
		MaxBody:          1 << 20,
		Log:              slog.New(slog.NewJSONHandler(logs, nil)),
	}
	for _, e := range edit {
		e(&cfg, functions)
	}
	host := must.Get(lambdahost.New(lambdahost.Config{Functions: functions}))(t)
	cfg.Functions = host
	g := must.Get(gateway.New(cfg))(t)
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, cancel := context.WithCancel(context.Background())
	served, done := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(done)
		served <- g.Serve(ctx, listener)
	}()
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
	return &stage{url: "http://" + addr + "/api", addr: addr, client: &http.Client{Transport: transport}, logs: logs, events: events, stop: cancel, done: done}
}

// awaitStop returns when the gateway has ended.
func (s *stage) awaitStop(t *testing.T) {
	t.Helper()
	select {
	case <-s.done:
	case <-time.After(2 * time.Minute):
		t.Fatal("the gateway does not end")
	}
}

type reply struct {
	*http.Response
	body []byte
}

func (s *stage) send(t testing.TB, method, path, body string, headers ...string) reply {
	t.Helper()
	req := must.Get(http.NewRequest(method, s.url+path, strings.NewReader(body)))(t)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	resp := must.Get(s.client.Do(req))(t)
	defer resp.Body.Close()
	all := must.Get(io.ReadAll(resp.Body))(t)
	if resp.Header.Get("X-Amzn-RequestId") == "" || resp.Header.Get("X-Amz-Apigw-Id") == "" {
		t.Errorf("%s %s: an answer without request ids: %v", method, path, resp.Header)
	}
	return reply{resp, all}
}

// sendTo sends a GET to a host by name; empty is the stage's own address. The path
// begins with stage or base path.
func (s *stage) sendTo(t testing.TB, host, path string) reply {
	t.Helper()
	return s.raw(t, "GET "+path+" HTTP/1.1\r\nHost: "+cmp.Or(host, s.addr)+"\r\nConnection: close\r\n\r\n")
}

// raw sends bytes that no HTTP client would.
func (s *stage) raw(t testing.TB, text string) reply {
	t.Helper()
	conn := must.Get(net.Dial("tcp", s.addr))(t)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	must.Get(io.WriteString(conn, text))(t)
	resp := must.Get(http.ReadResponse(bufio.NewReader(conn), nil))(t)
	defer resp.Body.Close()
	all := must.Get(io.ReadAll(resp.Body))(t)
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

func waitUntil(t *testing.T, come func() bool) {
	t.Helper()
	testenv.Until(t, "what the test waits for", come)
}
