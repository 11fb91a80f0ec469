package feed

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// link is a connection to the management API, with all the memory that a request
// needs. One request at a time uses it.
type link struct {
	conn    net.Conn
	in      *bufio.Reader
	out     []byte
	path    []byte
	sign    signature
	used    time.Time // when the last response was read; zero on a new link
	spent   bool      // the API closes it after this response
	expired time.Time // the deadline that is set
}

func newLink(conn net.Conn) *link {
	return &link{conn: conn, in: bufio.NewReaderSize(conn, 2048), out: make([]byte, 0, 2048)}
}

// errStale says that a link was closed while it was idle: the API has seen
// nothing of the request.
var errStale = errors.New("connection closed while idle")

// outKept is how large a buffer a link may keep for its next request.
const outKept = 32 << 10

// write builds the request in memory, so that it leaves in one piece.
func (l *link) write(t *target, id string, frame []byte, key *signingKey, r request) {
	l.path = append(l.path[:0], t.prefix...)
	l.path = appendEscaped(l.path, id, false)
	r.path, r.length = l.path, len(frame)
	b := append(l.out[:0], r.method...)
	b = append(b, ' ')
	b = append(b, l.path...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, r.host...)
	b = append(b, "\r\nX-Amz-Date: "...)
	b = append(b, r.now[:]...)
	if token := key.credentials.SessionToken; token != "" {
		b = append(b, "\r\nX-Amz-Security-Token: "...)
		b = append(b, token...)
	}
	if len(frame) > 0 {
		b = append(b, "\r\nContent-Length: "...)
		b = appendInt(b, len(frame))
	}
	b = append(b, "\r\nAuthorization: "...)
	b = l.sign.append(b, key, r)
	b = append(b, "\r\n\r\n"...)
	l.out = append(b, frame...)
}

// exchange sends what write built and reads the response. After an error the
// link is closed.
func (l *link) exchange(ctx context.Context, deadline time.Time) (status int, err error) {
	// A deadline is exact enough when it is a little late, and seldom set is cheap.
	if l.expired.Before(deadline) {
		l.expired = deadline.Add(time.Second)
		if err := l.conn.SetDeadline(l.expired); err != nil {
			l.conn.Close()
			return 0, err
		}
	}
	stop := context.AfterFunc(ctx, func() { l.conn.SetDeadline(time.Unix(1, 0)) })
	_, err = l.conn.Write(l.out)
	if cap(l.out) > outKept {
		l.out = nil
	}
	if err == nil {
		_, err = l.in.Peek(1)
	}
	if err != nil && !l.used.IsZero() && ctx.Err() == nil && !isTimeout(err) {
		err = fmt.Errorf("%w: %w", errStale, err)
	}
	if err == nil {
		status, err = l.response()
	}
	if !stop() && err == nil {
		l.spent = true // its deadline is in the past
	}
	if err != nil {
		l.conn.Close()
		return 0, err
	}
	return status, nil
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// responseMost bounds a response, of which nobody reads more than the status.
const responseMost = 64 << 10

// response reads a response and discards all but its status.
func (l *link) response() (status int, err error) {
	for status/100 <= 1 { // 1xx announce another response
		if status, err = l.status(); err != nil {
			return 0, err
		}
		length, err := l.header()
		if err != nil {
			return 0, err
		}
		switch {
		case status/100 <= 1 || status == 204 || status == 304:
		case length < 0 || length > responseMost:
			// Without a length the body ends with the link, or is in pieces: not worth
			// reading, since the API does so with none of its own answers.
			l.spent = true
		default:
			if _, err := l.in.Discard(length); err != nil {
				return 0, fmt.Errorf("read the body: %w", err)
			}
		}
	}
	return status, nil
}

func (l *link) status() (int, error) {
	line, err := l.line()
	if err != nil {
		return 0, fmt.Errorf("read the status line: %w", err)
	}
	if len(line) < len("HTTP/1.1 200") || !bytes.HasPrefix(line, []byte("HTTP/1.")) {
		return 0, fmt.Errorf("not an HTTP response: %.32q", line)
	}
	if line[7] == '0' {
		l.spent = true
	}
	code, err := strconv.Atoi(string(line[9:12]))
	if err != nil || code < 100 {
		return 0, fmt.Errorf("not an HTTP response: %.32q", line)
	}
	return code, nil
}

// header reads the header. The length is -1 where the body has none.
func (l *link) header() (length int, err error) {
	length = -1
	pieces := false
	for size := 0; size < responseMost; {
		line, err := l.line()
		if err != nil {
			return 0, fmt.Errorf("read the header: %w", err)
		}
		if len(line) == 0 {
			if pieces {
				length = -1
			}
			return length, nil
		}
		size += len(line)
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("content-length")):
			if length, err = strconv.Atoi(string(value)); err != nil || length < 0 {
				return 0, fmt.Errorf("content-length %.32q is not a length", value)
			}
		case bytes.EqualFold(name, []byte("transfer-encoding")):
			pieces = true
		case bytes.EqualFold(name, []byte("connection")) && bytes.EqualFold(value, []byte("close")):
			l.spent = true
		}
	}
	return 0, errors.New("the header is too long")
}

// line reads a line without its end. It is valid until the next read.
func (l *link) line() ([]byte, error) {
	line, err := l.in.ReadSlice('\n')
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), err
}

func appendInt(b []byte, n int) []byte { return strconv.AppendInt(b, int64(n), 10) }
