package gateway

import (
	"errors"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/coder/websocket"
)

// maxUnread bounds what waits for a client that does not read, beyond what the
// system holds for it. One message of any size is always taken when nothing waits.
const maxUnread = 128 << 10

// flushPiece is how much a slow client must read within the write timeout.
const flushPiece = 8 << 10

// outlet is a client's connection on which nobody waits for the client. Messages
// are put down, then pushed: what the system takes of them at once is gone with one
// system call from the caller's own goroutine, however many they are. The rest is
// kept, and a goroutine that lives only as long as something is kept writes it,
// giving the client a limited time to read.
//
// The WebSocket library reads from the outlet, and writes the answers to pings and
// the close frame to it, each of them with one call of Write.
type outlet struct {
	net.Conn
	raw     syscall.RawConn // nil where the connection cannot be written to without waiting
	owner   *socket
	early   []byte             // of the client, read before the outlet was there
	attempt func(uintptr) bool // writes unread, without waiting; made once

	mu       sync.Mutex
	closed   bool          // takes no more
	failed   bool          // gives up what it has
	unread   []byte        // to be written; nil while there is nothing
	memory   *[]byte       // of outletMemory, beneath unread
	written  int           // bytes of unread that the last attempt wrote
	inFlight int           // bytes that the flusher has taken out of unread
	drained  chan struct{} // closed when the flusher ends; nil while there is none
}

// outletMemory is what messages wait in. Most clients read at once, so that few
// outlets hold any of it at a time.
var outletMemory = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

// memoryKept is how large a buffer may be that is used again.
const memoryKept = 64 << 10

func newOutlet(conn net.Conn, early []byte, owner *socket) *outlet {
	conn = bare(conn)
	o := &outlet{Conn: conn, early: early, owner: owner}
	if system, ok := conn.(syscall.Conn); ok && canWriteNow {
		o.raw, _ = system.SyscallConn() // without it everything goes through the flusher
	}
	o.attempt = func(fd uintptr) bool {
		o.written = writeNow(fd, o.unread)
		return true
	}
	return o
}

// Read counts the client's frames on their way to the WebSocket library.
func (o *outlet) Read(p []byte) (n int, err error) {
	if len(o.early) > 0 {
		n = copy(p, o.early)
		o.early = o.early[n:]
	} else {
		n, err = o.Conn.Read(p)
	}
	if n > 0 {
		o.owner.touch(o.owner.gateway.cfg.Now())
		o.owner.frames.pass(p[:n])
	}
	return n, err
}

// put takes a message whole, to be sent at the next push. The first of several is
// the one whose caller must see to that. When there is no room the error is
// errFull, and room is closed when it is worth asking again.
func (o *outlet) put(kind websocket.MessageType, body []byte) (first bool, room <-chan struct{}, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return false, nil, net.ErrClosed
	}
	if o.overfull(len(body)) {
		if err := o.write(); err != nil {
			return false, nil, err
		}
		if o.drained != nil && o.overfull(len(body)) {
			return false, o.drained, errFull
		}
	}
	first = o.drained == nil && len(o.unread) == 0
	o.reserve()
	o.unread = appendMessage(o.unread, kind, body)
	return first, nil, nil
}

// overfull tells whether so many bytes more are too many.
func (o *outlet) overfull(more int) bool {
	kept := len(o.unread) + o.inFlight
	return kept > 0 && kept+more > maxUnread
}

// push sends what was put down.
func (o *outlet) push() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.write()
}

// Write takes a frame of the WebSocket library whole, or fails because the
// connection is closed. It asks for no room: too many answers to a client's pings
// end the connection. Nothing comes after a close frame.
func (o *outlet) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.closed:
		return 0, net.ErrClosed
	case len(o.unread)+o.inFlight > 2*maxUnread:
		return 0, errFull
	}
	o.reserve()
	o.unread = append(o.unread, p...)
	o.closed = isClose(p)
	if err := o.write(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// write has the system take what it takes of unread, and starts a flusher for the
// rest. The caller holds o.mu.
func (o *outlet) write() error {
	if o.drained != nil || len(o.unread) == 0 {
		return nil
	}
	o.written = 0
	if o.raw != nil {
		if err := o.raw.Write(o.attempt); err != nil {
			o.release()
			return err
		}
	}
	if o.written == len(o.unread) {
		o.release()
		return nil
	}
	o.unread = append(o.unread[:0], o.unread[o.written:]...)
	o.drained = make(chan struct{})
	o.owner.tasks.Go(o.flush) // whoever ends the connection closes it before waiting for tasks
	return nil
}

func (o *outlet) reserve() {
	if o.unread == nil {
		o.memory = outletMemory.Get().(*[]byte)
		o.unread = *o.memory
	}
}

func (o *outlet) release() {
	if cap(o.unread) <= memoryKept {
		*o.memory = o.unread[:0]
		outletMemory.Put(o.memory)
	}
	o.unread, o.memory = nil, nil
}

// flush writes what is kept until nothing is.
func (o *outlet) flush() {
	for {
		batch := o.take()
		if batch == nil {
			return
		}
		for piece := range slices.Chunk(batch, flushPiece) {
			if err := o.writePiece(piece); err != nil {
				o.owner.end(failure(err))
				o.abort()
				break
			}
		}
		o.mu.Lock()
		o.inFlight = 0
		o.mu.Unlock()
	}
}

func (o *outlet) writePiece(piece []byte) error {
	if err := o.SetWriteDeadline(time.Now().Add(o.owner.gateway.cfg.SocketLimits.Write)); err != nil {
		return err
	}
	_, err := o.Conn.Write(piece)
	return err
}

// failure is why a client cannot be written to.
func failure(err error) ending {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return unread
	}
	return lost
}

// take returns what there is to write; nil when there is none, which ends the
// flusher.
func (o *outlet) take() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	batch := o.unread
	o.unread, o.memory = nil, nil
	if o.failed || len(batch) == 0 {
		_ = o.SetWriteDeadline(time.Time{}) // writes without waiting heed it too
		close(o.drained)
		o.drained = nil
		return nil
	}
	o.inFlight = len(batch)
	return batch
}

// lastWords is how long a client has to read what was sent before the end.
const lastWords = time.Second

// Close closes the connection, after a moment for what is kept: the last of it is
// the close frame.
func (o *outlet) Close() error {
	o.mu.Lock()
	o.closed = true
	_ = o.write() // whoever put something down may come too late; a failure is the end that this is
	drained := o.drained
	o.mu.Unlock()
	if drained != nil {
		patience := time.NewTimer(lastWords)
		defer patience.Stop()
		select {
		case <-drained:
		case <-patience.C:
		}
	}
	return o.Conn.Close()
}

// abort closes the connection at once. A flusher under way ends.
func (o *outlet) abort() {
	o.mu.Lock()
	o.closed, o.failed = true, true
	o.mu.Unlock()
	_ = o.Conn.Close()
}
