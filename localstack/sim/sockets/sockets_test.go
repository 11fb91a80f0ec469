package sockets_test

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"quotary/localstack/sim/sockets"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

func TestTopicsArePushedOnceAndFromWhereTheyBegan(t *testing.T) {
	t.Parallel()
	var topics sockets.Topics[string]
	topics.Add("a", 10)
	topics.Add("b", 30)
	topics.Add("a", 5) // it is there
	for _, c := range []struct {
		now  int64
		want map[string]int64
	}{{20, map[string]int64{"a": 10, "b": 30}}, {40, map[string]int64{"a": 20, "b": 30}}, {50, map[string]int64{"a": 40, "b": 40}}} {
		if got := topics.Due(c.now); !maps.Equal(got, c.want) {
			t.Errorf("at %d %v is due, want %v", c.now, got, c.want)
		}
	}
	topics.Remove("a")
	if got := topics.Due(60); !maps.Equal(got, map[string]int64{"b": 50}) {
		t.Errorf("%v is due", got)
	}
}

// echo answers what it is sent, and pushes.
type echo struct{ *sockets.Socket }

func (e echo) Receive(ctx context.Context, text []byte) {
	if string(text) == "too many" {
		e.Refuse("too many")
		return
	}
	e.SendText(ctx, text)
}

func (e echo) Push(ctx context.Context) { e.Send(ctx, map[string]int{"push": 1}) }

func TestConnectionsEndWithoutTracesWhoeverEndsThem(t *testing.T) {
	t.Parallel()
	var set sockets.Set
	ended := make(chan struct{}, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		silent := time.Duration(0)
		if r.URL.Path == "/silent" {
			silent = time.Millisecond
		}
		set.Serve(w, r, silent, func(s *sockets.Socket) sockets.Client { return echo{s} })
		ended <- struct{}{}
	}))
	t.Cleanup(server.Close)
	for name, end := range map[string]func(*websocket.Conn) error{
		"the client":    func(c *websocket.Conn) error { return c.Close(websocket.StatusNormalClosure, "") },
		"the exchange":  func(*websocket.Conn) error { set.Disconnect(); return nil },
		"a refusal":     func(c *websocket.Conn) error { return c.Write(t.Context(), websocket.MessageText, []byte("too many")) },
		"a silent line": nil,
	} {
		path := "/"
		if end == nil {
			path = "/silent"
		}
		conn, _ := must.Get2(websocket.Dial(t.Context(), server.URL+path, nil))(t)
		if end != nil {
			must.Do(t, conn.Write(t.Context(), websocket.MessageText, []byte("hello")))
			said := map[string]bool{}
			for !said["hello"] || !said[`{"push":1}`] {
				_, text := must.Get2(conn.Read(t.Context()))(t)
				said[string(text)] = true
			}
			if err := end(conn); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		read := make(chan struct{})
		go func() { // until it has ended
			defer close(read)
			for {
				if _, _, err := conn.Read(context.WithoutCancel(t.Context())); err != nil {
					return
				}
			}
		}()
		testenv.Until(t, name+" has ended it", func() bool { return len(ended) == 1 })
		<-ended
		<-read
	}
}

// counter pushes numbers, one after another, until a while after its connection has ended.
type counter struct{ *sockets.Socket }

func (counter) Receive(context.Context, []byte) {}

func (c counter) Push(ctx context.Context) {
	for n, behind := 0, 0; behind < 20; n++ {
		c.Send(ctx, n)
		if ctx.Err() != nil {
			behind++
		}
	}
}

func TestAConnectionThatEndsLosesNoMessageBeforeOneThatCame(t *testing.T) {
	t.Parallel()
	var set sockets.Set
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		set.Serve(w, r, 0, func(s *sockets.Socket) sockets.Client { return counter{s} })
	}))
	t.Cleanup(server.Close)
	var clients sync.WaitGroup
	for range 50 {
		clients.Go(func() {
			conn, _, err := websocket.Dial(t.Context(), server.URL, nil)
			if err != nil {
				t.Error(err)
				return
			}
			for n := 0; ; n++ {
				_, text, err := conn.Read(t.Context())
				if err != nil {
					return
				}
				if string(text) != strconv.Itoa(n) {
					t.Errorf("%s comes where %d should", text, n)
					return
				}
				if n == 10 {
					set.Disconnect()
				}
			}
		})
	}
	clients.Wait()
}
