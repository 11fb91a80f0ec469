package gateway

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
	"golang.org/x/sync/errgroup"
)

// Limits of messages in bytes, as on AWS.
const (
	maxMessage = 128 << 10
	maxFrame   = 32 << 10
)

// maxWaiting bounds the messages of one connection that wait for the function. A
// client that sends more is not read from until there is room.
const maxWaiting = 16

// connection is one client's WebSocket connection. Messages from the client go through
// inbox to the function, messages to the client through outbox, each by a goroutine of
// its own, so that neither client nor function holds up anything but itself.
type connection struct {
	gateway *Gateway
	api     *socketAPI
	id      string

	host, sourceIP, userAgent string
	domain                    string // where the management API reaches the connection
	connectedAt               time.Time
	grant                     *grant       // what the authorizer said; nil where none was asked
	active                    atomic.Int64 // when anything last passed, Unix ns

	ctx    context.Context // ends when the connection is to be closed; its cause is a *closeReason
	cancel context.CancelCauseFunc
	inbox  chan incoming
	outbox *outbox

	ws      *websocket.Conn
	frames  *frameConn    // below ws
	flushed chan struct{} // closed when nothing more is written from outbox
}

// incoming is a client's message.
type incoming struct {
	body   []byte
	binary bool
	at     time.Time
}

// closeReason is why a connection is over, as $disconnect reports it.
type closeReason struct {
	code   websocket.StatusCode
	reason string
	// polite closes with the WebSocket handshake. It is of no use to a client that is
	// gone or has itself closed.
	polite bool
}

func (r *closeReason) Error() string { return r.reason }

// AWS documents the wording of 1005; the others are this gateway's own.
var (
	goingAway        = &closeReason{websocket.StatusGoingAway, "Going away", true}
	deleted          = &closeReason{websocket.StatusNormalClosure, "Connection closed normally", true}
	messageTooBig    = &closeReason{websocket.StatusMessageTooBig, "Message too long", true}
	invalidText      = &closeReason{websocket.StatusInvalidFramePayloadData, "Text is not UTF-8", true}
	connectionLost   = &closeReason{websocket.StatusAbnormalClosure, "Connection closed abnormally", false}
	clientNotReading = &closeReason{websocket.StatusAbnormalClosure, "Client does not read", false}
)

const noStatusReason = "Client-side close frame status not set"

func newConnection(g *Gateway, api *socketAPI, req *request) *connection {
	c := &connection{
		gateway:     g,
		api:         api,
		id:          newID(),
		host:        req.http.Host,
		sourceIP:    req.sourceIP,
		userAgent:   req.http.UserAgent(),
		domain:      req.http.Host,
		connectedAt: req.at,
		inbox:       make(chan incoming, maxWaiting),
		outbox:      newOutbox(),
		flushed:     make(chan struct{}),
	}
	// Host is what the client says; the management API is where it did connect. The
	// port belongs to it, since it is not 443.
	if at, ok := req.http.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		c.domain = at.String()
	}
	c.touch()
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	return c
}

// serve completes the handshake and stays until the connection has ended and its
// function has been called with $disconnect.
func (c *connection) serve(w http.ResponseWriter, r *http.Request, protocol string) {
	// A client that has its 101 can be posted to, so it is registered before that.
	c.gateway.connections.add(c)
	defer c.gateway.connections.release(c)
	var tasks sync.WaitGroup
	if err := c.accept(w, r, protocol); err != nil {
		c.end(connectionLost)
	} else {
		tasks.Go(c.read)
		tasks.Go(c.write)
		tasks.Go(c.watch)
		tasks.Go(c.close)
	}
	c.dispatch()
	c.disconnect()
	tasks.Wait()
}

// accept answers the handshake. protocol is the subprotocol that the function chose;
// empty for none.
func (c *connection) accept(w http.ResponseWriter, r *http.Request, protocol string) (err error) {
	options := &websocket.AcceptOptions{InsecureSkipVerify: true} // as AWS, which looks at no Origin
	if protocol != "" {
		options.Subprotocols = []string{protocol}
	}
	c.frames = &frameConn{received: c.touch}
	if c.ws, err = websocket.Accept(&frameHijacker{w, c.frames}, r, options); err != nil {
		return err
	}
	c.ws.SetReadLimit(maxMessage)
	return nil
}

// end closes the connection for one reason, the first that was given. It does not wait.
func (c *connection) end(why *closeReason) { c.cancel(why) }

func (c *connection) ended() bool { return c.ctx.Err() != nil }

func (c *connection) closeReason() *closeReason {
	var why *closeReason
	_ = errors.As(context.Cause(c.ctx), &why) // end gives no other
	return why
}

// touch notes that something passed.
func (c *connection) touch() { c.active.Store(c.gateway.cfg.Now().UnixNano()) }

// read takes the client's messages in until the connection ends.
func (c *connection) read() {
	for n := 1; ; n++ {
		kind, body, err := c.ws.Read(context.Background())
		switch {
		case errors.Is(err, websocket.ErrMessageTooBig), err == nil && c.frames.tooLarge == n:
			c.end(messageTooBig)
			return
		case err != nil:
			c.end(reasonOf(err))
			return
		case kind == websocket.MessageText && !utf8.Valid(body):
			c.end(invalidText)
			return
		}
		select {
		case c.inbox <- incoming{body: body, binary: kind == websocket.MessageBinary, at: c.gateway.cfg.Now()}:
		case <-c.ctx.Done():
			return
		}
	}
}

// reasonOf reads the client's own close frame, if there was one.
func reasonOf(err error) *closeReason {
	var closed websocket.CloseError
	switch {
	case !errors.As(err, &closed):
		return connectionLost
	case closed.Code == websocket.StatusNoStatusRcvd:
		return &closeReason{closed.Code, noStatusReason, false}
	}
	return &closeReason{closed.Code, closed.Reason, false}
}

// write sends what is in the outbox until the connection ends, then what is left.
func (c *connection) write() {
	defer close(c.flushed)
	for {
		m, ok := c.outbox.next()
		if !ok {
			return
		}
		timer := time.AfterFunc(c.gateway.cfg.SocketLimits.Write, func() { c.end(clientNotReading) })
		err := c.send(m)
		timer.Stop()
		if err != nil {
			c.end(connectionLost)
			return
		}
		c.outbox.written(m)
		c.touch()
	}
}

// send writes a message in frames of at most 32 KiB.
func (c *connection) send(m outgoing) error {
	ctx := context.Background() // write's timer ends it
	if len(m.body) <= maxFrame {
		return c.ws.Write(ctx, m.kind, m.body)
	}
	w, err := c.ws.Writer(ctx, m.kind)
	if err != nil {
		return err
	}
	for frame := range slices.Chunk(m.body, maxFrame) {
		if _, err := w.Write(frame); err != nil {
			return err
		}
	}
	return w.Close()
}

// How long a client may take, when the gateway closes its connection, to read what was
// sent before, and then to answer the close frame.
const (
	flushTimeout = time.Second
	closeTimeout = 2 * time.Second
)

// close closes the client's side when the connection has ended.
func (c *connection) close() {
	<-c.ctx.Done()
	c.outbox.close()
	why := c.closeReason()
	if why.polite {
		select {
		case <-c.flushed:
			timer := time.AfterFunc(closeTimeout, func() { _ = c.frames.Close() })
			_ = c.ws.Close(why.code, why.reason) // however the client answers, it is closed
			timer.Stop()
			return
		case <-time.After(flushTimeout):
		}
	}
	_ = c.ws.CloseNow()
}

// watch ends the connection when it has been silent or open for too long.
func (c *connection) watch() {
	for {
		left := c.timeLeft(c.gateway.cfg.Now())
		if left <= 0 {
			c.end(goingAway)
			return
		}
		select {
		case <-time.After(left):
		case <-c.ctx.Done():
			return
		}
	}
}

func (c *connection) timeLeft(now time.Time) time.Duration {
	limits := c.gateway.cfg.SocketLimits
	return min(
		limits.Idle-now.Sub(time.Unix(0, c.active.Load())),
		limits.Lifetime-now.Sub(c.connectedAt))
}

// dispatch calls the function for the messages until the connection ends, then for what
// the client had sent before: for one at a time, or for many at once where messages are
// to be parallel. It returns when all calls have.
func (c *connection) dispatch() {
	atOnce := 1
	if c.gateway.cfg.SocketLimits.Parallel {
		atOnce = maxWaiting
	}
	var calls errgroup.Group
	calls.SetLimit(atOnce)
	defer func() { _ = calls.Wait() }() // no call returns an error
	deliver := func(m incoming) { calls.Go(func() error { c.deliver(m); return nil }) }
	for {
		select {
		case m := <-c.inbox:
			deliver(m)
		case <-c.ctx.Done():
			for {
				select {
				case m := <-c.inbox:
					deliver(m)
				default:
					return
				}
			}
		}
	}
}

// deliver calls $default and sends the client what it returned.
func (c *connection) deliver(m incoming) {
	if c.gateway.connections.closing.Load() {
		return
	}
	id := newID()
	answer, refused := c.invoke(c.messageEvent(m, id))
	if refused == nil && len(answer.body) > maxMessage {
		refused = malformed(errors.New("the answer to a message is larger than 128 KiB"))
	}
	switch {
	case refused != nil:
		c.logFailure("$default", refused)
		_ = c.outbox.putWhenRoom(outgoing{websocket.MessageText, c.errorMessage(refused.message, id)}) // a client that is gone needs no error
	case len(answer.body) > 0:
		kind := websocket.MessageText
		if answer.binary {
			kind = websocket.MessageBinary
		}
		_ = c.outbox.putWhenRoom(outgoing{kind, answer.body})
	}
}

// errorMessage is what a client gets for a message that the function failed on.
func (c *connection) errorMessage(text, requestID string) []byte {
	return encodeJSON(struct {
		Message      string `json:"message"`
		ConnectionID string `json:"connectionId"`
		RequestID    string `json:"requestId"`
	}{text, c.id, requestID})
}

// disconnect calls $disconnect.
func (c *connection) disconnect() {
	why := c.closeReason()
	if _, refused := c.invoke(c.disconnectEvent(why)); refused != nil {
		c.logFailure("$disconnect", refused)
	}
	c.gateway.cfg.Log.LogAttrs(context.Background(), slog.LevelInfo, "disconnect",
		slog.String("resource", c.api.Path),
		slog.String("connection_id", c.id),
		slog.Int("code", int(why.code)),
		slog.Float64("s", c.gateway.cfg.Now().Sub(c.connectedAt).Seconds()))
}

const (
	firstPause = 5 * time.Millisecond
	lastPause  = 250 * time.Millisecond
)

// invoke calls the function. A throttled call has not begun, so it is made again until
// the gateway closes: thousands of connections that end at one moment all get their
// $disconnect, and a message is not lost because others are many.
func (c *connection) invoke(event []byte) (*proxyAnswer, *refusal) {
	ctx := c.gateway.connections.ctx
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		answer, refused := c.gateway.integrate(ctx, c.api.Function, event, true)
		if refused == nil || refused.kind != "THROTTLED" {
			return answer, refused
		}
		select {
		case <-ctx.Done():
			return nil, refused
		case <-time.After(pause/2 + rand.N(pause)):
		}
	}
}

func (c *connection) logFailure(route string, refused *refusal) {
	attrs := []slog.Attr{
		slog.String("resource", c.api.Path),
		slog.String("route", route),
		slog.String("connection_id", c.id),
		slog.String("type", refused.kind),
	}
	if refused.cause != nil {
		attrs = append(attrs, slog.String("error", refused.cause.Error()))
	}
	c.gateway.cfg.Log.LogAttrs(context.Background(), slog.LevelWarn, "message", attrs...)
}
