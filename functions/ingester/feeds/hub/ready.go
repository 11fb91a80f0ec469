package hub

import (
	"sync"
	"sync/atomic"
)

// ready holds the connections that have something to send and the senders that
// wait for one. Connections whose last frame failed are kept apart: they may hold
// up a part of the senders only, so those that fail again and again cannot take
// the turns of the others.
type ready struct {
	mu       sync.Mutex
	sound    connList
	doubtful connList
	most     int // senders that may have a doubtful connection in hand
	out      int // senders that have
	takes    int
	batch    int       // sound connections that a sender takes at a time, at most
	idle     []*sender // the last one to become idle is the first to be woken
	closed   bool

	// awake counts the senders that are about to take something. While they are as
	// many as can run, it is in vain to wake another, and worse: a sender that waits
	// for a processor keeps the connection that it has in hand waiting.
	awake atomic.Int32
	runs  int32 // senders that can run at a time
}

// doubtfulTurn is how often a doubtful connection goes before a sound one.
const doubtfulTurn = 8

// put appends a chain of connections, linked by next. A sender that takes one of
// several wakes the next sender, so the publisher wakes but one.
func (r *ready) put(first *conn) {
	r.mu.Lock()
	for c := first; c != nil; {
		next := c.next
		r.append(c)
		c = next
	}
	s := r.waker()
	r.mu.Unlock()
	s.rouse()
}

// take waits for connections and leaves them in s.hand, after it put back those in
// s.back. It is false when the list is closed. The caller is awake before, and not
// after.
func (r *ready) take(s *sender) bool {
	r.mu.Lock()
	r.release(s)
	for c := s.back.pop(); c != nil; c = s.back.pop() {
		r.append(c)
	}
	for !r.closed && !r.any() {
		r.idle = append(r.idle, s)
		r.awake.Add(-1)
		r.mu.Unlock()
		<-s.wake
		r.mu.Lock()
	}
	r.awake.Add(-1)
	if r.closed {
		r.mu.Unlock()
		return false
	}
	r.takes++
	if r.mayDoubt() && (r.sound.head == nil || r.takes%doubtfulTurn == 0) {
		s.hand.push(r.doubtful.pop())
		s.doubting = true
		r.out++
	} else {
		for n := 0; n < r.batch && r.sound.head != nil; n++ {
			s.hand.push(r.sound.pop())
		}
	}
	other := r.waker()
	r.mu.Unlock()
	other.rouse()
	return true
}

// giveBack puts the sound connections in s.hand back before all others.
func (r *ready) giveBack(s *sender) {
	if s.hand.head == nil {
		return
	}
	r.mu.Lock()
	s.hand.tail.next = r.sound.head
	if r.sound.head = s.hand.head; r.sound.tail == nil {
		r.sound.tail = s.hand.tail
	}
	s.hand = connList{}
	other := r.waker()
	r.mu.Unlock()
	other.rouse()
}

// giveUp lets others have the part of the senders that s took.
func (r *ready) giveUp(s *sender) {
	r.mu.Lock()
	r.release(s)
	other := r.waker()
	r.mu.Unlock()
	other.rouse()
}

func (r *ready) release(s *sender) {
	if s.doubting {
		s.doubting = false
		r.out--
	}
}

func (r *ready) append(c *conn) {
	if c.doubtful {
		r.doubtful.push(c)
	} else {
		r.sound.push(c)
	}
}

func (r *ready) any() bool      { return r.sound.head != nil || r.mayDoubt() }
func (r *ready) mayDoubt() bool { return r.doubtful.head != nil && r.out < r.most }

// waker returns an idle sender for whom there is work, or nil.
func (r *ready) waker() *sender {
	last := len(r.idle) - 1
	if last < 0 || !r.any() || r.awake.Load() >= r.runs {
		return nil
	}
	s := r.idle[last]
	r.idle = r.idle[:last]
	r.awake.Add(1)
	return s
}

func (r *ready) close() {
	r.mu.Lock()
	idle := r.idle
	r.idle, r.closed = nil, true
	r.mu.Unlock()
	for _, s := range idle {
		r.awake.Add(1)
		s.rouse()
	}
}

// connList is first in, first out, linked by next.
type connList struct{ head, tail *conn }

func (l *connList) push(c *conn) {
	if c.next = nil; l.tail == nil {
		l.head = c
	} else {
		l.tail.next = c
	}
	l.tail = c
}

// pop returns nil when there is none.
func (l *connList) pop() *conn {
	c := l.head
	if c == nil {
		return nil
	}
	if l.head = c.next; l.head == nil {
		l.tail = nil
	}
	c.next = nil
	return c
}
