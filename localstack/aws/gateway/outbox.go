package gateway

import (
	"errors"
	"sync"

	"github.com/coder/websocket"
)

// maxUnread bounds the bytes that wait for a client that does not read, beyond what
// the system holds for it. One message of any size is always taken when none waits.
const maxUnread = 128 << 10

var (
	errClosed = errors.New("the connection is closed")
	errFull   = errors.New("the client has not read what was sent before")
)

// outgoing is a message to a client.
type outgoing struct {
	kind websocket.MessageType
	body []byte
}

// outbox holds the messages of one connection that its client has yet to read, in
// their order.
type outbox struct {
	mu      sync.Mutex
	changed sync.Cond // whenever anything below has changed; its lock is mu
	waiting []outgoing
	bytes   int // of waiting, and of the message that is being written
	closed  bool
}

func newOutbox() *outbox {
	o := new(outbox)
	o.changed.L = &o.mu
	return o
}

// put adds a message; errFull when there is no room for it.
func (o *outbox) put(m outgoing) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.closed:
		return errClosed
	case !o.fits(m):
		return errFull
	}
	o.add(m)
	return nil
}

// putWhenRoom adds a message when there is room for it.
func (o *outbox) putWhenRoom(m outgoing) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for !o.closed && !o.fits(m) {
		o.changed.Wait()
	}
	if o.closed {
		return errClosed
	}
	o.add(m)
	return nil
}

func (o *outbox) fits(m outgoing) bool { return o.bytes == 0 || o.bytes+size(m) <= maxUnread }

// size counts an empty message too.
func size(m outgoing) int { return len(m.body) + 1 }

func (o *outbox) add(m outgoing) {
	o.waiting = append(o.waiting, m)
	o.bytes += size(m)
	o.changed.Broadcast()
}

// next waits for a message to write. It is false when the outbox is closed and empty.
func (o *outbox) next() (m outgoing, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.waiting) == 0 && !o.closed {
		o.changed.Wait()
	}
	if len(o.waiting) == 0 {
		return outgoing{}, false
	}
	m, o.waiting[0] = o.waiting[0], outgoing{}
	o.waiting = o.waiting[1:]
	return m, true
}

// written makes room where a message has been.
func (o *outbox) written(m outgoing) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes -= size(m)
	o.changed.Broadcast()
}

// close has the outbox take no more; next gives what is left.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.changed.Broadcast()
}
