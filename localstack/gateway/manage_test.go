package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	management "github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"
	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi/types"
	"github.com/coder/websocket"

	"quotary/localstack/gateway"
	"quotary/localstack/lambdahost"
)

// unknownID has the form of an id.
const unknownID = "L0SM9cOFvHcCIhw="

func post(client *management.Client, id string, data []byte) error {
	_, err := client.PostToConnection(context.Background(), &management.PostToConnectionInput{ConnectionId: &id, Data: data})
	return err
}

func TestTheSDKPostsToAConnection(t *testing.T) {
	t.Parallel()
	s := start(t)
	conn, id := s.connect(t, "/ws")
	client := s.management()
	for _, tt := range []struct {
		data string
		kind websocket.MessageType
	}{
		{`{"π":1}`, websocket.MessageText},
		{"", websocket.MessageText},
		{"\xff\xfe", websocket.MessageBinary},
		{strings.Repeat("a", 5000), websocket.MessageText},
		{strings.Repeat("b", 40_000), websocket.MessageText},
		{strings.Repeat("c", 128<<10), websocket.MessageText},
	} {
		if err := post(client, id, []byte(tt.data)); err != nil {
			t.Fatal(err)
		}
		if kind, got := hear(t, conn); kind != tt.kind || got != tt.data {
			t.Errorf("%.20q arrived as %v %.20q", tt.data, kind, got)
		}
	}
}

func TestTheSDKAsksAboutAConnection(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	s := start(t, func(c *gateway.Config, _ map[string]lambdahost.Function) { c.Now = func() time.Time { return at } })
	_, id := s.connect(t, "/ws")
	out, err := s.management().GetConnection(t.Context(), &management.GetConnectionInput{ConnectionId: &id})
	if err != nil {
		t.Fatal(err)
	}
	if !out.ConnectedAt.Equal(at) || !out.LastActiveAt.Equal(at) || *out.Identity.SourceIp != "127.0.0.1" || *out.Identity.UserAgent != "Go-http-client/1.1" {
		t.Errorf("connected %v, active %v, %s, %s", out.ConnectedAt, out.LastActiveAt, *out.Identity.SourceIp, *out.Identity.UserAgent)
	}
}

func TestTheSDKKnowsEveryRefusal(t *testing.T) {
	t.Parallel()
	s := start(t)
	client := s.management()
	conn, id := s.connect(t, "/ws")
	var gone *types.GoneException
	if err := post(client, unknownID, []byte("x")); !errors.As(err, &gone) {
		t.Errorf("an unknown connection: %v", err)
	}
	if err := post(client, "nonsense", []byte("x")); err == nil || errors.As(err, &gone) || !strings.Contains(err.Error(), "Invalid connectionId: nonsense") {
		t.Errorf("no id at all: %v", err)
	}
	var large *types.PayloadTooLargeException
	if err := post(client, id, make([]byte, 128<<10+1)); !errors.As(err, &large) {
		t.Errorf("a message over 128 KiB: %v", err)
	}
	s.delete(t, id)
	for name, err := range map[string]error{
		"post": post(client, id, []byte("x")),
		"get":  second(client.GetConnection(t.Context(), &management.GetConnectionInput{ConnectionId: &id})),
		"delete": second(client.DeleteConnection(t.Context(), &management.DeleteConnectionInput{
			ConnectionId: &id})),
	} {
		if !errors.As(err, &gone) {
			t.Errorf("%s after the end: %v", name, err)
		}
	}
	if code := closing(t, conn); code != websocket.StatusNormalClosure {
		t.Errorf("the client was closed with %d", code)
	}
}

func second[T any](_ T, err error) error { return err }

func TestAConnectionIsGoneAtOnceWhenItsClientIsKilled(t *testing.T) {
	t.Parallel()
	s := start(t)
	var wire net.Conn
	if conn, _ := s.dial(t, "/ws", network(func(c net.Conn) { wire = c })); conn == nil {
		t.Fatal("refused")
	}
	id := s.told(t, "CONNECT", "")[0]["requestContext"].(map[string]any)["connectionId"].(string)
	_ = wire.Close()
	client := s.management()
	var gone *types.GoneException
	waitUntil(t, func() bool { return errors.As(post(client, id, []byte("x")), &gone) })
	waitUntil(t, func() bool { return len(s.told(t, "DISCONNECT", id)) == 1 })
}

func TestAClientThatDoesNotReadIsRefusedMore(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *gateway.Config, _ map[string]lambdahost.Function) { c.SocketLimits.Write = time.Minute })
	_, id := s.connect(t, "/ws") // nobody reads from it
	other, otherID := s.connect(t, "/ws")
	client := s.management()
	var full *types.LimitExceededException
	message := bytes.Repeat([]byte("z"), 64<<10)
	waitUntil(t, func() bool { return errors.As(post(client, id, message), &full) })
	if err := post(client, otherID, []byte("not held up")); err != nil {
		t.Fatal(err)
	}
	expect(t, other, "not held up")
}

func TestAClientThatDoesNotReadIsClosedAfterAWhile(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *gateway.Config, _ map[string]lambdahost.Function) {
		c.SocketLimits.Write = 100 * time.Millisecond
	})
	_, id := s.connect(t, "/ws") // nobody reads from it
	client := s.management()
	var gone *types.GoneException
	message := bytes.Repeat([]byte("z"), 64<<10)
	waitUntil(t, func() bool { return errors.As(post(client, id, message), &gone) })
	waitUntil(t, func() bool { return len(s.told(t, "DISCONNECT", id)) == 1 })
	about := s.told(t, "DISCONNECT", id)[0]["requestContext"].(map[string]any)
	if about["disconnectReason"] != "Client does not read" {
		t.Errorf("told %v", about)
	}
}

func TestAClientThatOnlyPingsIsClosed(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *gateway.Config, _ map[string]lambdahost.Function) { c.SocketLimits.Write = time.Minute })
	var wire net.Conn
	if conn, _ := s.dial(t, "/ws", network(func(c net.Conn) { wire = c })); conn == nil {
		t.Fatal("refused")
	}
	_ = wire.(*net.TCPConn).SetReadBuffer(4 << 10) // fewer pings fill it
	pings := bytes.Repeat(append([]byte{0x89, 0x80 | 125, 0, 0, 0, 0}, make([]byte, 125)...), 100)
	pinging := make(chan struct{})
	go func() { // its own system may tell it late that the connection is closed
		defer close(pinging)
		for {
			if _, err := wire.Write(pings); err != nil { // the answers are never read
				return
			}
		}
	}()
	waitUntil(t, func() bool { return len(s.told(t, "DISCONNECT", "")) == 1 })
	// What was sent before can still be read, and then the end.
	if err := wire.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, err := io.Copy(io.Discard, wire)
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		t.Error("the gateway keeps the connection open")
	}
	_ = wire.Close()
	<-pinging
}

func TestASlowClientGetsEverythingThatWasTakenInOrder(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *gateway.Config, _ map[string]lambdahost.Function) { c.SocketLimits.Write = time.Minute })
	conn, id := s.connect(t, "/ws")
	client := s.management()
	taken := 0
	fill := func() {
		for {
			var full *types.LimitExceededException
			err := post(client, id, fmt.Appendf(nil, "%d %s", taken, bytes.Repeat([]byte("z"), 50_000)))
			if errors.As(err, &full) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			taken++
		}
	}
	for heard, round := 0, 0; round < 3; round++ {
		fill()
		for ; heard < taken; heard++ {
			_, got := hear(t, conn)
			if n, _, _ := strings.Cut(got, " "); n != fmt.Sprint(heard) || len(got) != len(n)+1+50_000 {
				t.Fatalf("heard %.10q of %d bytes as message %d", got, len(got), heard)
			}
		}
	}
}

const signature = "Authorization: AWS4-HMAC-SHA256 Credential=local/20260102/us-east-1/execute-api/aws4_request, SignedHeaders=host;x-amz-date, Signature=00\r\n"

func TestOneConnectionServesTheManagementAPIAndEverythingElse(t *testing.T) {
	t.Parallel()
	s := start(t)
	conn, id := s.connect(t, "/ws")
	target := " /api/@connections/" + strings.ReplaceAll(id, "=", "%3D") + " HTTP/1.1\r\nHost: x\r\n" + signature
	requests := []struct {
		text   string
		status int
		heard  string
	}{
		{"POST" + target + "Content-Length: 3\r\n\r\none", 200, "one"},
		{"POST" + target + "content-length: 3\r\nConnection: Keep-Alive\r\n\r\ntwo", 200, "two"},
		{"GET /api/open HTTP/1.1\r\nHost: x\r\n\r\n", 200, ""},
		{"GET" + target + "\r\n", 200, ""},
		{"POST" + target + "Transfer-Encoding: chunked\r\n\r\n5\r\nthree\r\n0\r\n\r\n", 200, "three"},
		{"HEAD" + target + "\r\n", 405, ""},
		{"PUT" + target + "Content-Length: 1\r\n\r\nx", 405, ""},
		{"POST /api/@connections/" + unknownID + " HTTP/1.1\r\nHost: x\r\n" + signature + "Content-Length: 1\r\n\r\nx", 410, ""},
		{"POST /api/@connections/" + unknownID + " HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx", 403, ""},
		{"POST /api/@connections/x%2 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx", 400, ""},
	}
	large := strings.Repeat("l", 100_000)
	after := []struct {
		text   string
		status int
		heard  string
	}{
		{"POST" + target + "Content-Length: 100000\r\n\r\n" + large, 200, large},
		{"POST" + target + "Content-Length: 4\r\nX-Long: " + strings.Repeat("a", 20_000) + "\r\n\r\nlong", 431, ""},
	}
	t.Run("one after the other", func(t *testing.T) {
		wire, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer wire.Close()
		in := bufio.NewReader(wire)
		for _, tt := range requests[:len(requests)-1] {
			if _, err := io.WriteString(wire, tt.text); err != nil {
				t.Fatal(err)
			}
			answered(t, in, tt.text, tt.status)
			if tt.heard != "" {
				expect(t, conn, tt.heard)
			}
		}
		for _, tt := range after {
			if _, err := io.WriteString(wire, tt.text); err != nil {
				t.Fatal(err)
			}
			answered(t, in, tt.text, tt.status)
			if tt.heard != "" {
				expect(t, conn, tt.heard)
			}
		}
	})
	t.Run("all at once", func(t *testing.T) {
		wire, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer wire.Close()
		var all strings.Builder
		for _, tt := range requests {
			all.WriteString(tt.text)
		}
		if _, err := io.WriteString(wire, all.String()); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(wire)
		for _, tt := range requests {
			answered(t, in, tt.text, tt.status)
			if tt.heard != "" {
				expect(t, conn, tt.heard)
			}
		}
	})
	t.Run("byte by byte", func(t *testing.T) {
		wire, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer wire.Close()
		in := bufio.NewReader(wire)
		for _, tt := range requests[:2] {
			for _, b := range []byte(tt.text) {
				if _, err := wire.Write([]byte{b}); err != nil {
					t.Fatal(err)
				}
			}
			answered(t, in, tt.text, tt.status)
			expect(t, conn, tt.heard)
		}
	})
}

func answered(t *testing.T, in *bufio.Reader, request string, status int) {
	t.Helper()
	method, _, _ := strings.Cut(request, " ")
	resp, err := http.ReadResponse(in, &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%.60q: %v", request, err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != status || resp.Header.Get("X-Amzn-RequestId") == "" {
		t.Errorf("%.60q is answered %d %v %s, want %d", request, resp.StatusCode, resp.Header, body, status)
	}
}

func TestPostsInOneRequestStreamStayInOrder(t *testing.T) {
	t.Parallel()
	s := start(t)
	conn, id := s.connect(t, "/ws")
	wire, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer wire.Close()
	const many = 500
	sent := make(chan error, 1)
	go func() {
		var b []byte
		for i := range many {
			body := fmt.Sprint("message ", i)
			b = fmt.Appendf(b, "POST /api/@connections/%s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s", id, signature, len(body), body)
		}
		_, err := wire.Write(b)
		sent <- err
	}()
	in := bufio.NewReader(wire)
	for i := range many {
		answered(t, in, "POST ", 200)
		expect(t, conn, fmt.Sprint("message ", i))
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
}

func TestWhatWasPostedBeforeADeletionArrives(t *testing.T) {
	t.Parallel()
	s := start(t)
	conn, id := s.connect(t, "/ws")
	wire, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer wire.Close()
	target := " /api/@connections/" + id + " HTTP/1.1\r\nHost: x\r\n" + signature
	if _, err := io.WriteString(wire,
		"POST"+target+"Content-Length: 5\r\n\r\nfirst"+
			"POST"+target+"Content-Length: 4\r\n\r\nlast"+
			"DELETE"+target+"\r\n"+
			"POST"+target+"Content-Length: 4\r\n\r\nlate"); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(wire)
	answered(t, in, "POST first", 200)
	answered(t, in, "POST last", 200)
	answered(t, in, "DELETE", 204)
	answered(t, in, "POST late", 410)
	expect(t, conn, "first")
	expect(t, conn, "last")
	if code := closing(t, conn); code != websocket.StatusNormalClosure {
		t.Errorf("closed with %d", code)
	}
}

func TestTheGatewayStopsWhileTheManagementAPIIsConnected(t *testing.T) {
	t.Parallel()
	s := start(t)
	conn, id := s.connect(t, "/ws")
	if err := post(s.management(), id, []byte("x")); err != nil {
		t.Fatal(err)
	}
	s.stop()
	if code := closing(t, conn); code != websocket.StatusGoingAway {
		t.Errorf("the client was closed with %d", code)
	}
	s.awaitStop(t)
	if told := s.told(t, "DISCONNECT", id); len(told) != 1 {
		t.Errorf("told %d times", len(told))
	}
}
