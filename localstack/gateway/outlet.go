package gateway

import (
	"net"
	"slices"
	"sync"
	"syscall"
	"time"
)

// maxUnread bounds what waits for a client that does not read, beyond what the
// system holds for it. One message of any size is always taken when nothing waits.
const maxUnread = 128 << 10

// flushPiece is how much a slow client must read within the write timeout.
const flushPiece = 8 << 10

// outlet is a client's connection whose Write never waits for the client. What
// the system takes at once is gone with one system call from the caller's own
// goroutine. The rest is kept, and a goroutine that lives only as long as
// something is kept writes it, giving the client a limited time to read.
type outlet struct {
	net.Conn
	raw    syscall.RawConn // nil where the connection cannot be written to without waiting
	owner  *socket
	early  []byte // of the client, read before the outlet was there
	before func(uintptr) bool

	mu       sync.Mutex
	closed   bool          // takes no more
	failed   bool          // gives up what it has
	unread   []byte        // to be written
	spare    []byte        // memory of what was unread before
	inFlight int           // bytes that the flusher has taken out of unread
	drained  chan struct{} // closed when the flusher ends; nil while there is none

	// The operands of a write without waiting, which goes through a function
	// that is made once: before.
	now     []byte
	written int
}

func newOutlet(conn net.Conn, early []byte, owner *socket) *outlet {
	conn = bare(conn)
	o := &outlet{Conn: conn, early: early, owner: owner}
	if system, ok := conn.(syscall.Conn); ok && canWriteNow {
		o.raw, _ = system.SyscallConn() // without it everything goes through the flusher
	}
	o.before = func(fd uintptr) bool {
		o.written = writeNow(fd, o.now)
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

// room is nil when n bytes can be written now, and otherwise closed when it is
// worth asking again.
func (o *outlet) room(n int) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept := len(o.unread) + o.inFlight
	if o.drained == nil || kept+n <= maxUnread {
		return nil
	}
	return o.drained
}

// Write takes all of p, or fails because the connection is closed. Who writes asks
// for room before; what is written without asking, the answers to a client's
// pings, ends the connection when it gets too much.
func (o *outlet) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return 0, net.ErrClosed
	}
	n := 0
	if o.drained == nil && o.raw != nil {
		o.now, o.written = p, 0
		err := o.raw.Write(o.before)
		o.now = nil
		if err != nil {
			return 0, err
		}
		if n = o.written; n == len(p) {
			return n, nil
		}
	}
	if len(o.unread)+o.inFlight > 2*maxUnread {
		return n, errFull
	}
	o.unread = append(o.unread, p[n:]...)
	if o.drained == nil {
		o.drained = make(chan struct{})
		o.owner.tasks.Go(o.flush) // whoever ends the connection closes it before waiting for tasks
	}
	return len(p), nil
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
				o.owner.end(unread)
				o.abort()
				break
			}
		}
		o.mu.Lock()
		o.inFlight, o.spare = 0, batch[:0]
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

// take returns what there is to write; nil when there is none, which ends the
// flusher.
func (o *outlet) take() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed || len(o.unread) == 0 {
		_ = o.SetWriteDeadline(time.Time{}) // writes without waiting heed it too
		o.unread, o.spare = nil, nil        // most clients never need it again
		close(o.drained)
		o.drained = nil
		return nil
	}
	batch := o.unread
	o.unread, o.inFlight = o.spare, len(batch)
	return batch
}

// lastWords is how long a client has to read what was sent before the end.
const lastWords = time.Second

// Close closes the connection, after a moment for what is kept: the last of it is
// the close frame.
func (o *outlet) Close() error {
	o.mu.Lock()
	o.closed = true
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
