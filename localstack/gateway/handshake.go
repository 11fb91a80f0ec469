package gateway

import (
	"bufio"
	"encoding/base64"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// handshake takes a request on the path of a WebSocket API to its connection, or
// refuses it. It returns the status for the log.
func (g *Gateway) handshake(w http.ResponseWriter, req *request, api *socketAPI) (int, *refusal) {
	req.resource = api.resource
	if !g.sockets.reserve() {
		no := &refusal{kind: "THROTTLED", message: "Too Many Requests"}
		return g.reply(w, req, nil, no), no
	}
	conn := &socket{gateway: g, api: api, id: newID(), opened: make(chan struct{}), gone: make(chan struct{})}
	answer, no := g.connect(req, conn)
	if no != nil || answer.status >= http.StatusMultipleChoices {
		g.sockets.free(conn.id)
		return g.reply(w, req, answer, no), no
	}
	// From here on the function has taken the connection for open, so it will be
	// told of the end whatever happens.
	conn.open(w, req.http, answer.header.Get("Sec-Websocket-Protocol"))
	return http.StatusSwitchingProtocols, nil
}

// connect asks the authorizer and the function whether there is to be a
// connection.
func (g *Gateway) connect(req *request, conn *socket) (*proxyAnswer, *refusal) {
	select {
	case g.slots <- struct{}{}:
		defer func() { <-g.slots }()
	default:
		return nil, &refusal{kind: "THROTTLED", message: "Too Many Requests"}
	}
	if headerSize(req.http) > MaxHeader {
		return nil, &refusal{kind: "DEFAULT_4XX", status: http.StatusRequestHeaderFieldsTooLarge, message: headersTooLarge}
	}
	if no := upgradeFault(req.http); no != nil {
		return nil, no
	}
	if no := parseQuery(req); no != nil {
		return nil, no
	}
	conn.describe(req)
	ctx := req.http.Context()
	opening := conn.connectMembers(req)
	if conn.api.Authorize {
		given, no := g.authorize(ctx, conn.api.arn, conn.authorizerEvent(opening))
		req.grant = given
		if no != nil {
			return nil, no
		}
		conn.fixed = appendGrant(conn.fixed, given)
	}
	// A client that leaves now does not undo what the function does: its answer
	// is waited for, so that it can be told of the end.
	return g.integrate(g.sockets.ctx, conn.api.Function, conn.connectEvent(opening))
}

// upgradeFault says what keeps a request from being a WebSocket handshake. What
// AWS answers to it is not documented; these are the statuses of RFC 6455 and 9110.
func upgradeFault(r *http.Request) *refusal {
	bad := func(message string) *refusal {
		return &refusal{kind: "BAD_REQUEST_PARAMETERS", message: message}
	}
	switch {
	case r.Method != http.MethodGet:
		return &refusal{kind: methodNotAllowed}
	case !r.ProtoAtLeast(1, 1) || !hasToken(r.Header, "Connection", "upgrade") || !hasToken(r.Header, "Upgrade", "websocket"):
		return &refusal{kind: "DEFAULT_4XX", status: http.StatusUpgradeRequired,
			message: "this path takes WebSocket connections only: send the headers Connection: Upgrade and Upgrade: websocket"}
	case r.Header.Get("Sec-Websocket-Version") != "13":
		return bad("Sec-WebSocket-Version must be 13")
	}
	keys := r.Header["Sec-Websocket-Key"]
	if len(keys) != 1 {
		return bad("Sec-WebSocket-Key must be given once")
	}
	if key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(keys[0])); err != nil || len(key) != 16 {
		return bad("Sec-WebSocket-Key must be 16 bytes in base64")
	}
	return nil
}

func hasToken(header http.Header, name, token string) bool {
	for _, value := range header[name] {
		for part := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.TrimSpace(part), token) {
				return true
			}
		}
	}
	return false
}

// open completes the handshake and starts to read. protocol is the subprotocol
// that the function chose; empty for none.
func (s *socket) open(w http.ResponseWriter, r *http.Request, protocol string) {
	// A client that has its 101 can be posted to, so it is known before that. Who
	// finds it earlier waits.
	s.gateway.sockets.add(s)
	defer close(s.opened)
	options := &websocket.AcceptOptions{InsecureSkipVerify: true} // as AWS, which looks at no Origin
	if protocol != "" {
		options.Subprotocols = []string{protocol}
	}
	ws, err := websocket.Accept(&upgrader{w, s}, r, options)
	if err != nil {
		s.end(lost)
		return
	}
	s.ws = ws
	s.ws.SetReadLimit(maxMessage)
	s.tasks.Go(s.read)
	limits := s.gateway.cfg.SocketLimits
	s.mu.Lock()
	if !s.ended.Load() {
		s.timer = time.AfterFunc(min(limits.Idle, limits.Lifetime), s.watch)
	}
	s.mu.Unlock()
	if s.gateway.sockets.closing.Load() { // it may have come too late to be closed with the others
		s.end(goingAway)
	}
}

// upgrader gives the WebSocket library the connection with the gateway's own
// outlet in its way, and buffers of a size fit for thousands of connections.
type upgrader struct {
	http.ResponseWriter
	socket *socket
}

const (
	readBuffer  = 512 // client messages are short; longer ones pass it by
	writeBuffer = 256 // holds a control frame, the only kind that the library writes
)

func (u *upgrader) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(u.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	early, _ := buffered.Peek(buffered.Reader.Buffered()) // what is buffered can be peeked at
	u.socket.out = newOutlet(conn, slices.Clone(early), u.socket)
	return u.socket.out, bufio.NewReadWriter(
		bufio.NewReaderSize(u.socket.out, readBuffer),
		bufio.NewWriterSize(u.socket.out, writeBuffer)), nil
}
