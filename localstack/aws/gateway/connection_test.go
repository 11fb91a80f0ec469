package gateway

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/coder/websocket"

	"quotary/localstack/aws/lambdahost"
	"quotary/shared/testing/must"
)

// FuzzTheEventsOfAConnection connects with any request line and headers, and sends
// any message: what the function gets is what aws-lambda-go reads them back from.
func FuzzTheEventsOfAConnection(f *testing.F) {
	f.Add("a=1&a=2&b=%22", "X-A", "\xff\"", "text π", false, 4000, "\xffbye")
	f.Add("%zz", "Host", "y", "\x00\xff", true, 1000, "")
	f.Fuzz(func(t *testing.T, query, name, value, body string, binary bool, code int, reason string) {
		seen := new(recorder)
		g := must.Get(New(Config{Functions: seen, Authorizer: "authorizer", Sockets: []SocketAPI{
			{Path: "/ws", Function: "f", Authorize: true, StageVariables: map[string]string{name: value}}}}))(t)
		r := &http.Request{Method: "GET", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Host: value, RemoteAddr: "192.0.2.1:1",
			URL: &url.URL{Path: "/api/ws", RawQuery: query}, Header: http.Header{
				"Connection": {"upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
				"Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}, "X-" + name: {value, value}}}
		req := g.newRequest(r)
		conn, answer, refused := g.connect(req, g.connections.api("/ws"))
		if refused != nil {
			if refused.kind != "BAD_REQUEST_PARAMETERS" && refused.kind != headersTooLarge {
				t.Fatalf("refused: %+v", refused)
			}
			return
		}
		if answer.status != 200 || r.Header["Upgrade"] == nil {
			t.Fatalf("status %d, header %v", answer.status, r.Header)
		}
		var first events.APIGatewayCustomAuthorizerRequestTypeRequest
		if err := json.Unmarshal(seen.authorizer, &first); err != nil {
			t.Fatalf("%q: %v", seen.authorizer, err)
		}
		for kind, event := range map[string][]byte{
			"CONNECT":    seen.function,
			"MESSAGE":    conn.messageEvent(incoming{body: []byte(body), binary: binary, at: time.Now()}, newID()),
			"DISCONNECT": conn.disconnectEvent(&closeReason{code: websocket.StatusCode(code), reason: reason}),
		} {
			var e events.APIGatewayWebsocketProxyRequest
			if err := json.Unmarshal(event, &e); err != nil {
				t.Fatalf("%q: %v", event, err)
			}
			about := e.RequestContext
			if about.EventType != kind || about.ConnectionID != conn.id || about.Authorizer.(map[string]any)[`k"`] != `v\` || len(e.StageVariables) != 1 {
				t.Errorf("%s: %s", kind, event)
			}
			switch kind {
			case "CONNECT":
				if q := req.query; len(e.MultiValueQueryStringParameters) != len(q) {
					t.Errorf("query %v arrived as %v", q, e.MultiValueQueryStringParameters)
				}
			case "MESSAGE":
				got := e.Body
				if e.IsBase64Encoded {
					decoded := must.Get(base64.StdEncoding.DecodeString(got))(t)
					got = string(decoded)
				}
				if e.IsBase64Encoded != binary || (binary || utf8.ValidString(body)) && got != body {
					t.Errorf("%q arrived as %q", body, got)
				}
			case "DISCONNECT":
				if about.DisconnectStatusCode != int64(code) || utf8.ValidString(reason) && *about.DisconnectReason != reason {
					t.Errorf("%d %q arrived as %d %q", code, reason, about.DisconnectStatusCode, *about.DisconnectReason)
				}
			}
		}
	})
}

// counter accepts connections, echoes messages and counts the calls with $disconnect.
type counter struct {
	ended atomic.Int32
	busy  atomic.Int32 // calls with messages or ends that are still to be throttled
}

func (c *counter) Invoke(_ context.Context, _ string, event []byte) ([]byte, error) {
	var e events.APIGatewayWebsocketProxyRequest
	if err := json.Unmarshal(event, &e); err != nil {
		return nil, err
	}
	if e.RequestContext.EventType != "CONNECT" && c.busy.Add(-1) >= 0 {
		return nil, lambdahost.ErrThrottled
	}
	if e.RequestContext.EventType == "DISCONNECT" {
		c.ended.Add(1)
	}
	return json.Marshal(events.APIGatewayProxyResponse{StatusCode: 200, Body: e.Body})
}

// serve runs a gateway with one client until stop, which waits for its end.
func serve(t *testing.T, functions Invoker) (conn *websocket.Conn, stop func()) {
	t.Helper()
	g, err := New(Config{Functions: functions, Sockets: []SocketAPI{{Path: "/ws", Function: "f"}}})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- g.Serve(ctx, listener) }()
	stop = func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
	conn, _, err = websocket.Dial(t.Context(), "ws://"+listener.Addr().String()+"/api/ws", nil)
	if err != nil {
		stop()
		t.Fatal(err)
	}
	return conn, stop
}

func TestThrottledMessagesAndDisconnectsAreDeliveredLater(t *testing.T) {
	t.Parallel()
	functions := new(counter)
	conn, stop := serve(t, functions)
	functions.busy.Store(3)
	for _, text := range []string{"one", "two"} {
		must.Do(t, conn.Write(t.Context(), websocket.MessageText, []byte(text)))
	}
	for _, text := range []string{"one", "two"} {
		if _, body, err := conn.Read(t.Context()); err != nil || string(body) != text {
			t.Fatalf("read %q, %v, want %s", body, err, text)
		}
	}
	functions.busy.Store(3)
	if err := conn.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Error(err)
	}
	stop()
	if n := functions.ended.Load(); n != 1 {
		t.Errorf("$disconnect was called %d times", n)
	}
}

func TestAConnectionEndsByTheClock(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	limits := SocketLimits{}.withDefaults()
	for name, tt := range map[string]struct {
		active, now time.Duration // since it began
		ended       bool
	}{
		"not idle for long enough": {time.Hour, time.Hour + limits.Idle - 1, false},
		"idle":                     {time.Hour, time.Hour + limits.Idle, true},
		"not old enough":           {limits.Lifetime - 1, limits.Lifetime - 1, false},
		"old, and busy":            {limits.Lifetime, limits.Lifetime, true},
	} {
		g := must.Get(New(Config{Functions: new(counter)}))(t)
		c := &connection{gateway: g, connectedAt: began}
		c.active.Store(began.Add(tt.active).UnixNano())
		if left := c.timeLeft(began.Add(tt.now)); (left <= 0) != tt.ended {
			t.Errorf("%s: %v left", name, left)
		}
	}
}

func TestAConfigurationOfSocketsIsChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Config{
		"no function":        {Sockets: []SocketAPI{{Path: "/ws"}}},
		"no path":            {Sockets: []SocketAPI{{Function: "f"}}},
		"a parameter":        {Sockets: []SocketAPI{{Path: "/{ws}", Function: "f"}}},
		"no authorizer":      {Sockets: []SocketAPI{{Path: "/ws", Function: "f", Authorize: true}}},
		"twice":              {Sockets: []SocketAPI{{Path: "/ws", Function: "f"}, {Path: "/ws/", Function: "f"}}},
		"a path of the REST": {Sockets: []SocketAPI{{Path: "/ws", Function: "f"}}, Routes: []Route{{Method: "GET", Path: "/ws", Function: "f"}}},
	} {
		c.Functions = noFunctions{}
		if _, err := New(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
