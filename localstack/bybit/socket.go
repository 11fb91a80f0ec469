package bybit

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// socket is a connection.
type socket struct {
	x        *Exchange
	category string
	conn     *websocket.Conn
	cancel   context.CancelFunc

	mu     sync.Mutex
	topics map[string]*topic // what is subscribed to
	write  sync.Mutex
}

const (
	pushEvery   = 100 * time.Millisecond
	silentLimit = 10 * time.Minute
	writeLimit  = 10 * time.Second
	maxMessage  = 64 << 10
	mostArgs    = 10     // of a message, of spot
	mostLength  = 21_000 // characters of all topics of a connection
)

// serve runs one connection: this goroutine reads, a second one pushes. Both end with
// the connection.
func (x *Exchange) serve(w http.ResponseWriter, r *http.Request) {
	category := r.PathValue("category")
	if !isCategory(category) {
		http.NotFound(w, r)
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // Accept has answered
	}
	conn.SetReadLimit(maxMessage)
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	s := &socket{x: x, category: category, conn: conn, cancel: cancel, topics: map[string]*topic{}}
	x.mu.Lock()
	x.sockets[s] = true
	x.mu.Unlock()
	pushed := make(chan struct{})
	go func() {
		defer close(pushed)
		defer cancel()
		s.push(ctx)
	}()
	s.read(ctx)
	cancel()
	<-pushed
	conn.CloseNow()
	x.mu.Lock()
	delete(x.sockets, s)
	x.mu.Unlock()
}

// reply answers a message.
type reply struct {
	Success bool   `json:"success"`
	Msg     string `json:"ret_msg"`
	ConnID  string `json:"conn_id"`
	ReqID   string `json:"req_id"`
	Op      string `json:"op"`
}

// read answers messages until the connection ends, or nothing is said for too long.
func (s *socket) read(ctx context.Context) {
	for {
		reading, read := context.WithTimeout(ctx, silentLimit)
		_, text, err := s.conn.Read(reading)
		read()
		if err != nil {
			return
		}
		var m struct {
			ReqID string `json:"req_id"`
			Op    string
			Args  []string
		}
		a := reply{ConnID: "simulated"}
		if json.Unmarshal(text, &m) != nil {
			a.Msg = "error:invalid json"
			s.sendJSON(ctx, a)
			continue
		}
		a.ReqID, a.Op = m.ReqID, m.Op
		switch m.Op {
		case "ping":
			a.Success, a.Msg = true, "pong"
		case "subscribe", "unsubscribe":
			a.Msg = s.change(m.Op == "subscribe", m.Args)
			if a.Success = a.Msg == ""; a.Success && s.category == Spot {
				a.Msg = m.Op
			}
		default:
			a.Msg = "error:unknown op"
		}
		s.sendJSON(ctx, a)
	}
}

// change subscribes or unsubscribes; it returns why nothing of it is done.
func (s *socket) change(subscribe bool, args []string) (refused string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(args) == 0 || s.category == Spot && len(args) > mostArgs {
		return "error:args size is invalid"
	}
	length := 0
	for name := range s.topics {
		length += len(name)
	}
	now := s.x.clock().UnixMilli()
	added := map[string]*topic{}
	for _, name := range args {
		t := s.x.topic(s.category, name, now)
		if t == nil {
			return "error:handler not found,topic:" + name
		}
		if s.topics[name] == nil {
			added[name] = t
			length += len(name)
		}
	}
	if subscribe && length > mostLength {
		return "error:args length is too long"
	}
	for _, name := range args {
		switch {
		case !subscribe:
			delete(s.topics, name)
		case added[name] != nil:
			s.topics[name] = added[name]
		}
	}
	return ""
}

func (s *socket) sendJSON(ctx context.Context, message any) {
	text, err := json.Marshal(message)
	if err != nil {
		panic(err) // texts encode
	}
	ctx, done := context.WithTimeout(ctx, writeLimit)
	defer done()
	s.write.Lock()
	defer s.write.Unlock()
	if s.conn.Write(ctx, websocket.MessageText, text) != nil {
		s.cancel()
	}
}

// push sends what is subscribed to as it happens.
func (s *socket) push(ctx context.Context) {
	tick := time.NewTicker(pushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, frame := range s.frames(s.x.clock().UnixMilli()) {
			s.sendJSON(ctx, frame)
		}
	}
}

// frames are what is to be pushed now, ms.
func (s *socket) frames(now int64) (frames []any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.topics {
		if frame := t.frame(now); frame != nil {
			frames = append(frames, frame)
		}
	}
	return frames
}
