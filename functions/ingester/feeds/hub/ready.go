package hub

import (
	"sync"
	"sync/atomic"
)

// ready holds the connections that have something to send and the senders that
// wait for one. Owners have their turns, however many connections each has. Connections
// whose last frame failed are kept apart: they may hold up a part of the senders only, so
// those that fail again and again cannot take the turns of the others.
type ready struct {
	mu         sync.Mutex
	healthy    laneList
	failing    laneList
	onFailing  int // senders that serve one of failing
	maxFailing int // senders that may
	takes      int
	idle       []*sender // the last one to become idle is the first to be woken
	closed     bool

	// awake counts the senders that are about to take something. While they are as
	// many as can run, it is in vain to wake another, and worse: a sender that waits
	// for a processor keeps the connection that it serves waiting.
	awake atomic.Int32
	runs  int32 // senders that can run at a time
}

// failingTurn is how often a failing connection goes before a healthy one.
const failingTurn = 8

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

// take waits for a connection, after it put back the one that was served, which may
// be nil. It returns nil when the list is closed. The caller counts as awake before,
// and not after.
func (r *ready) take(s *sender, served *conn) *conn {
	r.mu.Lock()
	r.endFailing(s)
	if served != nil {
		r.append(served)
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
		return nil
	}
	var c *conn
	r.takes++
	if r.mayServeFailing() && (r.healthy.head == nil || r.takes%failingTurn == 0) {
		c = r.failing.pop()
		s.onFailing = true
		r.onFailing++
	} else {
		c = r.healthy.pop()
	}
	other := r.waker()
	r.mu.Unlock()
	other.rouse()
	return c
}

// release puts back the connection that was served, which may be nil, and lets another
// sender serve a failing one in the place of s.
func (r *ready) release(s *sender, served *conn) {
	r.mu.Lock()
	r.endFailing(s)
	if served != nil {
		r.append(served)
	}
	other := r.waker()
	r.mu.Unlock()
	other.rouse()
}

func (r *ready) endFailing(s *sender) {
	if s.onFailing {
		s.onFailing = false
		r.onFailing--
	}
}

func (r *ready) append(c *conn) {
	if c.failing {
		r.failing.push(&c.owner.failing, c)
	} else {
		r.healthy.push(&c.owner.healthy, c)
	}
}

func (r *ready) any() bool { return r.healthy.head != nil || r.mayServeFailing() }

func (r *ready) mayServeFailing() bool {
	return r.failing.head != nil && r.onFailing < r.maxFailing
}

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

// owner is somebody who has connections.
type owner struct {
	conns            int  // Hub.connsMu
	healthy, failing lane // ready.mu
}

// lane is what is ready of one owner.
type lane struct {
	connList
	next *lane // in a list of lanes, in which it is while it holds a connection
}

// laneList is a round of lanes, linked by next: one connection of each has its turn.
type laneList struct{ head, tail *lane }

func (l *laneList) push(of *lane, c *conn) {
	first := of.head == nil
	of.push(c)
	if first {
		l.append(of)
	}
}

func (l *laneList) append(of *lane) {
	if of.next = nil; l.tail == nil {
		l.head = of
	} else {
		l.tail.next = of
	}
	l.tail = of
}

// pop returns nil when there is none.
func (l *laneList) pop() *conn {
	of := l.head
	if of == nil {
		return nil
	}
	c := of.pop()
	if of.head != nil && of.next == nil {
		return c // nobody else waits
	}
	if l.head = of.next; l.head == nil {
		l.tail = nil
	}
	of.next = nil
	if of.head != nil {
		l.append(of)
	}
	return c
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
