package gateway

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
)

// Limits of messages in bytes, as on AWS.
const (
	maxMessage = 128 << 10
	maxFrame   = 32 << 10
)

// maxWaiting bounds the messages of one connection that wait for the function. A
// client that sends more is not read from until there is room.
const maxWaiting = 16

// socket is one client's connection.
//
// One goroutine reads from the client. Another calls the function and is there
// only while something waits for it, so that an idle connection costs one
// goroutine. Nobody waits for the client to read: see outlet.
type socket struct {
	gateway *Gateway
	api     *socketAPI
	id      string

	host, sourceIP, userAgent string
	connectedAt               time.Time
	fixed                     []byte // see describe

	ws     *websocket.Conn // nil when the client left during the handshake
	out    *outlet
	frames frameMeter   // of what the client sends; the reader's own
	active atomic.Int64 // when a message or frame last passed, Unix ns
	ended  atomic.Bool
	opened chan struct{}  // closed when the handshake is over, and ws and out are set
	gone   chan struct{}  // closed when ended is set
	tasks  sync.WaitGroup // the goroutines that use ws

	mu      sync.Mutex
	timer   *time.Timer
	waiting []message     // for the function
	room    chan struct{} // closed when some of waiting has gone; nil while nobody wants to know
	working bool          // the function is being called
}

// message is one event for the function: a client's message, or the end.
type message struct {
	body   []byte
	binary bool
	at     time.Time
	end    *ending
}

// ending is why a connection is over, as $disconnect is told.
type ending struct {
	code   websocket.StatusCode
	reason string
	// polite closes with the WebSocket handshake; it is of no use to a client
	// that is gone or closed by itself.
	polite bool
}

// AWS documents the wording of 1005; the others are this gateway's own.
var (
	goingAway  = ending{websocket.StatusGoingAway, "Going away", true}
	deleted    = ending{websocket.StatusNormalClosure, "Connection closed normally", true}
	tooBig     = ending{websocket.StatusMessageTooBig, "Message too long", true}
	notText    = ending{websocket.StatusInvalidFramePayloadData, "Text is not UTF-8", true}
	lost       = ending{websocket.StatusAbnormalClosure, "Connection closed abnormally", false}
	unread     = ending{websocket.StatusAbnormalClosure, "Client does not read", false}
	withNoCode = "Client-side close frame status not set"
)

// read takes the client's messages in until the connection ends.
func (s *socket) read() {
	for n := 1; ; n++ {
		kind, body, err := s.ws.Read(context.Background())
		switch {
		case errors.Is(err, websocket.ErrMessageTooBig), err == nil && s.frames.tooLarge(n):
			s.end(tooBig)
			return
		case err != nil:
			s.end(endingOf(err))
			return
		case kind == websocket.MessageText && !utf8.Valid(body):
			s.end(notText)
			return
		}
		m := message{body: body, binary: kind == websocket.MessageBinary, at: s.gateway.cfg.Now()}
		if !s.queue(m) {
			return
		}
	}
}

// endingOf reads the client's own close frame, if there was one.
func endingOf(err error) ending {
	var closed websocket.CloseError
	if !errors.As(err, &closed) {
		return lost
	}
	if closed.Code == websocket.StatusNoStatusRcvd {
		return ending{closed.Code, withNoCode, false}
	}
	return ending{closed.Code, closed.Reason, false}
}

// queue hands a message on to the function, after those before it. It waits for
// room, and is false once the connection has ended.
func (s *socket) queue(m message) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for m.end == nil && len(s.waiting) >= maxWaiting && !s.ended.Load() {
		if s.room == nil {
			s.room = make(chan struct{})
		}
		room := s.room
		s.mu.Unlock()
		select {
		case <-room:
		case <-s.gone:
		}
		s.mu.Lock()
	}
	if m.end == nil && s.ended.Load() {
		return false
	}
	s.waiting = append(s.waiting, m)
	if !s.working {
		s.working = true
		go s.work() // ends when nothing waits; sockets.running counts the connection until then
	}
	return true
}

// next takes the first of the waiting messages; false when there is none.
func (s *socket) next() (m message, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.room != nil {
		close(s.room)
		s.room = nil
	}
	if len(s.waiting) == 0 {
		s.waiting, s.working = nil, false
		return m, false
	}
	m, s.waiting[0] = s.waiting[0], m
	s.waiting = s.waiting[1:]
	return m, true
}

// work calls the function for one message at a time. After the end, which is the
// last, the connection is forgotten.
func (s *socket) work() {
	for {
		m, ok := s.next()
		switch {
		case !ok:
			return
		case m.end != nil:
			s.disconnect(*m.end)
			s.tasks.Wait()
			s.gateway.sockets.free(s.id)
			return
		case !s.gateway.sockets.closing.Load():
			s.deliver(&m)
		}
	}
}

// deliver calls $default and sends the client what it returned.
func (s *socket) deliver(m *message) {
	id := newID()
	answer, no := s.invoke(s.messageEvent(m, id))
	if no == nil && len(answer.body) > maxMessage {
		no = malformed(errors.New("the answer to a message is larger than 128 KiB"))
	}
	if no != nil {
		s.logFailure("$default", no)
		_ = s.send(websocket.MessageText, s.errorMessage(no.message, id)) // a client that is gone needs no error
		return
	}
	if len(answer.body) > 0 {
		kind := websocket.MessageText
		if answer.binary {
			kind = websocket.MessageBinary
		}
		_ = s.send(kind, answer.body)
	}
}

// errorMessage is what a client gets for a message that the function failed on.
func (s *socket) errorMessage(text, requestID string) []byte {
	b := appendMember(nil, `{"message":`, text)
	b = appendMember(b, `,"connectionId":`, s.id)
	b = appendMember(b, `,"requestId":`, requestID)
	return append(b, '}')
}

// disconnect tells the function of the end, once.
func (s *socket) disconnect(how ending) {
	_, no := s.invoke(s.disconnectEvent(how))
	if no != nil {
		s.logFailure("$disconnect", no)
	}
	s.gateway.cfg.Log.LogAttrs(context.Background(), slog.LevelInfo, "disconnect",
		slog.String("resource", s.api.Path),
		slog.String("connection_id", s.id),
		slog.Int("code", int(how.code)),
		slog.Float64("s", s.gateway.cfg.Now().Sub(s.connectedAt).Seconds()))
}

const (
	firstPause = 5 * time.Millisecond
	lastPause  = 250 * time.Millisecond
)

// invoke calls the function. A throttled call has not begun, so it is made again
// until the gateway closes: thousands of connections that end at one moment are
// all told of, and a message is not lost because others are many.
func (s *socket) invoke(event []byte) (*proxyAnswer, *refusal) {
	ctx := s.gateway.sockets.ctx
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		answer, no := s.gateway.integrate(ctx, s.api.Function, event)
		if no == nil || no.kind != "THROTTLED" {
			return answer, no
		}
		select {
		case <-ctx.Done():
			return nil, no
		case <-time.After(pause/2 + rand.N(pause)):
		}
	}
}

func (s *socket) logFailure(route string, no *refusal) {
	attrs := []slog.Attr{
		slog.String("resource", s.api.Path),
		slog.String("route", route),
		slog.String("connection_id", s.id),
		slog.String("type", no.kind),
	}
	if no.cause != nil {
		attrs = append(attrs, slog.String("error", no.cause.Error()))
	}
	s.gateway.cfg.Log.LogAttrs(context.Background(), slog.LevelWarn, "message", attrs...)
}

// end closes the connection for one reason, the first that was given. It does not
// wait.
func (s *socket) end(how ending) {
	if s.ended.Swap(true) {
		return
	}
	close(s.gone)
	s.mu.Lock()
	if s.timer != nil {
		s.timer.Stop()
	}
	s.mu.Unlock()
	if s.ws != nil {
		s.tasks.Go(func() {
			if how.polite {
				_ = s.ws.Close(how.code, how.reason) // bounded by the library: 10 s
			} else {
				_ = s.ws.CloseNow()
			}
		})
	}
	s.queue(message{end: &how})
}

// cut takes the network away from a connection that takes too long to close.
func (s *socket) cut() {
	if <-s.opened; s.out != nil {
		s.out.abort()
	}
}

// watch ends the connection when it has been silent or open for too long.
func (s *socket) watch() {
	limits, now := s.gateway.cfg.SocketLimits, s.gateway.cfg.Now()
	left := min(
		limits.Idle-now.Sub(time.Unix(0, s.active.Load())),
		limits.Lifetime-now.Sub(s.connectedAt))
	if left <= 0 {
		s.end(goingAway)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended.Load() {
		s.timer.Reset(max(left, time.Millisecond))
	}
}

var (
	errGone = errors.New("the connection is closed")
	errFull = errors.New("the client has not read what was sent before")
)

// send sends a message to the client. It waits for room in the outlet.
func (s *socket) send(kind websocket.MessageType, body []byte) error {
	for {
		_, room, err := s.put(kind, body)
		switch {
		case err == nil:
			s.push()
			return nil
		case room == nil:
			return err
		}
		select {
		case <-room:
		case <-s.gone:
		}
	}
}

// put leaves a message in the outlet, for whoever pushes: see [outlet.put]. The
// error is errGone or errFull.
func (s *socket) put(kind websocket.MessageType, body []byte) (first bool, room <-chan struct{}, err error) {
	if s.ended.Load() {
		return false, nil, errGone
	}
	first, room, err = s.out.put(kind, body)
	if err != nil && room == nil {
		err = errGone // and whoever closed it ends the connection
	}
	return first, room, err
}

// push sends what is in the outlet.
func (s *socket) push() {
	if err := s.out.push(); err != nil && !errors.Is(err, net.ErrClosed) {
		s.end(lost)
	}
	s.touch(s.gateway.cfg.Now())
}

// touch notes that something passed.
func (s *socket) touch(at time.Time) { s.active.Store(at.UnixNano()) }
