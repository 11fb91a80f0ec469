package lambdahost

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// The Runtime API is served without net/http's server: a function's event is
// then written by the goroutine that has it, and no other has to wake up for it.
// Two of the four hops of a request go this way.

const (
	maxHeader   = 2 << 20 // an error report carries its X-Ray cause, up to 1 MiB, in a header
	headerPause = 10 * time.Second
	copiedEvent = 32 << 10 // up to here one piece costs less than two
)

// conn is one connection of the Runtime API. Its goroutine, serve, ends when the
// peer, the peer's process or the host does.
type conn struct {
	net.Conn
	limit io.LimitedReader
	in    *bufio.Reader
	out   []byte // of serve
}

// listen accepts connections until the listener is closed.
func (h *Host) listen() {
	for {
		raw, err := h.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			h.cfg.Log.Error("the Runtime API lost a connection", "error", err.Error())
			time.Sleep(10 * time.Millisecond) // out of file descriptors, which may pass
			continue
		}
		c := &conn{Conn: raw}
		c.limit.R = raw
		c.in = bufio.NewReaderSize(&c.limit, 8<<10)
		h.hold(c)
	}
}

// hold serves a connection until cutOff: also while the host waits for functions
// to finish, which answer on new connections if they like.
func (h *Host) hold(c *conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cut {
		c.Close()
		return
	}
	h.conns[c] = struct{}{}
	h.running.Go(func() { h.serve(c) })
}

// cutOff closes all connections and takes no more.
func (h *Host) cutOff() {
	_ = h.listener.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cut = true
	for c := range h.conns {
		c.Close()
	}
}

// serve answers the requests of a connection, one after the other.
func (h *Host) serve(c *conn) {
	var waiting *instance // that this connection keeps for its next event
	defer func() {
		h.mu.Lock()
		delete(h.conns, c)
		h.mu.Unlock()
		c.Close()
		if waiting != nil {
			waiting.hungUp(c)
		}
	}()
	for {
		r, err := c.request()
		if err != nil {
			return
		}
		if waiting = h.answer(c, r); waiting == nil && r.Close {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
	}
}

// request reads the next request, however long it takes to come. What has begun
// has to come soon.
func (c *conn) request() (*http.Request, error) {
	c.limit.N = maxHeader + MaxPayload + 1
	if _, err := c.in.Peek(1); err != nil {
		return nil, err
	}
	if first, _ := c.in.Peek(c.in.Buffered()); !bytes.Contains(first, []byte("\r\n\r\n")) {
		if err := c.SetReadDeadline(time.Now().Add(headerPause)); err != nil {
			return nil, err
		}
		defer func() { _ = c.SetReadDeadline(time.Time{}) }()
	}
	r, err := http.ReadRequest(c.in)
	if err != nil {
		return nil, fmt.Errorf("read a request: %w", err)
	}
	return r, nil
}

// handover is an event on its way to the connection where its instance waits.
type handover struct {
	inst       *instance
	to         *conn
	invocation *invocation
	deadline   time.Time
}

// eventMemory is what events are put together in. The function may answer, and
// another event be handed over, before the write of the first has returned: so
// the memory is not the connection's.
var eventMemory = sync.Pool{New: func() any { return new([]byte) }}

// send writes the event. False is a connection that is no more.
func (o *handover) send() bool {
	payload := o.invocation.payload
	memory := eventMemory.Get().(*[]byte)
	defer eventMemory.Put(memory)
	b := append((*memory)[:0], "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(len(payload)), 10)
	b = append(append(b, "\r\n"+headerRequestID+": "...), o.invocation.id...)
	b = strconv.AppendInt(append(b, "\r\n"+headerDeadline+": "...), o.deadline.UnixMilli(), 10)
	b = append(append(b, "\r\n"+headerARN+": "...), o.inst.fn.arn...)
	b = append(append(b, "\r\n"+headerTraceID+": "...), newTraceID(o.deadline.Unix())...)
	b = append(b, "\r\n\r\n"...)
	var err error
	if len(payload) <= copiedEvent {
		b = append(b, payload...)
		_, err = o.to.Write(b)
	} else {
		// A process that does not read it is ended by its alarm.
		_, err = (&net.Buffers{b, payload}).WriteTo(o.to.Conn)
	}
	*memory = b
	return err == nil
}

// reply answers a request with JSON.
func (c *conn) reply(status int, body string) {
	b := append(c.out[:0], "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(append(b, ' '), http.StatusText(status)...)
	b = append(b, "\r\nContent-Type: application/json\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(len(body)), 10)
	c.out = append(append(b, "\r\n\r\n"...), body...)
	_, _ = c.Write(c.out) // the next read tells of a connection that is gone
}

func (c *conn) refuse(status int, kind, message string) {
	c.reply(status, `{"errorMessage":`+strconv.QuoteToASCII(message)+`,"errorType":"`+kind+`"}`)
}

func (c *conn) accept() { c.reply(http.StatusAccepted, `{"status":"OK"}`) }
