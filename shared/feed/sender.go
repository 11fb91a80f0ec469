package feed

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
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

// take waits for a connection, after it put back the one that s had if there is
// any. It returns nil when the list is closed. The caller is awake before, and not
// after.
func (r *ready) take(s *sender, back *conn) *conn {
	r.mu.Lock()
	r.release(s)
	if back != nil {
		r.append(back)
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
	r.takes++
	var c *conn
	if r.mayDoubt() && (r.sound.head == nil || r.takes%doubtfulTurn == 0) {
		c = r.doubtful.pop()
		s.doubting = true
		r.out++
	} else {
		c = r.sound.pop()
	}
	other := r.waker()
	r.mu.Unlock()
	other.rouse()
	return c
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

func (l *connList) pop() *conn {
	c := l.head
	if l.head = c.next; l.head == nil {
		l.tail = nil
	}
	c.next = nil
	return c
}

// pool owns the senders. It looks at them at intervals, so that a sender need
// not ask the time for every frame.
type pool struct {
	running sync.WaitGroup

	mu      sync.Mutex
	senders map[*sender]bool
	slow    int // senders that were replaced and are still held up
}

// ticks is how many looks make a sender held up.
const ticks = 4

// interval is the time between two looks.
func (c *Config) interval() time.Duration { return max(c.SlowAfter/ticks, time.Millisecond) }

func (p *pool) run(ctx context.Context, h *Hub) {
	p.senders = map[*sender]bool{}
	p.mu.Lock()
	for range h.config.Senders {
		p.start(ctx, h)
	}
	p.mu.Unlock()
	every := time.NewTicker(h.config.interval())
	defer every.Stop()
	for {
		select {
		case <-every.C:
			p.look(ctx, h)
		case <-ctx.Done():
			h.ready.close()
			p.running.Wait()
			return
		}
	}
}

// start adds a sender. The caller holds p.mu.
func (p *pool) start(ctx context.Context, h *Hub) {
	s := &sender{hub: h, wake: make(chan struct{}, 1)}
	p.senders[s] = true
	p.running.Go(func() {
		s.run(ctx)
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.senders, s)
		if s.replaced {
			p.slow--
		}
	})
}

// look replaces senders that are held up, and frees those that nobody can
// replace or that were held up for too long.
func (p *pool) look(ctx context.Context, h *Hub) {
	p.mu.Lock()
	defer p.mu.Unlock()
	timeout := int(h.config.Timeout / h.config.interval())
	for s := range p.senders {
		s.mu.Lock()
		if s.posting {
			s.age++
		}
		if s.posting && s.age > ticks {
			switch {
			case s.age > timeout, !s.replaced && p.slow >= h.config.SlowSenders:
				s.cancel()
				s.cancelled = true
			case !s.replaced:
				s.replaced = true
				p.slow++
				p.start(ctx, h)
				h.ready.giveUp(s)
			}
		}
		s.mu.Unlock()
	}
}

// sender sends one frame at a time.
type sender struct {
	hub  *Hub
	wake chan struct{} // holds one: a sender is woken once each time it is idle

	doubting bool // has a doubtful connection in hand; ready.mu

	mu        sync.Mutex
	posting   bool
	age       int // looks of the pool at the frame at hand
	replaced  bool
	ctx       context.Context // of the calls of the sink until one is abandoned
	cancel    context.CancelFunc
	cancelled bool
}

func (s *sender) rouse() {
	if s != nil {
		s.wake <- struct{}{}
	}
}

// run ends with ctx, or when the sender was replaced.
func (s *sender) run(ctx context.Context) {
	s.ctx, s.cancel = context.WithCancel(ctx)
	defer func() { s.cancel() }()
	var back *conn
	for {
		s.hub.ready.awake.Add(1)
		c := s.hub.ready.take(s, back)
		if c == nil {
			return
		}
		back = c
		it, ok := c.take()
		if !ok {
			back = nil
			continue
		}
		if it.kind == snapshotItem && it.frame == nil {
			if it.frame = it.sub.take(); it.frame == nil {
				continue
			}
		}
		replaced, err := s.post(ctx, c, it.frame)
		if err == nil {
			c.delivered()
			c.tries, c.rests, c.doubtful = 0, 0, false
		} else if !s.settle(ctx, c, it, err) {
			back = nil
		}
		if replaced {
			if back != nil {
				s.hub.ready.put(back)
			}
			s.hub.ready.giveUp(s)
			return
		}
	}
}

func (s *sender) post(ctx context.Context, c *conn, frame []byte) (replaced bool, err error) {
	s.mu.Lock()
	if s.cancelled {
		s.ctx, s.cancel = context.WithCancel(ctx)
		s.cancelled = false
	}
	s.posting, s.age = true, 0
	call := s.ctx
	s.mu.Unlock()
	err = s.hub.config.Sink.Post(call, c.Conn, frame)
	s.mu.Lock()
	s.posting = false
	replaced = s.replaced
	s.mu.Unlock()
	return replaced, err
}

// settle decides what becomes of a frame that was not delivered, and reports
// whether its connection may have its next turn without a rest.
func (s *sender) settle(ctx context.Context, c *conn, it item, err error) bool {
	keep := it.kind == stateItem || it.kind == snapshotItem
	switch {
	case ctx.Err() != nil:
		return false
	case errors.Is(err, ErrGone):
		s.hub.drop(c, err)
		return false
	case errors.Is(err, ErrRejected):
		c.failed(it, false)
		c.tries = 0
		return true
	case errors.Is(err, ErrBusy):
		c.tries++
		keep = keep || c.tries < s.hub.config.Tries
	}
	if c.failed(it, keep); !keep {
		c.tries = 0
	}
	c.rests++
	c.doubtful = true
	rest := restFor(s.hub.restLeast, c.rests)
	s.hub.timers.add(time.Now().Add(rest), func(time.Time) { s.hub.ready.put(c) })
	return false
}

// The rest of a connection after a failure: doubled each time, and half of it
// left to chance, so that those who failed together do not return together.
const (
	restLeast = 50 * time.Millisecond
	restMost  = 5 * time.Second
)

func restFor(least time.Duration, failures int) time.Duration {
	d := min(least<<min(failures-1, 10), restMost)
	return d/2 + rand.N(d/2)
}
