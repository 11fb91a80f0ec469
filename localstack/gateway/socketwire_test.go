package gateway

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/coder/websocket"
	"pgregory.net/rapid"

	"quotary/localstack/lambdahost"
)

// TestTooLargeAFrameIsFoundHoweverTheBytesArrive draws frames, and pieces in which
// their bytes are read.
func TestTooLargeAFrameIsFoundHoweverTheBytesArrive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var wire []byte
		messages, over := 0, 0
		for range rapid.IntRange(1, 8).Draw(t, "frames") {
			opcode := rapid.SampledFrom([]byte{0, 1, 2, 8, 9, 10}).Draw(t, "opcode")
			fin := rapid.Bool().Draw(t, "fin")
			size := rapid.SampledFrom([]int{0, 1, 125, 126, 127, maxFrame - 1, maxFrame, maxFrame + 1, 1<<16 - 1, 1 << 16}).Draw(t, "size")
			masked := rapid.Bool().Draw(t, "masked")
			wire = append(wire, frame(opcode, fin, masked, size)...)
			if opcode < 8 {
				if size > maxFrame && over == 0 {
					over = messages + 1
				}
				if fin {
					messages++
				}
			}
		}
		var meter frameMeter
		for len(wire) > 0 {
			n := min(len(wire), rapid.SampledFrom([]int{1, 2, 3, 7, 512, 40_000}).Draw(t, "piece"))
			meter.pass(wire[:n])
			wire = wire[n:]
		}
		if meter.messages != messages || meter.over != over || meter.have != 0 || meter.skip != 0 {
			t.Fatalf("%d messages, the first too large is %d: want %d and %d", meter.messages, meter.over, messages, over)
		}
	})
}

func frame(opcode byte, fin, masked bool, size int) []byte {
	first, second := opcode, byte(0)
	if fin {
		first |= 0x80
	}
	if masked {
		second = 0x80
	}
	var b []byte
	switch {
	case size < 126:
		b = []byte{first, second | byte(size)}
	case size < 1<<16:
		b = binary.BigEndian.AppendUint16([]byte{first, second | 126}, uint16(size))
	default:
		b = binary.BigEndian.AppendUint64([]byte{first, second | 127}, uint64(size))
	}
	if masked {
		b = append(b, 0xff, 0xff, 0xff, 0xff)
	}
	return append(b, bytes.Repeat([]byte{0xff}, size)...)
}

// FuzzManagerReadsRequestsAsNetHTTPDoes holds the two parsers against each other:
// what a manager takes for a request is the same one to net/http, so that both
// agree on where the next one begins.
func FuzzManagerReadsRequestsAsNetHTTPDoes(f *testing.F) {
	const target = " /api/@connections/L0SM9cOFvHcCIhw%3D HTTP/1.1\r\n"
	for _, seed := range []string{
		"POST" + target + "Host: x\r\nAuthorization: AWS4-HMAC-SHA256 Credential=a, SignedHeaders=b, Signature=c \r\nContent-Length: 3\r\n\r\n",
		"GET" + target + "\r\n",
		"DELETE" + target + "Content-Length: 1\r\ncontent-length: 2\r\n\r\n",
		"POST" + target + "X: a\nTransfer-Encoding: chunked\r\n\r\n",
		"POST" + target + "Content-Length : 5\r\n\r\n",
		"POST" + target + " folded: 5\r\nConnection: close\r\n\r\n",
		"POST /api/@connections/a?b#c/d%2F HTTP/1.1\r\nAuthorization:\r\nAuthorization: x\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		end := bytes.Index(wire, []byte("\r\n\r\n"))
		if end < 0 {
			return
		}
		head := wire[:end+4]
		m := &manager{sockets: &sockets{base: "/api/@connections/"}}
		c, ok := m.parse(head)
		if !ok {
			return
		}
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(head)))
		if err != nil {
			return // no next request for net/http: it closes the connection
		}
		authorization := string(head[c.authorization[0]:c.authorization[1]])
		if r.Method != c.method || r.URL.Path != "/api/@connections/"+string(c.id) || r.ContentLength != int64(c.length) ||
			r.Header.Get("Authorization") != authorization || r.TransferEncoding != nil || r.Close {
			t.Errorf("%q is %s %q of %d bytes, authorized %q, to a manager, and to net/http %s %q of %d bytes, %q, %v, close %v",
				head, c.method, c.id, c.length, authorization, r.Method, r.URL.Path, r.ContentLength, r.Header.Get("Authorization"), r.TransferEncoding, r.Close)
		}
	})
}

// FuzzTheEventsOfAConnection connects with any request line and headers, and sends
// any message: what the function gets is what aws-lambda-go reads them back from.
func FuzzTheEventsOfAConnection(f *testing.F) {
	f.Add("a=1&a=2&b=%22", "X-A", "\xff\"", "text π", false, 4000, "\xffbye")
	f.Add("%zz", "Host", "y", "\x00\xff", true, 1000, "")
	f.Fuzz(func(t *testing.T, query, name, value, body string, binary bool, code int, reason string) {
		seen := new(recorder)
		g, err := New(Config{Functions: seen, Authorizer: "authorizer", Sockets: []SocketAPI{
			{Path: "/ws", Function: "f", Authorize: true, StageVariables: map[string]string{name: value}}}})
		if err != nil {
			t.Fatal(err)
		}
		r := &http.Request{Method: "GET", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Host: value, RemoteAddr: "192.0.2.1:1",
			URL: &url.URL{Path: "/api/ws", RawQuery: query}, Header: http.Header{
				"Connection": {"upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
				"Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}, "X-" + name: {value, value}}}
		conn := &socket{gateway: g, api: g.sockets.at("/ws"), id: newID()}
		req := g.newRequest(r)
		answer, no := g.connect(req, conn)
		if no != nil {
			if no.kind != "BAD_REQUEST_PARAMETERS" && no.status != http.StatusRequestHeaderFieldsTooLarge {
				t.Fatalf("refused: %+v", no)
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
			"MESSAGE":    conn.messageEvent(&message{body: []byte(body), binary: binary, at: time.Now()}, newID()),
			"DISCONNECT": conn.disconnectEvent(ending{code: websocket.StatusCode(code), reason: reason}),
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
					decoded, err := base64.StdEncoding.DecodeString(got)
					if err != nil {
						t.Fatal(err)
					}
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

// opaque hides that a connection is the system's, as on platforms where it cannot
// be written to without waiting.
type opaque struct{ net.Listener }

func (l opaque) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return struct{ net.Conn }{conn}, err
}

// counter accepts connections, echoes messages and counts the ends.
type counter struct {
	id    atomic.Pointer[string]
	ended atomic.Int32
	busy  atomic.Int32 // calls with messages or ends that are still to be throttled
}

func (c *counter) Invoke(_ context.Context, _ string, event []byte) ([]byte, error) {
	var e events.APIGatewayWebsocketProxyRequest
	if err := json.Unmarshal(event, &e); err != nil {
		return nil, err
	}
	c.id.Store(&e.RequestContext.ConnectionID)
	if e.RequestContext.EventType != "CONNECT" && c.busy.Add(-1) >= 0 {
		return nil, lambdahost.ErrThrottled
	}
	if e.RequestContext.EventType == "DISCONNECT" {
		c.ended.Add(1)
	}
	return json.Marshal(events.APIGatewayProxyResponse{StatusCode: 200, Body: e.Body})
}

// serve runs a gateway on a listener until stop, which waits for its end.
func serve(t *testing.T, functions Invoker, wrap func(net.Listener) net.Listener) (g *Gateway, conn *websocket.Conn, stop func()) {
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
	go func() { served <- g.Serve(ctx, wrap(listener)) }()
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
	return g, conn, stop
}

func TestThrottledMessagesAndEndsAreDeliveredLater(t *testing.T) {
	t.Parallel()
	functions := new(counter)
	_, conn, stop := serve(t, functions, func(l net.Listener) net.Listener { return l })
	functions.busy.Store(3)
	for _, text := range []string{"one", "two"} {
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"one", "two"} {
		if _, body, err := conn.Read(t.Context()); err != nil || string(body) != text {
			t.Fatalf("heard %q, %v, want %s", body, err, text)
		}
	}
	functions.busy.Store(3)
	if err := conn.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Error(err)
	}
	stop()
	if n := functions.ended.Load(); n != 1 {
		t.Errorf("told of the end %d times", n)
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
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, err := New(Config{Functions: new(counter), Now: func() time.Time { return began.Add(tt.now) }})
			if err != nil {
				t.Fatal(err)
			}
			if !g.sockets.reserve() {
				t.Fatal("no place")
			}
			s := &socket{gateway: g, api: new(socketAPI), connectedAt: began, gone: make(chan struct{}), timer: time.NewTimer(time.Hour)}
			s.fixed = []byte(`,"connectionId":"x"`)
			s.touch(began.Add(tt.active))
			s.watch()
			if s.ended.Load() != tt.ended {
				t.Errorf("ended: %v", s.ended.Load())
			}
			s.end(lost)
			g.sockets.running.Wait()
		})
	}
}

func TestMessagesStayInOrderWhereWritesWait(t *testing.T) {
	t.Parallel()
	functions := new(counter)
	g, conn, stop := serve(t, functions, func(l net.Listener) net.Listener { return opaque{l} })
	c := g.sockets.find([]byte(*functions.id.Load()))
	if c == nil || c.out.raw != nil {
		t.Fatal("the connection is not the one that this is about")
	}
	const many = 300
	go func() {
		for i := range many {
			if err := c.send(websocket.MessageText, fmt.Appendf(nil, "%d %s", i, strings.Repeat("x", 5000))); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for i := range many {
		_, body, err := conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n, _, _ := strings.Cut(string(body), " "); n != fmt.Sprint(i) || len(body) != len(n)+5001 {
			t.Fatalf("message %d is %.10q of %d bytes", i, body, len(body))
		}
	}
	if err := conn.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Error(err)
	}
	stop()
	if n := functions.ended.Load(); n != 1 {
		t.Errorf("told of the end %d times", n)
	}
}

func TestNothingFollowsACloseFrame(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	o := newOutlet(conn, nil, new(socket))
	for i, body := range []string{"a", "b"} {
		if first, _, err := o.put(websocket.MessageText, []byte(body)); err != nil || first != (i == 0) {
			t.Errorf("%s: first %v, error %v", body, first, err)
		}
	}
	if _, err := o.Write([]byte{0x88, 0}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := o.put(websocket.MessageText, []byte("c")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a message after the close frame: %v", err)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(client)
	if want := []byte{0x81, 1, 'a', 0x81, 1, 'b', 0x88, 0}; err != nil || !bytes.Equal(got, want) {
		t.Errorf("the client got %x, %v, want %x", got, err, want)
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
