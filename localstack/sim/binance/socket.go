package binance

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"quotary/localstack/sim/sockets"
)

// socket is a connection to a combined stream.
type socket struct {
	*sockets.Socket

	carries

	x       *Exchange
	streams sockets.Topics[string] // by name

	second int64 // in which messages are counted
	count  int
}

// carries is what a route has: a stream on another is silent.
type carries struct {
	kind          kind
	trades, books bool
}

// serve runs one connection.
func (x *Exchange) serve(w http.ResponseWriter, r *http.Request, has carries) {
	x.Sockets.Serve(w, r, 0, func(conn *sockets.Socket) sockets.Client {
		s := &socket{Socket: conn, carries: has, x: x}
		if streams := r.URL.Query().Get("streams"); streams != "" {
			s.change("SUBSCRIBE", strings.Split(streams, "/"))
		}
		return s
	})
}

// Receive answers a message. More of them in a second than are allowed end the connection.
func (s *socket) Receive(ctx context.Context, text []byte) {
	allowed := 5
	if s.kind != spot {
		allowed = 10
	}
	if now := time.Now().Unix(); now != s.second {
		s.second, s.count = now, 0
	}
	if s.count++; s.count > allowed {
		s.Refuse("Too many requests")
		return
	}
	var m struct {
		Method string
		Params []string
		ID     *int64
	}
	if json.Unmarshal(text, &m) != nil || m.ID == nil || m.Method != "SUBSCRIBE" && m.Method != "UNSUBSCRIBE" {
		s.Send(ctx, map[string]any{"error": map[string]any{"code": 2, "msg": "Invalid request"}, "id": m.ID})
		return
	}
	s.change(m.Method, m.Params)
	s.Send(ctx, map[string]any{"result": nil, "id": *m.ID})
}

// change subscribes or unsubscribes. A stream that there is not is silent.
func (s *socket) change(method string, names []string) {
	for _, name := range names {
		if method == "UNSUBSCRIBE" {
			s.streams.Remove(name)
		} else {
			s.streams.Add(name, s.x.clock().UnixMilli())
		}
	}
}

// Push sends the trades and the changes of books of the subscribed markets as they happen.
func (s *socket) Push(ctx context.Context) {
	now := s.x.clock().UnixMilli()
	for name, from := range s.streams.Due(now) {
		if s.books {
			for _, u := range s.x.depthUpdates(name, s.kind, from, now) {
				if !s.x.UpdateLost() {
					s.Send(ctx, map[string]any{"stream": name, "data": u})
				}
			}
		}
		if s.trades && s.kind != spot {
			for _, e := range s.x.contractEvents(name, s.kind, from, now) {
				s.Send(ctx, map[string]any{"stream": name, "data": e})
			}
		}
		symbol, is := strings.CutSuffix(name, "@aggTrade")
		m := s.x.marketOf(strings.ToUpper(symbol), s.kind)
		if !is || m == nil || !s.trades || s.x.isHalted(m) {
			continue
		}
		for _, t := range m.Trades(from, now) {
			for range s.x.copies() {
				s.Send(ctx, map[string]any{"stream": name, "data": event(m, &t, now)})
			}
		}
	}
}

// copies is how often the next trade is pushed.
func (x *Exchange) copies() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.TradeLost():
		return 0
	case x.repeat:
		return 2
	}
	return 1
}

// event is an aggregated trade as streams write it.
func event(m *Market, t *Trade, now int64) any {
	type message struct {
		Kind       string `json:"e"`
		EventTime  int64  `json:"E"`
		Symbol     string `json:"s"`
		ID         int64  `json:"a"`
		Price      string `json:"p"`
		Size       string `json:"q"`
		First      int64  `json:"f"`
		Last       int64  `json:"l"`
		Time       int64  `json:"T"`
		BuyerMaker bool   `json:"m"`
	}
	return message{"aggTrade", now, m.Symbol, t.ID, m.Price(t.Price), m.Lots(t.Size), t.First, t.Last, t.Time, t.BuyerMaker}
}
