package gateway

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
)

// The management API posts messages to connections. A fan-out makes one request
// for each message and client, so it is the hottest path of the gateway, and
// net/http costs several times what a post itself does. The first such request on
// a connection comes through net/http. After it the connection belongs to a
// manager, which reads requests of this one kind only, and gives the connection
// back to net/http at the first that is anything else.

// managed is the outcome of a request to the management API.
type managed struct {
	status int
	kind   string // of the error, as the SDK tells it by; empty for none
	body   []byte
}

// What the API answers. A connection that is gone has no body on AWS either.
var (
	posted      = managed{status: http.StatusOK}
	closed      = managed{status: http.StatusNoContent}
	isGone      = managed{http.StatusGone, "GoneException", nil}
	isForbidden = managed{http.StatusForbidden, "ForbiddenException", []byte(`{"message":"Forbidden"}`)}
	isTooLarge  = managed{http.StatusRequestEntityTooLarge, "PayloadTooLargeException", []byte(`{"message":"Message too long"}`)}
	isFull      = managed{http.StatusTooManyRequests, "LimitExceededException", []byte(`{"message":"The client has not read what was sent before"}`)}
	isUnread    = managed{http.StatusBadRequest, "BadRequestException", []byte(`{"message":"the request body could not be read to its end"}`)}
	isOther     = managed{http.StatusMethodNotAllowed, "BadRequestException", []byte(`{"message":"a connection takes POST, GET and DELETE"}`)}
)

// manages says whether a request is one to the management API.
func (s *sockets) manages(r *http.Request) bool {
	return len(s.apis) > 0 && strings.HasPrefix(r.URL.Path, s.base)
}

// act does what a request asks for. Its operands may change afterwards. A message
// lies in the outlet of its connection then; to is not nil where the caller must
// see to it that it is pushed.
func (s *sockets) act(method string, id, authorization, body []byte) (out managed, to *socket) {
	if !signed(authorization) {
		return isForbidden, nil
	}
	c := s.find(id)
	switch {
	case c == nil && !validID(id):
		return managed{http.StatusBadRequest, "BadRequestException",
			append(appendMember(nil, `{"message":`, fmt.Sprintf("Invalid connectionId: %.64s", id)), '}')}, nil
	case len(body) > maxMessage:
		return isTooLarge, nil
	case c == nil:
		return isGone, nil
	}
	switch method {
	case http.MethodPost:
		return c.post(body)
	case http.MethodDelete:
		c.end(deleted)
		return closed, nil
	case http.MethodGet:
		return managed{status: http.StatusOK, body: c.describeItself()}, nil
	}
	return isOther, nil
}

// post leaves a message for the client: as text when it is text.
func (s *socket) post(body []byte) (out managed, to *socket) {
	kind := websocket.MessageText
	if !utf8.Valid(body) {
		kind = websocket.MessageBinary
	}
	switch first, _, err := s.put(kind, body); {
	case err == nil && first:
		return posted, s
	case err == nil:
		return posted, nil
	case errors.Is(err, errFull):
		return isFull, nil
	}
	return isGone, nil
}

// describeItself is what GET tells of a connection.
func (s *socket) describeItself() []byte {
	const layout = `"2006-01-02T15:04:05.000Z"`
	b := append(make([]byte, 0, 256), `{"connectedAt":`...)
	b = s.connectedAt.UTC().AppendFormat(b, layout)
	b = appendMember(b, `,"identity":{"sourceIp":`, s.sourceIP)
	b = appendMember(b, `,"userAgent":`, s.userAgent)
	b = append(b, `},"lastActiveAt":`...)
	b = time.Unix(0, s.active.Load()).UTC().AppendFormat(b, layout)
	return append(b, '}')
}

// signed tells whether a request carries a signature at all. It is not verified:
// the gateway knows no secret keys.
func signed(authorization []byte) bool {
	rest, ok := bytes.CutPrefix(authorization, []byte("AWS4-HMAC-SHA256 "))
	return ok && bytes.Contains(rest, []byte("Credential=")) && bytes.Contains(rest, []byte("SignedHeaders=")) && bytes.Contains(rest, []byte("Signature="))
}

// manage answers a request that came through net/http, and those that follow it
// on the same connection.
func (g *Gateway) manage(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxMessage+1))
	id := strings.TrimPrefix(r.URL.Path, g.sockets.base)
	out := isUnread
	if err == nil {
		var to *socket
		if out, to = g.sockets.act(r.Method, []byte(id), []byte(r.Header.Get("Authorization")), body); to != nil {
			to.push()
		}
	}
	g.logManaged(out)
	server, _ := r.Context().Value(http.ServerContextKey).(*http.Server)
	plain := r.Method == http.MethodPost || r.Method == http.MethodGet || r.Method == http.MethodDelete
	if plain && server != nil && r.ProtoAtLeast(1, 1) && !r.Close && err == nil && len(body) <= maxMessage {
		if conn, buffered, err := http.NewResponseController(w).Hijack(); err == nil {
			g.take(conn, buffered.Reader, out, server)
			return
		}
	}
	header := w.Header()
	header["Content-Length"] = []string{strconv.Itoa(len(out.body))}
	header["x-amzn-RequestId"] = []string{string(appendRequestID(nil))}
	if out.kind != "" {
		header["x-amzn-ErrorType"] = []string{out.kind}
	}
	if out.body != nil {
		header["Content-Type"] = []string{"application/json"}
	}
	w.WriteHeader(out.status)
	_, _ = w.Write(out.body) // a client that is gone is none of the gateway's concern
}

// logManaged writes refusals down, for who debugs. What went well would be a line
// for each message to each client.
func (g *Gateway) logManaged(out managed) {
	if out.kind == "" || !g.cfg.Log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	g.cfg.Log.LogAttrs(context.Background(), slog.LevelDebug, "management", slog.Int("status", out.status), slog.String("type", out.kind))
}

// managerRead holds the whole of nearly every request, and many small ones.
const managerRead = 64 << 10

// take runs a manager on a connection until it ends or asks for something else.
func (g *Gateway) take(conn net.Conn, in *bufio.Reader, first managed, server *http.Server) {
	conn = bare(conn)
	early, _ := in.Peek(in.Buffered()) // what is buffered can be peeked at
	m := &manager{
		sockets: g.sockets,
		conn:    conn,
		in:      bufio.NewReaderSize(io.MultiReader(bytes.NewReader(bytes.Clone(early)), conn), managerRead),
	}
	m.answer(first)
	err := net.ErrClosed
	if g.sockets.admit(m) {
		err = m.serve()
		g.sockets.dismiss(m)
	}
	_ = m.settle() // after a failure there is nobody to tell
	if !errors.Is(err, errOther) {
		_ = conn.Close()
		return
	}
	rest, _ := m.in.Peek(m.in.Buffered())
	g.giveBack(&resumedConn{Conn: conn, rest: bytes.Clone(rest)}, server)
}

// giveBack has net/http go on with a connection.
func (g *Gateway) giveBack(conn *resumedConn, server *http.Server) {
	_ = conn.SetDeadline(time.Time{}) // the server sets its own
	once := &onceListener{conn: &courteousConn{Conn: conn, gateway: g}}
	_ = server.Serve(once) // ends at once with the listener's error
	if once.conn != nil {  // the server is closing
		_ = conn.Close()
	}
}

// resumedConn has bytes that were read from it before.
type resumedConn struct {
	net.Conn
	rest []byte
}

func (c *resumedConn) Read(p []byte) (int, error) {
	if len(c.rest) > 0 {
		n := copy(p, c.rest)
		c.rest = c.rest[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// CloseWrite is what net/http looks for, to let its last words arrive.
func (c *resumedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// bare is the system's connection beneath the gateway's own, as far as nothing is
// lost by leaving those out.
func bare(conn net.Conn) net.Conn {
	for {
		switch c := conn.(type) {
		case *courteousConn:
			conn = c.Conn
			continue
		case *resumedConn:
			if len(c.rest) == 0 {
				conn = c.Conn
				continue
			}
		}
		return conn
	}
}

// onceListener accepts one connection that is there already.
type onceListener struct{ conn net.Conn }

func (l *onceListener) Accept() (net.Conn, error) {
	conn := l.conn
	if l.conn = nil; conn == nil {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (l *onceListener) Close() error   { return nil }
func (l *onceListener) Addr() net.Addr { return &net.TCPAddr{} }

// appendRequestID makes a UUID. It is for logs, so it need not be unguessable.
func appendRequestID(b []byte) []byte {
	var u [16]byte
	hi, lo := rand.Uint64(), rand.Uint64()
	for i := range 8 {
		u[i], u[i+8] = byte(hi>>(8*i)), byte(lo>>(8*i))
	}
	return append(b, uuid(u)...)
}

// unescape decodes the percent-encoding of a connection id into buf; nil when it
// is none, or longer than buf.
func unescape(buf, escaped []byte) []byte {
	buf = buf[:0]
	for i := 0; i < len(escaped); i++ {
		c := escaped[i]
		switch {
		case c == '%' && i+2 < len(escaped):
			n, err := strconv.ParseUint(string(escaped[i+1:i+3]), 16, 8)
			if err != nil {
				return nil
			}
			c, i = byte(n), i+2
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '=':
		default:
			return nil
		}
		if len(buf) == cap(buf) {
			return nil
		}
		buf = append(buf, c)
	}
	return buf
}
