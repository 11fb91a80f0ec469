package e2e

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"quotary/localstack/client"
	"quotary/shared/testing/testenv"
)

// feedIdle is the idle limit that the tests' stack is given, so that they need
// not wait for a minute. The clients of the soak test have the real one.
var feedIdle = testenv.Amount(20*time.Second, 60*time.Second)

// feedSilence is how long the book of a silent source is not stale on the tests'
// stack.
var feedSilence = testenv.Amount(2*time.Second, 15*time.Second)

// seenEvery is how much later than that an idle client may be disconnected: a message is
// recorded once in so long.
const seenEvery = 15 * time.Second

// soon is how long a test waits for what the product does within a second on an
// idle machine; a busy one takes longer.
const soon = 2 * time.Minute

// socket is a client of a feed. While it waits for frames it is not idle.
type socket struct {
	t    *testing.T
	conn *websocket.Conn
	ping string       // the ping of the feed; none is sent without
	sent time.Time    // when it last sent something
	asks atomic.Int32 // its own pings that were not answered
}

// pings are those of the feeds that have another one than those of addresses.
var pings = map[string]string{"/ws": `{"method":"ping"}`}

// handshake opens a feed with extra query parameters. Where it is refused, the
// socket is nil and the answer says why.
func handshake(t *testing.T, key client.Key, path string, query url.Values) (*socket, client.Answer) {
	t.Helper()
	parameters := key.Sign(time.Now(), rand.Text())
	for name, values := range query {
		parameters[name] = values
	}
	ctx, done := context.WithTimeout(t.Context(), soon)
	defer done()
	conn, res, err := websocket.Dial(ctx, world.State.WSBaseURL+hl+path+"?"+parameters.Encode(), nil)
	if err != nil {
		if res == nil {
			t.Fatalf("connect to %s: %v", path, err)
		}
		body, _ := io.ReadAll(res.Body)
		return nil, client.Answer{Status: res.StatusCode, Header: res.Header, Body: body}
	}
	conn.SetReadLimit(1 << 20)
	t.Cleanup(func() { conn.CloseNow() })
	return &socket{t: t, conn: conn, ping: cmp.Or(pings[path], `{"type":"ping"}`), sent: time.Now()}, client.Answer{Status: http.StatusSwitchingProtocols}
}

// connect connects as soon as it may: where there is a slot, and functions that are not busy
// with the ends of other connections.
func connect(t *testing.T, key client.Key, path string) (s *socket) {
	t.Helper()
	testenv.Until(t, path+" lets a client connect", func() bool {
		var refused client.Answer
		if s, refused = handshake(t, key, path, nil); s == nil && refused.Status != http.StatusTooManyRequests {
			t.Fatalf("connect to %s: status %d: %s", path, refused.Status, refused.Body)
		}
		return s != nil
	})
	return s
}

func (s *socket) send(message string) {
	s.t.Helper()
	ctx, done := context.WithTimeout(s.t.Context(), soon)
	defer done()
	if err := s.conn.Write(ctx, websocket.MessageText, []byte(message)); err != nil {
		s.t.Fatalf("send %s: %v", message, err)
	}
	s.sent = time.Now()
}

// pushed is a frame of any feed.
type pushed struct {
	Channel string          `json:"channel"`
	Type    string          `json:"type"`
	Data    json.RawMessage `json:"data"`
	Cursor  string          `json:"cursor"`
	raw     string          // without the cursor
}

// cursors are what tells frames of one content apart.
var cursors = regexp.MustCompile(`,"cursor":"[^"]+"\}$`)

// next reads one frame.
func (s *socket) next(within time.Duration) (pushed, error) {
	ctx, done := context.WithTimeout(s.t.Context(), within)
	defer done()
	defer s.stay()()
	for {
		p, err := s.read(ctx)
		if err != nil || p.Channel != "pong" && p.Type != "pong" || s.asks.Load() == 0 {
			return p, err
		}
		s.asks.Add(-1)
	}
}

func (s *socket) read(ctx context.Context) (pushed, error) {
	_, b, err := s.conn.Read(ctx)
	if err != nil {
		return pushed{}, err
	}
	p := pushed{raw: cursors.ReplaceAllString(string(b), "}")}
	return p, json.Unmarshal(b, &p)
}

// stay sends pings, so that the connection lives however long nothing is pushed,
// until what it returns is called.
func (s *socket) stay() (stop func()) {
	if s.ping == "" {
		return func() {}
	}
	stopped, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stopped:
				return
			case <-time.After(time.Until(s.sent.Add(feedIdle / 4))):
			}
			ctx, done := context.WithTimeout(s.t.Context(), soon)
			s.asks.Add(1)
			err := s.conn.Write(ctx, websocket.MessageText, []byte(s.ping))
			done()
			if err != nil {
				return // as the reader will find
			}
			s.sent = time.Now()
		}
	}()
	return func() {
		close(stopped)
		<-ended
	}
}

// await reads frames until one is as wanted.
func (s *socket) await(what string, within time.Duration, wanted func(pushed) bool) pushed {
	s.t.Helper()
	deadline := time.Now().Add(within)
	for {
		p, err := s.next(time.Until(deadline))
		if err != nil {
			s.t.Fatalf("waiting for %s: %v", what, err)
		}
		if wanted(p) {
			return p
		}
	}
}

// answer sends a message and waits for exactly this answer.
func (s *socket) answer(message, want string) {
	s.t.Helper()
	s.send(message)
	s.await(want, soon, func(p pushed) bool { return p.raw == want })
}

// closed waits for the service to close a connection that is in use.
func (s *socket) closed() {
	s.t.Helper()
	defer s.stay()()
	s.ended(soon)
}

// ended waits in silence for the end of the connection, whatever still comes.
func (s *socket) ended(within time.Duration) {
	s.t.Helper()
	ctx, done := context.WithTimeout(s.t.Context(), within)
	defer done()
	for {
		if _, err := s.read(ctx); err != nil {
			if ctx.Err() != nil {
				s.t.Fatalf("the connection is open after %s", within)
			}
			return
		}
	}
}

func subscription(method string, fields map[string]any) string {
	text, err := json.Marshal(map[string]any{"method": method, "subscription": fields})
	if err != nil {
		panic(err)
	}
	return string(text)
}

var feedPaths = []string{"/ws", "/ws/fills", "/ws/filled-orders", "/ws/clearinghouse-state"}
