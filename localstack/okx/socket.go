package okx

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// socket is a connection.
type socket struct {
	x      *Exchange
	conn   *websocket.Conn
	cancel context.CancelFunc

	mu    sync.Mutex
	names map[arg]int64 // what is subscribed to: it is pushed until this time, ms
	write sync.Mutex
}

// arg names what is subscribed to.
type arg struct {
	Channel  string `json:"channel"`
	InstID   string `json:"instId,omitempty"`
	InstType string `json:"instType,omitempty"`
}

const (
	pushEvery   = 100 * time.Millisecond
	silentLimit = 30 * time.Second
	writeLimit  = 10 * time.Second
	maxMessage  = 64 << 10
)

// serve runs one connection: this goroutine reads, a second one pushes. Both end with
// the connection.
func (x *Exchange) serve(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // Accept has answered
	}
	conn.SetReadLimit(maxMessage)
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	s := &socket{x: x, conn: conn, cancel: cancel, names: map[arg]int64{}}
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

// read answers messages until the connection ends, or nothing is said for too long.
func (s *socket) read(ctx context.Context) {
	type event struct {
		Event  string `json:"event"`
		Arg    *arg   `json:"arg,omitempty"`
		Code   string `json:"code,omitempty"`
		Msg    string `json:"msg,omitempty"`
		ConnID string `json:"connId"`
	}
	for {
		reading, read := context.WithTimeout(ctx, silentLimit)
		_, text, err := s.conn.Read(reading)
		read()
		if err != nil {
			return
		}
		if string(text) == "ping" {
			s.send(ctx, []byte("pong"))
			continue
		}
		var m struct {
			Op   string
			Args []arg
		}
		if json.Unmarshal(text, &m) != nil || m.Op != "subscribe" && m.Op != "unsubscribe" || len(m.Args) == 0 {
			s.sendJSON(ctx, event{Event: "error", Code: "60012", Msg: fmt.Sprintf("Invalid request: %.100s", text), ConnID: "simulated"})
			continue
		}
		for _, a := range m.Args {
			if !s.x.has(a) {
				s.sendJSON(ctx, event{Event: "error", Code: "60018", Msg: fmt.Sprintf("Wrong URL or channel:%.50s,instId:%.50s doesn't exist.", a.Channel, a.InstID), ConnID: "simulated"})
				continue
			}
			s.sendJSON(ctx, event{Event: m.Op, Arg: &a, ConnID: "simulated"})
			s.change(m.Op, a)
		}
	}
}

// has reports whether there is such a channel.
func (x *Exchange) has(a arg) bool {
	m := x.Market(a.InstID)
	switch a.Channel {
	case "trades":
		return m != nil
	case fundingChannel:
		return m != nil && m.Swap
	case liquidationChannel:
		return a.InstType == "SWAP" && a.InstID == ""
	}
	return false
}

// change subscribes, to trades and rates from the newest on, or unsubscribes.
func (s *socket) change(op string, a arg) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if op == "unsubscribe" {
		delete(s.names, a)
		return
	}
	if _, has := s.names[a]; has {
		return
	}
	now := s.x.clock().UnixMilli()
	s.names[a] = now
	switch a.Channel {
	case fundingChannel:
		s.names[a] = now / fundingEvery * fundingEvery
	case "trades":
		m := s.x.Market(a.InstID)
		for from := now - minute; from > now-10*minute; from -= minute {
			if list := m.Trades(from, now); len(list) > 0 {
				s.names[a] = list[len(list)-1].Time
				return
			}
		}
	}
}

func (s *socket) sendJSON(ctx context.Context, message any) {
	text, err := json.Marshal(message)
	if err != nil {
		panic(err) // texts encode
	}
	s.send(ctx, text)
}

func (s *socket) send(ctx context.Context, text []byte) {
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
		now := s.x.clock().UnixMilli()
		for a, from := range s.due(now) {
			for _, one := range s.x.events(a, from, now) {
				s.sendJSON(ctx, map[string]any{"arg": a, "data": []any{one}})
			}
		}
	}
}

// events are what a channel has between two times, ms.
func (x *Exchange) events(a arg, from, now int64) (list []any) {
	m := x.Market(a.InstID)
	switch a.Channel {
	case fundingChannel:
		return fundings(m, from, now)
	case liquidationChannel:
		return x.liquidations(from, now)
	}
	for _, t := range m.Trades(from, now) {
		if !x.lost() {
			list = append(list, trade(m, &t))
		}
	}
	return list
}

// due returns what is subscribed to with the times from which it is to be pushed, and moves
// these to now.
func (s *socket) due(now int64) map[arg]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	due := make(map[arg]int64, len(s.names))
	for name, from := range s.names {
		due[name], s.names[name] = from, max(from, now)
	}
	return due
}
