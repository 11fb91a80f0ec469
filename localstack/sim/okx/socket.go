package okx

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"quotary/localstack/sim/sockets"
	"quotary/localstack/sim/trading"
)

// socket is a connection.
type socket struct {
	*sockets.Socket

	x        *Exchange
	channels sockets.Topics[arg]

	// order is held while messages are answered or pushed: what a channel was pushed before
	// must not come behind the snapshot with which it begins again.
	order sync.Mutex
}

// arg names what is subscribed to.
type arg struct {
	Channel  string `json:"channel"`
	InstID   string `json:"instId,omitempty"`
	InstType string `json:"instType,omitempty"`
}

const silentLimit = 30 * time.Second

// serve runs one connection.
func (x *Exchange) serve(w http.ResponseWriter, r *http.Request) {
	x.Sockets.Serve(w, r, silentLimit, func(conn *sockets.Socket) sockets.Client { return &socket{Socket: conn, x: x} })
}

// Receive answers a message.
func (s *socket) Receive(ctx context.Context, text []byte) {
	type event struct {
		Event  string `json:"event"`
		Arg    *arg   `json:"arg,omitempty"`
		Code   string `json:"code,omitempty"`
		Msg    string `json:"msg,omitempty"`
		ConnID string `json:"connId"`
	}
	if string(text) == "ping" {
		s.SendText(ctx, []byte("pong"))
		return
	}
	var m struct {
		Op   string
		Args []arg
	}
	if json.Unmarshal(text, &m) != nil || m.Op != "subscribe" && m.Op != "unsubscribe" || len(m.Args) == 0 {
		s.Send(ctx, event{Event: "error", Code: "60012", Msg: fmt.Sprintf("Invalid request: %.100s", text), ConnID: "simulated"})
		return
	}
	s.order.Lock()
	defer s.order.Unlock()
	for _, a := range m.Args {
		if !s.x.has(a) {
			s.Send(ctx, event{Event: "error", Code: "60018", Msg: fmt.Sprintf("Wrong URL or channel:%.50s,instId:%.50s doesn't exist.", a.Channel, a.InstID), ConnID: "simulated"})
			continue
		}
		s.Send(ctx, event{Event: m.Op, Arg: &a, ConnID: "simulated"})
		if m.Op == "unsubscribe" {
			s.channels.Remove(a)
			continue
		}
		now := s.x.clock().UnixMilli()
		if a.Channel == booksChannel {
			s.Send(ctx, push{a, "snapshot", []any{wholeBook(s.x.Market(a.InstID), now)}})
		}
		s.channels.Add(a, s.x.first(a, now))
	}
}

// has reports whether there is such a channel.
func (x *Exchange) has(a arg) bool {
	m := x.Market(a.InstID)
	switch a.Channel {
	case "trades", booksChannel:
		return m != nil
	case fundingChannel:
		return m != nil && m.Swap
	case liquidationChannel:
		return a.InstType == "SWAP" && a.InstID == ""
	}
	return false
}

// first is the time, ms, from which a channel is pushed to who subscribes now: trades and
// rates from the newest on, of books what changes after the snapshot.
func (x *Exchange) first(a arg, now int64) int64 {
	switch a.Channel {
	case fundingChannel:
		return now / fundingEvery * fundingEvery
	case booksChannel:
		return (now/trading.BookEvery + 1) * trading.BookEvery
	case "trades":
		m := x.Market(a.InstID)
		for from := now - minute; from > now-10*minute; from -= minute {
			if list := m.Trades(from, now); len(list) > 0 {
				return list[len(list)-1].Time
			}
		}
	}
	return now
}

// push is a frame of a channel.
type push struct {
	Arg    arg    `json:"arg"`
	Action string `json:"action,omitempty"` // of order books
	Data   []any  `json:"data"`
}

// Push sends what is subscribed to as it happens.
func (s *socket) Push(ctx context.Context) {
	s.order.Lock()
	defer s.order.Unlock()
	now := s.x.clock().UnixMilli()
	for a, from := range s.channels.Due(now) {
		action := ""
		if a.Channel == booksChannel {
			action = "update"
		}
		for _, one := range s.x.events(a, from, now) {
			s.Send(ctx, push{a, action, []any{one}})
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
	case booksChannel:
		return x.bookUpdates(m, from, now)
	}
	for _, t := range m.Trades(from, now) {
		if !x.TradeLost() {
			list = append(list, trade(m, &t))
		}
	}
	return list
}
