package hub

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"

	"quotary/shared/sigv4"
)

// link is a connection to the management API, with all the memory that requests
// need. Whoever took it from its target has it alone.
type link struct {
	target *target
	conn   net.Conn
	in     *bufio.Reader
	out    []byte // requests to be written
	path   []byte
	sign   sigv4.Signer
	abort  func() // ends what waits for the network

	spent bool      // no good for another request
	used  time.Time // when it was given back; zero before
	armed time.Time // the deadline that is set
}

func newLink(t *target, conn net.Conn) *link {
	l := &link{target: t, conn: conn, in: bufio.NewReaderSize(conn, 4096)}
	l.abort = func() { _ = conn.SetDeadline(time.Unix(1, 0)) } // a connection that cannot have one is closed
	return l
}

// errStale says that the API closed a link that was good before: it has seen
// nothing of the requests that it did not answer.
var errStale = errors.New("connection closed by the API")

// outPiece is how much is written at a time, so that the API can begin with the
// first requests while the last are being signed.
const outPiece = 32 << 10

// exchange sends requests, as many as may be on their way at a time, and waits
// for their answers. It says how many were answered and what kept it from the
// others.
func (l *link) exchange(ctx context.Context, deadline time.Time, r sigv4.Request, key *sigv4.Key, frames []*Delivery) (answered int, err error) {
	stop := context.AfterFunc(ctx, l.abort)
	l.arm(deadline)
	err = l.ask(r, key, frames)
	for answered < len(frames) && !l.spent {
		status, failure := l.response()
		if failure != nil {
			l.spent = true
			if err == nil {
				err = failure
			}
			if answered == 0 && errors.Is(failure, errSilent) && !l.used.IsZero() {
				err = fmt.Errorf("%w: %w", errStale, err)
			}
			break
		}
		frames[answered].Err = outcome(r.Method, status)
		if answered++; l.spent {
			err = errStale // as the answer says
		}
	}
	if !stop() {
		l.spent = true
		err = ctx.Err()
	}
	return answered, err
}

// ask writes requests.
func (l *link) ask(r sigv4.Request, key *sigv4.Key, frames []*Delivery) error {
	for i, f := range frames {
		l.append(f, r, key)
		if i < len(frames)-1 && len(l.out) < outPiece {
			continue
		}
		_, err := l.conn.Write(l.out)
		if l.out = l.out[:0]; cap(l.out) > 4*outPiece {
			l.out = nil
		}
		if err != nil {
			return fmt.Errorf("send the request: %w", err)
		}
	}
	return nil
}

// append adds a request to what is to be written.
func (l *link) append(f *Delivery, r sigv4.Request, key *sigv4.Key) {
	l.path = append(l.path[:0], l.target.prefix...)
	l.path = sigv4.AppendEscaped(l.path, f.Conn.ID, false)
	r.Path, r.Length, r.Payload = l.path, len(f.Frame), l.target.digests.of(f.Frame)
	b := append(l.out, r.Method...)
	b = append(b, ' ')
	b = append(b, l.path...)
	b = append(b, " HTTP/1.1\r\n"...)
	b = l.sign.AppendHeader(b, key, r)
	b = append(b, "\r\n"...)
	l.out = append(b, f.Frame...)
}

// arm sets the deadline of the connection. It may be a second late: a deadline
// that is seldom set is cheap.
func (l *link) arm(deadline time.Time) {
	const late = time.Second
	if l.armed.Before(deadline) || l.armed.After(deadline.Add(late)) {
		l.armed = deadline.Add(late)
		_ = l.conn.SetDeadline(l.armed) // a connection that cannot have one is closed, which shows at once
	}
}

// errSilent says that the connection ended before a response began.
var errSilent = errors.New("no response")

// responseMost bounds a response, of which nobody reads more than the status.
const responseMost = 64 << 10

// response reads a response and discards all but its status.
func (l *link) response() (status int, err error) {
	if _, err := l.in.Peek(1); err != nil {
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			err = fmt.Errorf("%w: %w", errSilent, err)
		}
		return 0, err
	}
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
