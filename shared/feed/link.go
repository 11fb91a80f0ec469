package feed

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strconv"
	"sync"
	"time"

	"quotary/shared/sigv4"
)

// link is a connection to the management API, with all the memory that requests
// need. Requests leave in the order of the calls, several in one piece where they
// come together, and are answered in that order. Its goroutine, read, ends when
// the connection does: at the latest idleMost after the last answer, or when the
// API leaves a request without an answer.
type link struct {
	target *target
	conn   net.Conn
	load   int // calls that have a place here; target.mu

	in    *bufio.Reader // of read, as spent
	spent bool          // the API closes the connection after this response

	mu      sync.Mutex
	err     error // why the link is of no use any more
	calls   []*call
	out     []byte // requests to be written
	spare   []byte // memory for the next ones, while those are written
	writing bool
	path    []byte
	sign    sigv4.Signer
	used    time.Time // of the last answer; zero before
	armed   time.Time // the deadline that is set
}

// call is a request on its way.
type call struct {
	deadline time.Time
	done     chan struct{} // holds one
	status   int           // valid when done, as err
	err      error
}

func newLink(t *target, conn net.Conn) *link {
	return &link{target: t, conn: conn, in: bufio.NewReaderSize(conn, 4096)}
}

// errStale says that the API closed a link that was good before: it has seen
// nothing of the requests that it did not answer.
var errStale = errors.New("connection closed by the API")

// outKept is how large a buffer a link may keep.
const outKept = 64 << 10

// send writes a request, or leaves it to the one who is writing already. When it
// fails the API has seen nothing of it.
func (l *link) send(c *call, id string, frame []byte, key *sigv4.Key, r sigv4.Request) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return fmt.Errorf("%w: %w", errStale, l.err)
	}
	l.append(id, frame, key, r)
	if l.calls = append(l.calls, c); len(l.calls) == 1 {
		l.arm(c.deadline)
	}
	if !l.writing {
		l.writing = true
		l.flush()
		l.writing = false
	}
	return nil
}

// append adds a request to what is to be written.
func (l *link) append(id string, frame []byte, key *sigv4.Key, r sigv4.Request) {
	l.path = append(l.path[:0], l.target.prefix...)
	l.path = sigv4.AppendEscaped(l.path, id, false)
	r.Path, r.Length = l.path, len(frame)
	b := append(l.out, r.Method...)
	b = append(b, ' ')
	b = append(b, l.path...)
	b = append(b, " HTTP/1.1\r\n"...)
	b = l.sign.AppendHeader(b, key, r)
	b = append(b, "\r\n"...)
	l.out = append(b, frame...)
}

// flush writes until nothing is left. The caller holds l.mu.
func (l *link) flush() {
	if l.target.config.Pipeline > 1 {
		l.mu.Unlock()
		runtime.Gosched() // those who are about to send may do it in the same piece
		l.mu.Lock()
	}
	for len(l.out) > 0 && l.err == nil {
		batch := l.out
		l.out = l.spare[:0]
		l.mu.Unlock()
		_, err := l.conn.Write(batch)
		l.mu.Lock()
		if l.spare = batch; cap(batch) > outKept {
			l.spare = nil
		}
		if err != nil {
			l.conn.Close() // which read will find
			return
		}
	}
}

// arm sets the deadline of the connection. It may be a second late: a deadline
// that is seldom set is cheap. The caller holds l.mu.
func (l *link) arm(deadline time.Time) {
	const late = time.Second
	if l.armed.Before(deadline) || l.armed.After(deadline.Add(late)) {
		l.armed = deadline.Add(late)
		_ = l.conn.SetDeadline(l.armed) // a connection that cannot have one is closed, which read will find
	}
}

// read gives each call its answer until the connection ends.
func (l *link) read() {
	err := l.answers()
	l.conn.Close()
	l.target.remove(l)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
	for _, c := range l.calls {
		c.err = err
		c.done <- struct{}{}
	}
	l.calls = nil
}

func (l *link) answers() error {
	for {
		if _, err := l.in.Peek(1); err != nil {
			if l.patient(err) {
				continue
			}
			if !l.used.IsZero() && !isTimeout(err) {
				err = fmt.Errorf("%w: %w", errStale, err)
			}
			return err
		}
		status, err := l.response()
		if err != nil {
			return err
		}
		if !l.answer(status) {
			return errors.New("a response that nothing asked for")
		}
		if l.spent {
			return errStale
		}
		l.target.free(l)
	}
}

// patient reports whether a failed wait for a response is no reason to end: the
// link is idle, but not for too long, or a request has just been sent.
func (l *link) patient(err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	switch {
	case !isTimeout(err):
		return false
	case len(l.calls) > 0:
		l.arm(l.calls[0].deadline)
		return now.Before(l.calls[0].deadline)
	default:
		l.arm(l.used.Add(idleMost))
		return now.Sub(l.used) < idleMost
	}
}

// answer ends the oldest call, if there is one.
func (l *link) answer(status int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.calls) == 0 {
		return false
	}
	c := l.calls[0]
	l.calls = append(l.calls[:0], l.calls[1:]...)
	l.used = time.Now()
	if len(l.calls) > 0 {
		l.arm(l.calls[0].deadline)
	}
	c.status = status
	c.done <- struct{}{}
	return true
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
