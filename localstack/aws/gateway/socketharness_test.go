package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/credentials"
	management "github.com/aws/aws-sdk-go-v2/service/apigatewaymanagementapi"
	"github.com/coder/websocket"

	"quotary/localstack/aws/gateway"
	"quotary/shared/testing/must"
)

var socketAPIs = []gateway.SocketAPI{
	{Path: "/ws", Function: "socket"},
	{Path: "/ws/guarded", Function: "socket", Authorize: true, APIID: "wsapi00001",
		StageVariables: map[string]string{"feed": "guarded", "a\"": "\\"}},
	{Path: "/ws/missing", Function: "nobody"},
}

// eventsFile names the file to which the socket function adds each event.
const eventsFile = "GATEWAY_TEST_EVENTS"

// socket does what the query parameter "do" of the handshake says, or else the
// first word of the message.
func socket(_ context.Context, e json.RawMessage) (any, error) {
	var event events.APIGatewayWebsocketProxyRequest
	decoder := json.NewDecoder(bytes.NewReader(e))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&event); err != nil {
		return nil, err
	}
	if err := record(e); err != nil {
		return nil, err
	}
	do, operand := event.QueryStringParameters["do"], event.QueryStringParameters["with"]
	if event.RequestContext.EventType == "MESSAGE" {
		do, operand, _ = strings.Cut(event.Body, " ")
	}
	switch do {
	case "fail":
		return nil, errors.New("secret detail")
	case "sleep":
		time.Sleep(time.Minute)
	case "wait":
		if err := os.WriteFile(operand+".begun", nil, 0o600); err != nil {
			return nil, err
		}
		for !exists(operand) {
			time.Sleep(time.Millisecond)
		}
	case "raw":
		return json.RawMessage(operand), nil
	case "echo":
		return events.APIGatewayProxyResponse{StatusCode: 200, Body: operand}, nil
	case "large":
		n, err := strconv.Atoi(operand)
		return events.APIGatewayProxyResponse{StatusCode: 200, Body: strings.Repeat("x", n)}, err
	case "protocol":
		return events.APIGatewayProxyResponse{StatusCode: 200, Headers: map[string]string{"Sec-WebSocket-Protocol": operand}}, nil
	}
	return events.APIGatewayProxyResponse{StatusCode: 200}, nil
}

func record(event []byte) error {
	file, err := os.OpenFile(os.Getenv(eventsFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.Write(append(bytes.ReplaceAll(event, []byte("\n"), nil), '\n'))
	return err
}

// received returns the events of one kind that the socket function has seen, of one
// connection or, with an empty id, of all.
func (s *stage) received(t testing.TB, kind, id string) []map[string]any {
	t.Helper()
	text, err := os.ReadFile(s.events)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var found []map[string]any
	for line := range bytes.Lines(text) {
		var e map[string]any
		if err := json.Unmarshal(line, &e); err != nil {
			continue // a line that is being written
		}
		about := e["requestContext"].(map[string]any)
		if about["eventType"] == kind && (id == "" || about["connectionId"] == id) {
			found = append(found, e)
		}
	}
	return found
}

// dial connects; a refusal is in the response.
func (s *stage) dial(t testing.TB, path string, options ...func(*websocket.DialOptions)) (*websocket.Conn, reply) {
	t.Helper()
	o := &websocket.DialOptions{HTTPClient: s.client}
	for _, edit := range options {
		edit(o)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	conn, resp, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(s.url, "http")+path, o)
	if err != nil {
		if resp == nil {
			t.Fatal(err)
		}
		body := new(bytes.Buffer)
		_, _ = body.ReadFrom(resp.Body)
		return nil, reply{resp, body.Bytes()}
	}
	conn.SetReadLimit(1 << 20)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn, reply{resp, nil}
}

// connect connects and returns the connection's id, too.
func (s *stage) connect(t testing.TB, path string) (*websocket.Conn, string) {
	t.Helper()
	conn, r := s.dial(t, path)
	if conn == nil {
		t.Fatalf("refused with %d %s", r.StatusCode, r.body)
	}
	for _, e := range s.received(t, "CONNECT", "") {
		about := e["requestContext"].(map[string]any)
		if about["requestId"] == r.Header.Get("X-Amzn-RequestId") {
			return conn, about["connectionId"].(string)
		}
	}
	t.Fatal("the function was not called for the connection")
	return nil, ""
}

func writeText(t testing.TB, conn *websocket.Conn, text string) {
	t.Helper()
	must.Do(t, conn.Write(context.Background(), websocket.MessageText, []byte(text)))
}

func readMessage(t testing.TB, conn *websocket.Conn) (websocket.MessageType, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	kind, body := must.Get2(conn.Read(ctx))(t)
	return kind, string(body)
}

func expect(t testing.TB, conn *websocket.Conn, want string) {
	t.Helper()
	if _, got := readMessage(t, conn); got != want {
		t.Fatalf("read %.200q, want %.200q", got, want)
	}
}

// closing returns the close code that the client gets.
func closing(t testing.TB, conn *websocket.Conn) websocket.StatusCode {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for {
		if _, _, err := conn.Read(ctx); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

// management is the SDK's client, without retries.
func (s *stage) management() *management.Client {
	return management.New(management.Options{
		BaseEndpoint:     &s.url,
		Region:           "us-east-1",
		Credentials:      credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient:       s.client,
		RetryMaxAttempts: 1,
	})
}

func (s *stage) delete(t testing.TB, id string) {
	t.Helper()
	must.Get(s.management().DeleteConnection(context.Background(), &management.DeleteConnectionInput{ConnectionId: &id}))(t)
}

// network has the client connect through a function that sees its connection.
func network(see func(net.Conn)) func(*websocket.DialOptions) {
	return func(o *websocket.DialOptions) {
		o.HTTPClient = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, kind, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, kind, address)
			if err == nil {
				see(conn)
			}
			return conn, err
		}}}
	}
}
