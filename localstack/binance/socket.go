package binance

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// socket is a connection to a combined stream.
type socket struct {
	x      *Exchange
	conn   *websocket.Conn
	cancel context.CancelFunc
	kind   kind
	trades bool // whether this route carries trades

	mu    sync.Mutex
	names map[string]int64 // streams: their trades are pushed until this time, ms
	write sync.Mutex
}

const (
	pushEvery  = 100 * time.Millisecond
	writeLimit = 10 * time.Second
	maxMessage = 64 << 10
)

// serve runs one connection: this goroutine reads, a second one pushes. Both end with
// the connection.
func (x *Exchange) serve(w http.ResponseWriter, r *http.Request, k kind, trades bool) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // Accept has answered
	}
	conn.SetReadLimit(maxMessage)
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	s := &socket{x: x, conn: conn, cancel: cancel, kind: k, trades: trades, names: map[string]int64{}}
	if streams := r.URL.Query().Get("streams"); streams != "" {
		s.change("SUBSCRIBE", strings.Split(streams, "/"))
	}
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

// read answers messages until the connection ends. More of them in a second than are
// allowed end it.
func (s *socket) read(ctx context.Context) {
	allowed := 5
	if s.kind != spot {
		allowed = 10
	}
	var second int64
	count := 0
	for {
		_, text, err := s.conn.Read(ctx)
		if err != nil {
			return
		}
		if now := time.Now().Unix(); now != second {
			second, count = now, 0
		}
		if count++; count > allowed {
			s.conn.Close(websocket.StatusPolicyViolation, "Too many requests")
			return
		}
		var m struct {
			Method string
			Params []string
			ID     *int64
		}
		if json.Unmarshal(text, &m) != nil || m.ID == nil || m.Method != "SUBSCRIBE" && m.Method != "UNSUBSCRIBE" {
			s.send(ctx, map[string]any{"error": map[string]any{"code": 2, "msg": "Invalid request"}, "id": m.ID})
			continue
		}
		s.change(m.Method, m.Params)
		s.send(ctx, map[string]any{"result": nil, "id": *m.ID})
	}
}

// change subscribes or unsubscribes. A stream that there is not is silent.
func (s *socket) change(method string, names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		if method == "UNSUBSCRIBE" {
			delete(s.names, name)
		} else if _, has := s.names[name]; !has {
			s.names[name] = s.x.clock().UnixMilli()
		}
	}
}

func (s *socket) send(ctx context.Context, message any) {
	text, err := json.Marshal(message)
	if err != nil {
		panic(err) // texts and numbers encode
	}
	ctx, done := context.WithTimeout(ctx, writeLimit)
	defer done()
	s.write.Lock()
	defer s.write.Unlock()
	if s.conn.Write(ctx, websocket.MessageText, text) != nil {
		s.cancel()
	}
}

// push sends the trades of the subscribed markets as they happen.
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
		for name, from := range s.due(now) {
			if s.trades && s.kind != spot {
				for _, e := range s.x.contractEvents(name, s.kind, from, now) {
					s.send(ctx, map[string]any{"stream": name, "data": e})
				}
			}
			symbol, is := strings.CutSuffix(name, "@aggTrade")
			m := s.x.marketOf(strings.ToUpper(symbol), s.kind)
			if !is || m == nil || !s.trades || s.x.isHalted(m) {
				continue
			}
			for _, t := range m.Trades(from, now) {
				for range s.x.copies() {
					s.send(ctx, map[string]any{"stream": name, "data": event(m, &t, now)})
				}
			}
		}
	}
}

// due returns the streams with the times from which their trades are to be pushed, and
// moves these to now.
func (s *socket) due(now int64) map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	due := make(map[string]int64, len(s.names))
	for name, from := range s.names {
		due[name], s.names[name] = from, max(from, now)
	}
	return due
}

// copies is how often the next trade is pushed.
func (x *Exchange) copies() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.lose > 0:
		x.lose--
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
