package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"quotary/localstack/aws/gateway"
	"quotary/localstack/aws/lambdahost"
	"quotary/shared/testing/must"
)

func TestTheAuthorizerIsAskedAboutTheRouteConnect(t *testing.T) {
	t.Parallel()
	s := start(t)
	_, id := s.connect(t, "/ws/guarded?auth=allow")
	about := s.received(t, "CONNECT", id)[0]["requestContext"].(map[string]any)
	var seen map[string]any
	must.Do(t, json.Unmarshal([]byte(about["authorizer"].(map[string]any)["seen"].(string)), &seen))
	for member, want := range map[string]any{
		"type": "REQUEST", "methodArn": "arn:aws:execute-api:us-east-1:000000000000:wsapi00001/api/$connect",
		"queryStringParameters": map[string]any{"auth": "allow"},
		"stageVariables":        map[string]any{"feed": "guarded", "a\"": "\\"},
		"resource":              nil, "path": nil, "httpMethod": nil, "body": nil, "isBase64Encoded": nil,
	} {
		if !cmp.Equal(seen[member], want) {
			t.Errorf("%s = %v, want %v", member, seen[member], want)
		}
	}
	asked := seen["requestContext"].(map[string]any)
	for member, want := range map[string]any{"routeKey": "$connect", "eventType": "CONNECT", "connectionId": id, "authorizer": nil} {
		if asked[member] != want {
			t.Errorf("requestContext.%s = %v, want %v", member, asked[member], want)
		}
	}
}

func TestEveryRefusedHandshakeHasItsStatusAndItsBody(t *testing.T) {
	t.Parallel()
	s := start(t)
	limit := `{"statusCode":429,"headers":{"Content-Type":"application/json"},"body":"{\"error\":\"ws connection limit exceeded for sub key\"}"}`
	tests := map[string]struct {
		path   string
		edit   func(http.Header)
		status int
		want   string
	}{
		"401 the authorizer says Unauthorized": {"/ws/guarded", nil, 401, `{"error":"who are you?","id":"<id>"}`},
		"403 the policy denies":                {"/ws/guarded?auth=deny", nil, 403, `{"error":"no \"grant\"","limit":12.5,"none":null}`},
		"403 the policy allows something else": {"/ws/guarded?auth=another", nil, 403, `{"error":"no \"grant\"","limit":12.5,"none":null}`},
		"500 the authorizer fails":             {"/ws/guarded?auth=broken", nil, 500, `{"message":null}`},
		"500 the authorizer answers nonsense":  {"/ws/guarded?auth=garbage", nil, 500, `{"message":null}`},
		"429 as the function says":             {"/ws?do=raw&with=" + url.QueryEscape(limit), nil, 429, `{"error":"ws connection limit exceeded for sub key"}`},
		"302 as the function says":             {"/ws?do=raw&with=" + url.QueryEscape(`{"statusCode":302}`), nil, 302, ``},
		"502 the function fails":               {"/ws?do=fail", nil, 502, `{"message":"Internal server error"}`},
		"502 the function answers nonsense":    {"/ws?do=raw&with=1", nil, 502, `{"message":"Internal server error"}`},
		"504 there is no such function":        {"/ws/missing", nil, 504, `{"message":"Internal server error"}`},
		"400 a query that is not UTF-8":        {"/ws?a=%ff", nil, 400, `{"message":"the query must be name=value pairs in percent-encoded UTF-8, separated by &"}`},
		"404 another path":                     {"/ws/unknown", nil, 404, `{"error":"nothing here"}`},
		"426 a plain request": {"/ws", func(h http.Header) { h.Del("Upgrade") }, 426,
			`{"message":"this path takes WebSocket connections only: send the headers Connection: Upgrade and Upgrade: websocket"}`},
		"400 another version": {"/ws", func(h http.Header) { h.Set("Sec-WebSocket-Version", "8") }, 400, `{"message":"Sec-WebSocket-Version must be 13"}`},
		"400 no key":          {"/ws", func(h http.Header) { h.Del("Sec-WebSocket-Key") }, 400, `{"message":"Sec-WebSocket-Key must be given once"}`},
		"400 a short key":     {"/ws", func(h http.Header) { h.Set("Sec-WebSocket-Key", "YQ==") }, 400, `{"message":"Sec-WebSocket-Key must be 16 bytes in base64"}`},
		"431 large headers": {"/ws", func(h http.Header) { h.Set("X-A", strings.Repeat("a", 10_240)) }, 431,
			`{"message":"the request line and headers are larger than 10240 bytes"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := must.Get(http.NewRequest("GET", s.url+tt.path, nil))(t)
			req.Header = http.Header{"Connection": {"keep-alive, Upgrade"}, "Upgrade": {"websocket"},
				"Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}}
			if tt.edit != nil {
				tt.edit(req.Header)
			}
			resp := must.Get(s.client.Transport.RoundTrip(req))(t)
			defer resp.Body.Close()
			body := make([]byte, 4096)
			n, _ := resp.Body.Read(body)
			got := strings.ReplaceAll(string(body[:n]), resp.Header.Get("X-Amzn-RequestId"), "<id>")
			if resp.StatusCode != tt.status || got != tt.want {
				t.Errorf("answer %d %s, want %d %s", resp.StatusCode, got, tt.status, tt.want)
			}
			if kind := resp.Header.Get("Content-Type"); kind != "application/json" {
				t.Errorf("Content-Type = %q", kind)
			}
		})
	}
	if r := s.send(t, "POST", "/ws", ""); r.StatusCode != 405 || r.Header.Get("Allow") != "GET" {
		t.Errorf("POST is answered %d, Allow %q", r.StatusCode, r.Header.Get("Allow"))
	}
	t.Cleanup(func() { // what never was open gets no $disconnect
		if disconnects := s.received(t, "DISCONNECT", ""); len(disconnects) > 0 {
			t.Errorf("%d refused handshakes got a $disconnect", len(disconnects))
		}
	})
}

func TestTheFunctionChoosesTheSubprotocol(t *testing.T) {
	t.Parallel()
	conn, _ := start(t).dial(t, "/ws?do=protocol&with=two", func(o *websocket.DialOptions) { o.Subprotocols = []string{"one", "two"} })
	if conn == nil || conn.Subprotocol() != "two" {
		t.Errorf("connection %v", conn)
	}
}

func TestAHandshakeByACustomDomainIsAccepted(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *gateway.Config, _ map[string]lambdahost.Function) {
		c.Domains = []gateway.Domain{{Name: "api.example.com", BasePath: "/v1"}}
	})
	address := "ws://" + s.addr + "/v1/ws"
	conn, _ := must.Get2(websocket.Dial(t.Context(), address, &websocket.DialOptions{HTTPClient: s.client, Host: "api.example.com"}))(t)
	defer conn.CloseNow()
	writeText(t, conn, "echo hello")
	expect(t, conn, "hello")
	if conn, resp, err := websocket.Dial(t.Context(), address, &websocket.DialOptions{HTTPClient: s.client}); err == nil {
		conn.CloseNow()
		t.Error("a base path is accepted on the stage's own address")
	} else if resp == nil || resp.StatusCode != http.StatusNotFound {
		t.Errorf("a base path on the stage's own address: %v", err)
	}
}

func TestAClientThatLeavesDuringTheHandshakeIsReportedAsDisconnected(t *testing.T) {
	t.Parallel()
	s := start(t)
	release := filepath.Join(t.TempDir(), "release")
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	left := make(chan error)
	go func() {
		_, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(s.url, "http")+"/ws?do=wait&with="+url.QueryEscape(release), nil)
		left <- err
	}()
	waitUntil(t, func() bool { return exists(release + ".begun") })
	leave()
	if err := <-left; err == nil {
		t.Fatal("the client did not leave")
	}
	must.Do(t, os.WriteFile(release, nil, 0o600))
	waitUntil(t, func() bool { return len(s.received(t, "DISCONNECT", "")) == 1 })
}

func TestTheConnectionOverTheLimitIsRefusedUntilOneEnds(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *gateway.Config, _ map[string]lambdahost.Function) { c.SocketLimits.Connections = 2 })
	first, _ := s.connect(t, "/ws")
	s.connect(t, "/ws")
	if conn, r := s.dial(t, "/ws"); conn != nil || r.StatusCode != 429 {
		t.Fatalf("the third connection was answered %d", r.StatusCode)
	}
	_ = first.Close(1000, "")
	waitUntil(t, func() bool {
		conn, _ := s.dial(t, "/ws")
		return conn != nil
	})
}
