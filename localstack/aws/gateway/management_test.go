package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	management "github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"
	"github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi/types"
	"github.com/coder/websocket"

	"quotary/localstack/aws/gateway"
	"quotary/localstack/aws/lambdahost"
	"quotary/shared/testing/must"
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
		must.Do(t, post(client, id, []byte(tt.data)))
		if kind, got := readMessage(t, conn); kind != tt.kind || got != tt.data {
			t.Errorf("%.20q arrived as %v %.20q", tt.data, kind, got)
		}
	}
}

func TestTheSDKAsksAboutAConnection(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	s := start(t, func(c *gateway.Config, _ map[string]lambdahost.Function) { c.Now = func() time.Time { return at } })
	_, id := s.connect(t, "/ws")
	out := must.Get(s.management().GetConnection(t.Context(), &management.GetConnectionInput{ConnectionId: &id}))(t)
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
	id := s.received(t, "CONNECT", "")[0]["requestContext"].(map[string]any)["connectionId"].(string)
	_ = wire.Close()
	client := s.management()
	var gone *types.GoneException
	waitUntil(t, func() bool { return errors.As(post(client, id, []byte("x")), &gone) })
	waitUntil(t, func() bool { return len(s.received(t, "DISCONNECT", id)) == 1 })
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
	must.Do(t, post(client, otherID, []byte("not held up")))
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
	waitUntil(t, func() bool { return len(s.received(t, "DISCONNECT", id)) == 1 })
	about := s.received(t, "DISCONNECT", id)[0]["requestContext"].(map[string]any)
	if about["disconnectReason"] != "Client does not read" {
		t.Errorf("$disconnect has %v", about)
	}
}

func TestAClientThatPingsAndDoesNotReadIsClosed(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *gateway.Config, _ map[string]lambdahost.Function) { c.SocketLimits.Write = time.Minute })
	var wire net.Conn
	if conn, _ := s.dial(t, "/ws", network(func(c net.Conn) { wire = c })); conn == nil {
		t.Fatal("refused")
	}
	id := s.received(t, "CONNECT", "")[0]["requestContext"].(map[string]any)["connectionId"].(string)
	client := s.management()
	message, ping := bytes.Repeat([]byte("z"), 64<<10), []byte{0x89, 0x80, 0, 0, 0, 0}
	waitUntil(t, func() bool {
		_ = post(client, id, message) // until there is no room, so that no ping can be answered
		_, _ = wire.Write(ping)
		return len(s.received(t, "DISCONNECT", id)) == 1
	})
	// What was sent before can still be read, and then the end.
	must.Do(t, wire.SetReadDeadline(time.Now().Add(20*time.Second)))
	_, err := io.Copy(io.Discard, wire)
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		t.Error("the gateway keeps the connection open")
	}
	_ = wire.Close()
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
	for got, round := 0, 0; round < 3; round++ {
		fill()
		for ; got < taken; got++ {
			_, text := readMessage(t, conn)
			if n, _, _ := strings.Cut(text, " "); n != fmt.Sprint(got) || len(text) != len(n)+1+50_000 {
				t.Fatalf("message %d is %.10q of %d bytes", got, text, len(text))
			}
		}
	}
}

const signature = "AWS4-HMAC-SHA256 Credential=local/20260102/us-east-1/execute-api/aws4_request, SignedHeaders=host;x-amz-date, Signature=00"

func TestEveryManagementRequestHasItsAnswer(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *gateway.Config, _ map[string]lambdahost.Function) {
		c.Domains = []gateway.Domain{{Name: "api.example.com", BasePath: "/v1"}}
	})
	conn, id := s.connect(t, "/ws")
	encoded := strings.ReplaceAll(id, "=", "%3D")
	large := strings.Repeat("l", 100_000)
	for name, tt := range map[string]struct {
		method, target, host string
		unsigned             bool
		header               http.Header
		body                 io.Reader
		status               int
		errorType            string
		received             string
	}{
		"a post":                         {method: "POST", target: "/api/@connections/" + id, body: strings.NewReader("one"), status: 200, received: "one"},
		"a post to an encoded id":        {method: "POST", target: "/api/@connections/" + encoded, body: strings.NewReader("two"), status: 200, received: "two"},
		"a post in chunks":               {method: "POST", target: "/api/@connections/" + id, body: io.MultiReader(strings.NewReader("three")), status: 200, received: "three"},
		"a large post":                   {method: "POST", target: "/api/@connections/" + id, body: strings.NewReader(large), status: 200, received: large},
		"a post by the custom domain":    {method: "POST", target: "/v1/@connections/" + id, host: "api.example.com", body: strings.NewReader("four"), status: 200, received: "four"},
		"a question":                     {method: "GET", target: "/api/@connections/" + id, status: 200},
		"400 what is no id":              {method: "POST", target: "/api/@connections/x%252", status: 400, errorType: "BadRequestException"},
		"403 no signature":               {method: "POST", target: "/api/@connections/" + id, unsigned: true, status: 403, errorType: "ForbiddenException"},
		"405 HEAD":                       {method: "HEAD", target: "/api/@connections/" + id, status: 405, errorType: "BadRequestException"},
		"405 PUT":                        {method: "PUT", target: "/api/@connections/" + id, body: strings.NewReader("x"), status: 405, errorType: "BadRequestException"},
		"410 an unknown connection":      {method: "POST", target: "/api/@connections/" + unknownID, body: strings.NewReader("x"), status: 410, errorType: "GoneException"},
		"413 more than 128 KiB":          {method: "POST", target: "/api/@connections/" + id, body: strings.NewReader(strings.Repeat("x", 128<<10+1)), status: 413, errorType: "PayloadTooLargeException"},
		"431 headers larger than 10 KiB": {method: "POST", target: "/api/@connections/" + id, header: http.Header{"X-Long": {strings.Repeat("a", 20_000)}}, status: 431, errorType: "BadRequestException"},
	} {
		req := must.Get(http.NewRequest(tt.method, "http://"+s.addr+tt.target, tt.body))(t)
		req.Host = tt.host
		maps.Copy(req.Header, tt.header)
		if !tt.unsigned {
			req.Header.Set("Authorization", signature)
		}
		resp, err := s.client.Do(req)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if resp.StatusCode != tt.status || resp.Header.Get("X-Amzn-ErrorType") != tt.errorType || resp.Header.Get("X-Amzn-RequestId") == "" {
			t.Errorf("%s: answer %d %v %s, want %d %s", name, resp.StatusCode, resp.Header, body, tt.status, tt.errorType)
		}
		if tt.received != "" {
			expect(t, conn, tt.received)
		}
	}
}

func TestPostsOneAfterTheOtherStayInOrder(t *testing.T) {
	t.Parallel()
	s := start(t)
	conn, id := s.connect(t, "/ws")
	const many = 500
	posted := make(chan error, 1)
	go func() {
		client := s.management()
		for i := range many {
			if err := post(client, id, fmt.Append(nil, "message ", i)); err != nil {
				posted <- err
				return
			}
		}
		posted <- nil
	}()
	for i := range many {
		expect(t, conn, fmt.Sprint("message ", i))
	}
	if err := <-posted; err != nil {
		t.Fatal(err)
	}
}

func TestWhatWasPostedBeforeADeletionArrives(t *testing.T) {
	t.Parallel()
	s := start(t)
	conn, id := s.connect(t, "/ws")
	client := s.management()
	for _, text := range []string{"first", "last"} {
		must.Do(t, post(client, id, []byte(text)))
	}
	s.delete(t, id)
	var gone *types.GoneException
	if err := post(client, id, []byte("late")); !errors.As(err, &gone) {
		t.Errorf("a post after the deletion: %v", err)
	}
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
	must.Do(t, post(s.management(), id, []byte("x")))
	s.stop()
	if code := closing(t, conn); code != websocket.StatusGoingAway {
		t.Errorf("the client was closed with %d", code)
	}
	s.awaitStop(t)
	if disconnects := s.received(t, "DISCONNECT", id); len(disconnects) != 1 {
		t.Errorf("$disconnect was called %d times", len(disconnects))
	}
}
