package venue

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// The public limits of a connection.
const (
	maxSubscriptions = 1000
	maxUsers         = 10
	queueLength      = 512 // frames; a client that is further behind is dropped
	writeTimeout     = 10 * time.Second
	maxMessage       = 16 << 10
)

// hub fans blocks out to WebSocket clients. Frames are made once per topic,
// under the venue's lock; each connection has one writer goroutine and one
// bounded queue, so that a slow client delays nobody and is dropped when its
// queue is full.
type hub struct {
	v      *Venue
	idle   time.Duration // without a client message, after which a connection ends
	mu     sync.Mutex    // taken after the venue's lock, never before
	conns  map[*client]struct{}
	topics map[string]*topic
	muted  map[int]bool // coins
	closed bool
	wg     sync.WaitGroup // one per connection
}

// client is one connection.
type client struct {
	conn   *websocket.Conn
	queue  chan []byte
	cancel context.CancelFunc
	topics map[string]*topic
	users  map[string]int // subscriptions by user
}

// topic is one subscription that at least one client has.
type topic struct {
	key     string
	sub     subscription
	kind    *channelKind
	coin    int // -1 when there is none
	user    int // -1 for a stranger
	dex     int
	group   bookGroup
	clients map[*client]struct{}

	pushed int64 // ms of the last frame of a throttled topic
	dirty  bool
	last   string // last bbo
}

func newHub(v *Venue) *hub {
	return &hub{v: v, idle: 60 * time.Second, conns: map[*client]struct{}{}, topics: map[string]*topic{}, muted: map[int]bool{}}
}

// serve runs one connection: this goroutine reads, a second one writes. Both
// end with the connection.
func (h *hub) serve(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // Accept has answered
	}
	conn.SetReadLimit(maxMessage)
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	c := &client{conn: conn, queue: make(chan []byte, queueLength), cancel: cancel, topics: map[string]*topic{},
		users: map[string]int{}}
	if !h.join(c) {
		conn.Close(websocket.StatusGoingAway, "venue is closing")
		return
	}
	defer h.wg.Done()
	written := make(chan struct{})
	go func() {
		defer close(written)
		c.write(ctx)
	}()
	h.read(ctx, c)
	h.leave(c)
	cancel()
	<-written
	conn.CloseNow()
}

// write sends queued frames until the connection ends.
func (c *client) write(ctx context.Context) {
	defer c.cancel()
	for {
		select {
		case <-ctx.Done():
			return
		case frame := <-c.queue:
			wctx, stop := context.WithTimeout(ctx, writeTimeout)
			err := c.conn.Write(wctx, websocket.MessageText, frame)
			stop()
			if err != nil {
				return
			}
		}
	}
}

// read handles client messages until the connection ends or has been idle.
func (h *hub) read(ctx context.Context, c *client) {
	for {
		rctx, stop := context.WithTimeout(ctx, h.idle)
		kind, data, err := c.conn.Read(rctx)
		stop()
		if err != nil {
			return
		}
		if kind != websocket.MessageText {
			c.send(errorFrame("Error parsing JSON into valid websocket request: binary message"))
			continue
		}
		h.handle(c, data)
	}
}

func (h *hub) join(c *client) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.conns[c] = struct{}{}
	h.wg.Add(1)
	return true
}

func (h *hub) leave(c *client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.conns, c)
	for _, t := range c.topics {
		h.drop(t, c)
	}
}

func (h *hub) drop(t *topic, c *client) {
	delete(t.clients, c)
	if len(t.clients) == 0 {
		delete(h.topics, t.key)
	}
}

// close disconnects everyone and waits for their goroutines.
func (h *hub) close() {
	h.mu.Lock()
	h.closed = true
	for c := range h.conns {
		c.cancel()
	}
	h.mu.Unlock()
	h.wg.Wait()
}

// send queues a frame; a full queue ends the connection.
func (c *client) send(frame []byte) {
	select {
	case c.queue <- frame:
	default:
		c.cancel()
	}
}

// clientMessage is what a client may say.
type clientMessage struct {
	Method       string          `json:"method"`
	Subscription json.RawMessage `json:"subscription"`
}

// subscription is the union of all subscription objects.
type subscription struct {
	Type            string `json:"type"`
	Coin            string `json:"coin,omitempty"`
	Interval        string `json:"interval,omitempty"`
	User            string `json:"user,omitempty"`
	Dex             string `json:"dex,omitempty"`
	NSigFigs        *int   `json:"nSigFigs,omitempty"`
	Mantissa        *int   `json:"mantissa,omitempty"`
	Fast            bool   `json:"fast,omitempty"`
	AggregateByTime bool   `json:"aggregateByTime,omitempty"`
}

func (h *hub) handle(c *client, data []byte) {
	var m clientMessage
	if err := json.Unmarshal(data, &m); err != nil {
		c.send(errorFrame("Error parsing JSON into valid websocket request: " + string(data)))
		return
	}
	switch m.Method {
	case "ping":
		c.send([]byte(`{"channel":"pong"}`))
	case "subscribe", "unsubscribe":
		t, err := h.parse(m.Subscription)
		if err != nil {
			c.send(errorFrame("Invalid subscription " + string(m.Subscription)))
			return
		}
		if err := h.change(c, m.Method, t); err != nil {
			c.send(errorFrame(err.Error()))
		}
	default:
		c.send(errorFrame("Error parsing JSON into valid websocket request: " + string(data)))
	}
}

func errorFrame(text string) []byte {
	if len(text) > 1000 {
		text = text[:1000]
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		quoted = []byte(`""`)
	}
	return append(append([]byte(`{"channel":"error","data":`), quoted...), '}')
}

var errSubscription = errors.New("invalid subscription")

// parse checks a subscription object and makes its topic.
func (h *hub) parse(raw json.RawMessage) (*topic, error) {
	t := &topic{coin: -1, user: -1, clients: map[*client]struct{}{}}
	if err := json.Unmarshal(raw, &t.sub); err != nil {
		return nil, errSubscription
	}
	t.kind = channels[t.sub.Type]
	if t.kind == nil {
		return nil, errSubscription
	}
	e := h.v.eng // its tables of names never change
	if t.kind.coin {
		c, ok := e.byName[t.sub.Coin]
		if !ok {
			return nil, errSubscription
		}
		t.coin = c
	}
	if t.kind.user {
		if !addressForm.MatchString(t.sub.User) {
			return nil, errSubscription
		}
		t.sub.User = lower(t.sub.User)
		t.user = e.userIndex(t.sub.User)
	}
	if t.kind.interval && intervals[t.sub.Interval] == 0 {
		return nil, errSubscription
	}
	dex, err := e.dexIndex(&infoRequest{Dex: &t.sub.Dex})
	if err != nil {
		return nil, errSubscription
	}
	t.dex = dex
	var ok bool
	if t.group, ok = grouping(t.sub.NSigFigs, t.sub.Mantissa); !ok {
		return nil, errSubscription
	}
	t.key = string(t.echo())
	return t, nil
}

// echo writes the subscription as the venue repeats it.
func (t *topic) echo() []byte {
	o := object(nil).text("type", t.sub.Type)
	optional := func(k string, v *int) {
		if v == nil {
			o = o.raw(k, []byte("null"))
		} else {
			o = o.int(k, int64(*v))
		}
	}
	if t.kind.user {
		o = o.text("user", t.sub.User)
	}
	if t.kind.interval {
		o = o.text("interval", t.sub.Interval)
	}
	if t.kind.coin {
		o = o.text("coin", t.sub.Coin)
	}
	if t.sub.Dex != "" {
		o = o.text("dex", t.sub.Dex)
	}
	if t.sub.Type == "l2Book" {
		optional("nSigFigs", t.sub.NSigFigs)
		optional("mantissa", t.sub.Mantissa)
		if t.sub.Fast {
			o = o.bool("fast", true)
		}
	}
	if t.sub.AggregateByTime {
		o = o.bool("aggregateByTime", true)
	}
	return o.end()
}

// change adds or removes a subscription. It holds the venue's lock, so that the
// snapshot and the blocks after it leave no gap.
func (h *hub) change(c *client, method string, t *topic) error {
	h.v.mu.Lock()
	defer h.v.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	have, subscribed := c.topics[t.key]
	if method == "unsubscribe" {
		if !subscribed {
			return errors.New("Already unsubscribed: " + t.key) //nolint:staticcheck // the venue's text
		}
		delete(c.topics, t.key)
		h.drop(have, c)
		c.forget(t.sub.User)
		c.send(response(method, t.key))
		return nil
	}
	switch {
	case subscribed:
		return errors.New("Already subscribed: " + t.key) //nolint:staticcheck // the venue's text
	case len(c.topics) >= maxSubscriptions:
		return errors.New("Cannot subscribe to more than " + strconv.Itoa(maxSubscriptions) + " channels.") //nolint:staticcheck // the venue's text
	case t.kind.user && c.users[t.sub.User] == 0 && len(c.users) >= maxUsers:
		return errors.New("Cannot track more than " + strconv.Itoa(maxUsers) + " total users.") //nolint:staticcheck // the venue's text
	}
	if shared, ok := h.topics[t.key]; ok {
		t = shared
	} else {
		h.topics[t.key] = t
	}
	t.clients[c] = struct{}{}
	c.topics[t.key] = t
	if t.kind.user {
		c.users[t.sub.User]++
	}
	c.send(response(method, t.key))
	if t.kind.snapshot != nil {
		if frame := t.kind.snapshot(h.v.eng, t); frame != nil {
			c.send(frame)
		}
	}
	return nil
}

// forget gives a user's slot back with its last subscription.
func (c *client) forget(user string) {
	if user == "" {
		return
	}
	if c.users[user]--; c.users[user] <= 0 {
		delete(c.users, user)
	}
}

func response(method, key string) []byte {
	data := object(nil).text("method", method).raw("subscription", []byte(key)).end()
	return object(nil).text("channel", "subscriptionResponse").raw("data", data).end()
}

// publish sends a block's frames. The venue's lock is held.
func (h *hub) publish(e *engine) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.topics {
		if h.muted[t.coin] && (t.sub.Type == "l2Book" || t.sub.Type == "bbo") {
			continue
		}
		if t.kind.each != nil {
			t.kind.each(e, t, t.send)
		} else if frame := t.kind.push(e, t); frame != nil {
			t.send(frame)
		}
	}
}

// Mute stops or resumes the pushes of a coin's book and best prices, as a source
// that hangs does. The market goes on.
func (v *Venue) Mute(coin string, on bool) {
	v.hub.mu.Lock()
	defer v.hub.mu.Unlock()
	if c, ok := v.eng.byName[coin]; ok { // the tables of names never change
		v.hub.muted[c] = on
	}
}

// send queues a frame for every client of the topic.
func (t *topic) send(frame []byte) {
	for c := range t.clients {
		c.send(frame)
	}
}
