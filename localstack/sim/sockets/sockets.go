// Package sockets serves the WebSockets of simulated exchanges: of each connection one
// goroutine reads and a second one pushes.
package sockets

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const (
	pushEvery  = 100 * time.Millisecond
	writeLimit = 10 * time.Second
	maxMessage = 64 << 10
)

// Set is the open connections of an exchange. The zero value has none.
type Set struct {
	mu   sync.Mutex
	open map[*Socket]struct{}
}

// Socket is a connection. Both of its goroutines may send.
type Socket struct {
	conn   *websocket.Conn
	cancel context.CancelFunc
	write  sync.Mutex
}

// Client is what an exchange does on a connection. Its methods are called by one goroutine
// each.
type Client interface {
	// Receive handles a message.
	Receive(ctx context.Context, text []byte)
	// Push sends what has happened since it was called before.
	Push(ctx context.Context)
}

// Serve runs a connection until one side ends it, or the client says nothing for as long as
// silent; 0 is any time. Connect returns what the exchange does on it.
func (set *Set) Serve(w http.ResponseWriter, r *http.Request, silent time.Duration, connect func(*Socket) Client) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // Accept has answered
	}
	conn.SetReadLimit(maxMessage)
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	s := &Socket{conn: conn, cancel: cancel}
	client := connect(s)
	set.add(s)
	defer set.remove(s)
	pushed := make(chan struct{})
	go func() {
		defer close(pushed)
		defer cancel()
		push(ctx, client)
	}()
	s.read(ctx, silent, client)
	cancel()
	<-pushed
	conn.CloseNow()
}

func (set *Set) add(s *Socket) {
	set.mu.Lock()
	defer set.mu.Unlock()
	if set.open == nil {
		set.open = map[*Socket]struct{}{}
	}
	set.open[s] = struct{}{}
}

func (set *Set) remove(s *Socket) {
	set.mu.Lock()
	defer set.mu.Unlock()
	delete(set.open, s)
}

// Disconnect ends every connection at once.
func (set *Set) Disconnect() {
	set.mu.Lock()
	defer set.mu.Unlock()
	for s := range set.open {
		s.cancel()
	}
}

func (s *Socket) read(ctx context.Context, silent time.Duration, client Client) {
	for {
		reading, read := ctx, context.CancelFunc(func() {})
		if silent > 0 {
			reading, read = context.WithTimeout(ctx, silent)
		}
		_, text, err := s.conn.Read(reading)
		read()
		if err != nil {
			return
		}
		client.Receive(ctx, text)
	}
}

func push(ctx context.Context, client Client) {
	tick := time.NewTicker(pushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			client.Push(ctx)
		}
	}
}

// Send sends a message as JSON.
func (s *Socket) Send(ctx context.Context, message any) {
	text, err := json.Marshal(message)
	if err != nil {
		panic(err) // texts and numbers encode
	}
	s.SendText(ctx, text)
}

// SendText sends a message as it is. One that cannot be sent ends the connection, and nothing is
// sent behind it.
func (s *Socket) SendText(ctx context.Context, text []byte) {
	s.write.Lock()
	defer s.write.Unlock()
	if ctx.Err() != nil {
		return // else the library may send it, by chance, and not the one before
	}
	ctx, done := context.WithTimeout(ctx, writeLimit)
	defer done()
	if s.conn.Write(ctx, websocket.MessageText, text) != nil {
		s.cancel()
	}
}

// Refuse ends the connection and says why.
func (s *Socket) Refuse(reason string) {
	_ = s.conn.Close(websocket.StatusPolicyViolation, reason)
	s.cancel()
}

// Topics are what a connection has subscribed to, each with the time until which it was
// pushed, ms. They are safe for concurrent use; the zero value has none.
type Topics[Name comparable] struct {
	mu    sync.Mutex
	until map[Name]int64
}

// Add subscribes to a topic that is pushed from a time on, unless it is there.
func (t *Topics[Name]) Add(name Name, from int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.until == nil {
		t.until = map[Name]int64{}
	}
	if _, has := t.until[name]; !has {
		t.until[name] = from
	}
}

// Remove ends the subscription to a topic.
func (t *Topics[Name]) Remove(name Name) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.until, name)
}

// Due returns the topics with the times from which they are to be pushed, and moves these to
// now.
func (t *Topics[Name]) Due(now int64) map[Name]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	due := make(map[Name]int64, len(t.until))
	for name, from := range t.until {
		due[name], t.until[name] = from, max(from, now)
	}
	return due
}
