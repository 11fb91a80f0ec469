package bybit

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"quotary/localstack/sim/sockets"
)

// socket is a connection.
type socket struct {
	*sockets.Socket

	x        *Exchange
	category string

	mu     sync.Mutex
	topics map[string]*topic // what is subscribed to
}

const (
	silentLimit = 10 * time.Minute
	mostArgs    = 10     // of a message, of spot
	mostLength  = 21_000 // characters of all topics of a connection
)

// serve runs one connection.
func (x *Exchange) serve(w http.ResponseWriter, r *http.Request) {
	category := r.PathValue("category")
	if !isCategory(category) {
		http.NotFound(w, r)
		return
	}
	x.Sockets.Serve(w, r, silentLimit, func(conn *sockets.Socket) sockets.Client {
		return &socket{Socket: conn, x: x, category: category, topics: map[string]*topic{}}
	})
}

// reply answers a message.
type reply struct {
	Success bool   `json:"success"`
	Msg     string `json:"ret_msg"`
	ConnID  string `json:"conn_id"`
	ReqID   string `json:"req_id"`
	Op      string `json:"op"`
}

// Receive answers a message.
func (s *socket) Receive(ctx context.Context, text []byte) {
	var m struct {
		ReqID string `json:"req_id"`
		Op    string
		Args  []string
	}
	a := reply{ConnID: "simulated"}
	if json.Unmarshal(text, &m) != nil {
		a.Msg = "error:invalid json"
		s.Send(ctx, a)
		return
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
	s.Send(ctx, a)
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

// Push sends what is subscribed to as it happens.
func (s *socket) Push(ctx context.Context) {
	for _, frame := range s.frames(s.x.clock().UnixMilli()) {
		s.Send(ctx, frame)
	}
}

// frames are what is to be pushed now, ms.
func (s *socket) frames(now int64) (frames []any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.topics {
		if t.kind == bookTopic {
			frames = append(frames, s.x.bookFrames(t, now)...)
		} else if frame := t.frame(now); frame != nil {
			frames = append(frames, frame)
		}
	}
	return frames
}
