package gateway

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// manager answers requests of the management API on one HTTP connection, in their
// order. A client may send many before it reads an answer. What they cause is sent
// when no further request has come: to each client what was posted to it in one
// piece, then the answers in one piece, since a system call costs more than all
// else about a message.
type manager struct {
	sockets *sockets
	conn    net.Conn
	in      *bufio.Reader
	out     []byte    // answers
	posted  []*socket // of which the outlets hold messages
	body    []byte    // memory for bodies that do not fit into in
	patient time.Time // when the deadline of conn was last put off
	id      [64]byte  // memory for the id of the request at hand
}

// errOther is a request that is not for a manager.
var errOther = errors.New("not a plain request to the management API")

// interrupt makes serve return.
func (m *manager) interrupt() { _ = m.conn.SetReadDeadline(time.Unix(1, 0)) }

// serve answers requests until the connection ends, with errOther at one that is
// left unread for net/http. The last answers may still be in out.
func (m *manager) serve() error {
	for {
		if err := m.one(); err != nil {
			return err
		}
	}
}

// one reads and answers one request.
func (m *manager) one() error {
	head, err := m.head()
	if err != nil {
		return err
	}
	call, ok := m.parse(head)
	if !ok {
		return errOther
	}
	body, err := m.payload(len(head), call.length)
	if err != nil {
		return err
	}
	out, to := m.sockets.act(call.method, call.id, body.authorization(call), body.content)
	if to != nil {
		m.posted = append(m.posted, to)
	}
	m.answer(out)
	_, err = m.in.Discard(body.buffered)
	return err
}

// deadline gives the client a minute for the next request or for reading its
// answers. It is put off now and then only, because that is not free.
func (m *manager) deadline() error {
	if now := time.Now(); now.Sub(m.patient) > idleTimeout/10 {
		m.patient = now
		if err := m.conn.SetDeadline(now.Add(idleTimeout)); err != nil {
			return err
		}
	}
	if m.sockets.closing.Load() { // interrupt may have come before SetDeadline
		return net.ErrClosed
	}
	return nil
}

// settle sends messages and answers.
func (m *manager) settle() error {
	for i, s := range m.posted {
		s.push()
		m.posted[i] = nil
	}
	m.posted = m.posted[:0]
	if len(m.out) == 0 {
		return nil
	}
	_, err := m.conn.Write(m.out)
	m.out = m.out[:0]
	return err
}

// wait has at least n bytes in the buffer. It settles before it waits for any.
func (m *manager) wait(n int) ([]byte, error) {
	if m.in.Buffered() < n {
		if err := m.deadline(); err != nil {
			return nil, err
		}
		if err := m.settle(); err != nil {
			return nil, err
		}
	}
	return m.in.Peek(n)
}

// head is the next request up to its empty line, still in the buffer.
func (m *manager) head() ([]byte, error) {
	end := []byte("\r\n\r\n")
	for {
		seen, _ := m.in.Peek(min(m.in.Buffered(), MaxHeader)) // what is buffered can be peeked at
		if i := bytes.Index(seen, end); i >= 0 {
			return seen[:i+len(end)], nil
		}
		if len(seen) >= MaxHeader {
			return nil, errOther
		}
		if _, err := m.wait(len(seen) + 1); err != nil {
			return nil, err
		}
	}
}

// call is the head of a request.
type call struct {
	method        string
	id            []byte
	length        int    // of the body
	authorization [2]int // where its value begins and ends
}

// parse reads a head; false when it is any other request than a plain one of the
// management API, which net/http will understand or refuse.
func (m *manager) parse(head []byte) (c call, ok bool) {
	line, rest, _ := bytes.Cut(head, []byte("\r\n"))
	method, line, _ := bytes.Cut(line, []byte(" "))
	switch string(method) {
	case http.MethodPost:
		c.method = http.MethodPost
	case http.MethodGet:
		c.method = http.MethodGet
	case http.MethodDelete:
		c.method = http.MethodDelete
	default:
		return c, false
	}
	target, ofAPI := bytes.CutPrefix(line, []byte(m.sockets.base))
	target, is11 := bytes.CutSuffix(target, []byte(" HTTP/1.1"))
	if !ofAPI || !is11 {
		return c, false
	}
	if c.id = unescape(m.id[:0:len(m.id)], target); c.id == nil {
		return c, false
	}
	lines := 2 // this one and the empty one
	c.length = -1
	for len(rest) > 2 {
		lines++
		var field []byte
		field, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		if !c.field(field, len(head)-len(rest)-len(field)-2) {
			return c, false
		}
	}
	c.length = max(c.length, 0)
	// A line feed alone ends a line for net/http.
	return c, bytes.Count(head, []byte("\n")) == lines
}

// field reads one header, which begins at a place in the head.
func (c *call) field(field []byte, at int) bool {
	colon := bytes.IndexByte(field, ':')
	if colon <= 0 || field[0] <= ' ' || field[colon-1] <= ' ' {
		return false
	}
	name := field[:colon]
	switch {
	case is(name, "content-length"):
		n, err := strconv.ParseUint(string(bytes.Trim(field[colon+1:], " \t")), 10, 31)
		if err != nil || c.length >= 0 || n > maxMessage {
			return false
		}
		c.length = int(n)
	case is(name, "authorization") && c.authorization[1] == 0:
		value := bytes.TrimLeft(field[colon+1:], " \t")
		end := at + len(bytes.TrimRight(field, " \t"))
		c.authorization = [2]int{min(at+len(field)-len(value), end), end}
	case is(name, "connection"):
		return is(bytes.Trim(field[colon+1:], " \t"), "keep-alive")
	case is(name, "transfer-encoding"), is(name, "expect"), is(name, "upgrade"):
		return false
	}
	return true
}

func is(name []byte, lower string) bool {
	return len(name) == len(lower) && bytes.EqualFold(name, []byte(lower))
}

// payload is the body of a request whose head is in the buffer.
type payload struct {
	head, content []byte
	buffered      int // bytes of the buffer that they take
}

func (p payload) authorization(c call) []byte { return p.head[c.authorization[0]:c.authorization[1]] }

func (m *manager) payload(head, length int) (payload, error) {
	if head+length <= m.in.Size() {
		all, err := m.wait(head + length)
		if err != nil {
			return payload{}, err
		}
		return payload{all[:head], all[head:], head + length}, nil
	}
	m.body = append(m.body[:0], make([]byte, head+length)...)
	if _, err := m.wait(m.in.Size()); err != nil { // sends the answers, if it has to wait
		return payload{}, err
	}
	if _, err := io.ReadFull(m.in, m.body); err != nil {
		return payload{}, err
	}
	return payload{m.body[:head], m.body[head:], 0}, nil
}

// answer writes an answer down to be sent.
func (m *manager) answer(out managed) {
	b := append(m.out, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(out.status), 10)
	b = append(b, ' ')
	b = append(b, http.StatusText(out.status)...)
	b = append(b, "\r\nx-amzn-RequestId: "...)
	b = appendRequestID(b)
	if out.kind != "" {
		b = append(b, "\r\nx-amzn-ErrorType: "...)
		b = append(b, out.kind...)
	}
	if out.body != nil {
		b = append(b, "\r\nContent-Type: application/json"...)
	}
	if out.status != http.StatusNoContent {
		b = append(b, "\r\nContent-Length: "...)
		b = strconv.AppendInt(b, int64(len(out.body)), 10)
	}
	b = append(b, "\r\n\r\n"...)
	m.out = append(b, out.body...)
}
