package gateway_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"quotary/localstack/aws/gateway"
	"quotary/localstack/aws/lambdahost"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

func TestTheEventsOfAConnectionAreThoseOfAWebSocketAPI(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	s := start(t, func(c *gateway.Config, _ map[string]lambdahost.Function) { c.Now = func() time.Time { return at } })
	conn, r := s.dial(t, "/ws/guarded?auth=allow&a=1&a=2;3", func(o *websocket.DialOptions) {
		o.HTTPHeader = http.Header{"User-Agent": {"tester/1"}, "X-Two": {"a", "b"}}
	})
	if conn == nil {
		t.Fatalf("refused with %d %s", r.StatusCode, r.body)
	}
	writeText(t, conn, "echo π")
	expect(t, conn, "π")
	must.Do(t, conn.Write(t.Context(), websocket.MessageBinary, []byte("\xff\x00")))
	must.Do(t, conn.Close(4000, "\"bye\""))
	waitUntil(t, func() bool { return len(s.received(t, "DISCONNECT", "")) == 1 })

	connect, messages, end := s.received(t, "CONNECT", ""), s.received(t, "MESSAGE", ""), s.received(t, "DISCONNECT", "")
	if len(connect) != 1 || len(messages) != 2 || len(end) != 1 {
		t.Fatalf("%d connects, %d messages, %d disconnects", len(connect), len(messages), len(end))
	}
	id := connect[0]["requestContext"].(map[string]any)["connectionId"]
	common := func(members ...any) map[string]any {
		about := map[string]any{
			"requestTime": "02/Jan/2026:03:04:05 +0000", "requestTimeEpoch": float64(at.UnixMilli()), "connectedAt": float64(at.UnixMilli()),
			"messageDirection": "IN", "stage": "api", "apiId": "wsapi00001", "domainName": s.addr, "connectionId": id,
			"identity":   map[string]any{"sourceIp": "127.0.0.1", "userAgent": "tester/1"},
			"authorizer": map[string]any{"principalId": "someone", "reason": `no "grant"`, "limit": "12.5", "trial": "true"},
		}
		for i := 0; i < len(members); i += 2 {
			about[members[i].(string)] = members[i+1]
		}
		return about
	}
	variables := map[string]any{"feed": "guarded", "a\"": "\\"}
	for _, tt := range []struct {
		name      string
		got, want map[string]any
	}{
		{"connect", connect[0], map[string]any{
			"queryStringParameters":           map[string]any{"auth": "allow", "a": "2;3"},
			"multiValueQueryStringParameters": map[string]any{"auth": []any{"allow"}, "a": []any{"1", "2;3"}},
			"requestContext":                  common("routeKey", "$connect", "eventType", "CONNECT"),
		}},
		{"text", messages[0], map[string]any{"body": "echo π",
			"requestContext": common("routeKey", "$default", "eventType", "MESSAGE")}},
		{"binary", messages[1], map[string]any{"body": "/wA=", "isBase64Encoded": true,
			"requestContext": common("routeKey", "$default", "eventType", "MESSAGE")}},
		{"disconnect", end[0], map[string]any{
			"headers":           map[string]any{"Host": s.addr, "X-Forwarded-For": "127.0.0.1"},
			"multiValueHeaders": map[string]any{"Host": []any{s.addr}, "X-Forwarded-For": []any{"127.0.0.1"}},
			"requestContext": common("routeKey", "$disconnect", "eventType", "DISCONNECT",
				"disconnectStatusCode", float64(4000), "disconnectReason", `"bye"`)}},
	} {
		tt.want["stageVariables"] = variables
		if tt.want["isBase64Encoded"] == nil {
			tt.want["isBase64Encoded"] = false
		}
		about := tt.got["requestContext"].(map[string]any)
		for _, varies := range []string{"requestId", "extendedRequestId", "messageId"} {
			if varies != "messageId" || tt.want["body"] != nil {
				if text, _ := about[varies].(string); text == "" {
					t.Errorf("%s: requestContext.%s is missing", tt.name, varies)
				}
			}
			delete(about, varies)
		}
		authorizer := about["authorizer"].(map[string]any)
		delete(authorizer, "seen")
		delete(authorizer, "integrationLatency")
		if tt.name == "connect" {
			headers := tt.got["multiValueHeaders"].(map[string]any)
			if !cmp.Equal(headers["X-Two"], []any{"a", "b"}) || headers["Sec-Websocket-Key"] == nil || headers["Upgrade"] != nil {
				t.Errorf("headers of $connect: %v", headers)
			}
			delete(tt.got, "headers")
			delete(tt.got, "multiValueHeaders")
		}
		check.Equalf(t, tt.want, tt.got, "%s", tt.name)
	}
}

func TestWhatTheFunctionReturnsIsSentToTheClient(t *testing.T) {
	t.Parallel()
	s := start(t)
	conn, id := s.connect(t, "/ws")
	for _, tt := range []struct {
		send, want string
		kind       websocket.MessageType
	}{
		{"echo hello", "hello", websocket.MessageText},
		{`raw {"statusCode":200,"isBase64Encoded":true,"body":"/wA="}`, "\xff\x00", websocket.MessageBinary},
		{`raw {"statusCode":400,"body":"{}"}`, "{}", websocket.MessageText},
		{"large 100000", strings.Repeat("x", 100_000), websocket.MessageText},
		{"large 131073", `{"message":"Internal server error","connectionId":"` + id + `","requestId":"<id>"}`, websocket.MessageText},
		{"fail", `{"message":"Internal server error","connectionId":"` + id + `","requestId":"<id>"}`, websocket.MessageText},
		{"raw 1", `{"message":"Internal server error","connectionId":"` + id + `","requestId":"<id>"}`, websocket.MessageText},
	} {
		writeText(t, conn, "nothing")
		writeText(t, conn, tt.send)
		kind, got := readMessage(t, conn)
		if strings.HasPrefix(got, `{"message"`) {
			var about struct{ RequestID string }
			must.Do(t, json.Unmarshal([]byte(got), &about))
			got = strings.Replace(got, about.RequestID, "<id>", 1)
		}
		if kind != tt.kind || got != tt.want {
			t.Errorf("%s: answer %v %.200q, want %.200q", tt.send, kind, got, tt.want)
		}
	}
}

func TestMessagesReachTheFunctionOneAtATimeInTheirOrder(t *testing.T) {
	t.Parallel()
	s := start(t)
	conn, id := s.connect(t, "/ws")
	release := filepath.Join(t.TempDir(), "release")
	writeText(t, conn, "wait "+release)
	waitUntil(t, func() bool { return exists(release + ".begun") })
	const many = 100 // more than may wait: the rest waits in the network
	for i := range many {
		writeText(t, conn, fmt.Sprint("echo ", i))
	}
	other, _ := s.connect(t, "/ws")
	writeText(t, other, "echo not held up")
	expect(t, other, "not held up")
	if disconnects := s.received(t, "MESSAGE", id); len(disconnects) != 1 {
		t.Errorf("the function got %d messages while it was busy with the first", len(disconnects))
	}
	must.Do(t, os.WriteFile(release, nil, 0o600))
	for i := range many {
		expect(t, conn, fmt.Sprint(i))
	}
}

func TestMessagesReachTheFunctionAtOnceWhereTheyAreParallel(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *gateway.Config, _ map[string]lambdahost.Function) { c.SocketLimits.Parallel = true })
	conn, id := s.connect(t, "/ws")
	release := filepath.Join(t.TempDir(), "release")
	writeText(t, conn, "wait "+release)
	waitUntil(t, func() bool { return exists(release + ".begun") })
	writeText(t, conn, "echo not held up")
	expect(t, conn, "not held up")
	must.Do(t, conn.Close(websocket.StatusNormalClosure, ""))
	if ends := s.received(t, "DISCONNECT", id); len(ends) != 0 {
		t.Error("the function got the end before it had answered a message")
	}
	must.Do(t, os.WriteFile(release, nil, 0o600))
	waitUntil(t, func() bool { return len(s.received(t, "DISCONNECT", id)) == 1 })
}

func TestEveryEndCallsDisconnectOnce(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		limits gateway.SocketLimits
		end    func(t *testing.T, s *stage, conn *websocket.Conn, id string, wire net.Conn)
		code   float64
		reason string
	}{
		"the client closes": {end: func(_ *testing.T, _ *stage, c *websocket.Conn, _ string, _ net.Conn) {
			_ = c.Close(4321, "done")
		}, code: 4321, reason: "done"},
		"the client closes without a code": {end: func(_ *testing.T, _ *stage, c *websocket.Conn, _ string, _ net.Conn) {
			_ = c.Close(websocket.StatusNoStatusRcvd, "")
		}, code: 1005, reason: "Client-side close frame status not set"},
		"the client is killed": {end: func(t *testing.T, _ *stage, _ *websocket.Conn, _ string, wire net.Conn) {
			_ = wire.(*net.TCPConn).SetLinger(0)
			_ = wire.Close()
		}, code: 1006, reason: "Connection closed abnormally"},
		"the connection is deleted": {end: func(t *testing.T, s *stage, c *websocket.Conn, id string, _ net.Conn) {
			s.delete(t, id)
			if code := closing(t, c); code != 1000 {
				t.Errorf("the client is closed with %d", code)
			}
		}, code: 1000, reason: "Connection closed normally"},
		"nothing passes for too long": {limits: gateway.SocketLimits{Idle: 50 * time.Millisecond},
			end: func(t *testing.T, s *stage, c *websocket.Conn, _ string, _ net.Conn) {
				if code := closing(t, c); code != 1001 {
					t.Errorf("the client is closed with %d", code)
				}
			}, code: 1001, reason: "Going away"},
		"the lifetime is over": {limits: gateway.SocketLimits{Lifetime: 100 * time.Millisecond},
			end: func(t *testing.T, s *stage, c *websocket.Conn, _ string, _ net.Conn) {
				if code := closing(t, c); code != 1001 {
					t.Errorf("the client is closed with %d", code)
				}
			}, code: 1001, reason: "Going away"},
		"a message is too long": {end: func(t *testing.T, _ *stage, c *websocket.Conn, _ string, _ net.Conn) {
			write(t, c, 128<<10+1, 32<<10)
			if code := closing(t, c); code != 1009 {
				t.Errorf("the client is closed with %d", code)
			}
		}, code: 1009, reason: "Message too long"},
		"a frame is too long": {end: func(t *testing.T, _ *stage, c *websocket.Conn, _ string, _ net.Conn) {
			write(t, c, 32<<10+1, 32<<10+1)
			if code := closing(t, c); code != 1009 {
				t.Errorf("the client is closed with %d", code)
			}
		}, code: 1009, reason: "Message too long"},
		"text is not UTF-8": {end: func(t *testing.T, _ *stage, c *websocket.Conn, _ string, _ net.Conn) {
			writeText(t, c, "\xff")
			if code := closing(t, c); code != 1007 {
				t.Errorf("the client is closed with %d", code)
			}
		}, code: 1007, reason: "Text is not UTF-8"},
		"the gateway stops": {end: func(t *testing.T, s *stage, c *websocket.Conn, _ string, _ net.Conn) {
			s.stop()
			if code := closing(t, c); code != 1001 {
				t.Errorf("the client is closed with %d", code)
			}
		}, code: 1001, reason: "Going away"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, func(c *gateway.Config, _ map[string]lambdahost.Function) { c.SocketLimits = tt.limits })
			var wire net.Conn
			conn, _ := s.dial(t, "/ws", network(func(c net.Conn) { wire = c }))
			if conn == nil {
				t.Fatal("refused")
			}
			id := s.received(t, "CONNECT", "")[0]["requestContext"].(map[string]any)["connectionId"].(string)
			tt.end(t, s, conn, id, wire)
			waitUntil(t, func() bool { return len(s.received(t, "DISCONNECT", id)) > 0 })
			s.stop() // what might be called a second time is called by then
			s.awaitStop(t)
			disconnects := s.received(t, "DISCONNECT", id)
			if len(disconnects) != 1 {
				t.Fatalf("$disconnect was called %d times", len(disconnects))
			}
			about := disconnects[0]["requestContext"].(map[string]any)
			if about["disconnectStatusCode"] != tt.code || about["disconnectReason"] != tt.reason {
				t.Errorf("$disconnect has %v %q", about["disconnectStatusCode"], about["disconnectReason"])
			}
		})
	}
}

// write sends a message of n bytes in frames of at most size bytes.
func write(t *testing.T, conn *websocket.Conn, n, size int) {
	t.Helper()
	w := must.Get(conn.Writer(t.Context(), websocket.MessageText))(t)
	body := []byte("echo " + strings.Repeat("y", n-len("echo ")))
	for frame := range slices.Chunk(body, size) {
		must.Get(w.Write(frame))(t)
	}
	must.Do(t, w.Close())
}

func TestAMessageUpToTheLimitsArrivesComplete(t *testing.T) {
	t.Parallel()
	conn, _ := start(t).connect(t, "/ws")
	for _, n := range []int{6, 32 << 10, 32<<10 + 1, 128 << 10} {
		write(t, conn, n, 32<<10)
		expect(t, conn, strings.Repeat("y", n-5))
	}
}

func TestEachOfManyThatLeaveAtOnceGetsItsDisconnect(t *testing.T) {
	t.Parallel()
	s := start(t, func(_ *gateway.Config, f map[string]lambdahost.Function) {
		socket := f["socket"]
		socket.MaxInstances, socket.MaxQueue = 2, 4
		f["socket"] = socket
	})
	const many = 100
	var wires []net.Conn
	for range many {
		if conn, r := s.dial(t, "/ws", network(func(c net.Conn) { wires = append(wires, c) })); conn == nil {
			t.Fatalf("refused with %d", r.StatusCode)
		}
	}
	for _, wire := range wires {
		_ = wire.Close()
	}
	waitUntil(t, func() bool { return len(s.received(t, "DISCONNECT", "")) >= many })
	ids := make(map[any]int)
	for _, e := range s.received(t, "DISCONNECT", "") {
		ids[e["requestContext"].(map[string]any)["connectionId"]]++
	}
	if len(ids) != many {
		t.Errorf("$disconnect for %d connections, want %d", len(ids), many)
	}
}

func TestManyConnectionsAtOnceKeepTheirMessagesApart(t *testing.T) {
	t.Parallel()
	s := start(t)
	var clients sync.WaitGroup
	for client := range 16 {
		clients.Go(func() {
			conn, _ := s.dial(t, "/ws")
			if conn == nil {
				t.Error("refused")
				return
			}
			for n := range 10 {
				text := fmt.Sprint(client, "/", n)
				writeText(t, conn, "echo "+text)
				expect(t, conn, text)
			}
		})
	}
	clients.Wait()
}
