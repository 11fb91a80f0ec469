package hub

import (
	"context"
	"errors"
	"sync"
	"time"
)

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
				h.ready.release(s, nil)
			}
		}
		s.mu.Unlock()
	}
}

// sender sends one frame at a time.
type sender struct {
	hub  *Hub
	wake chan struct{} // holds one: a sender is woken once each time it is idle

	onFailing bool // serves a connection whose last frame failed; ready.mu
	admitted  bool // the sink may be called once

	mu        sync.Mutex
	posting   bool
	age       int // looks of the pool at the current frame
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
	var served *conn // waits for its next turn
	for {
		c := s.choose(ctx, served)
		if c == nil {
			return
		}
		served = nil
		it, ok := c.dequeue()
		if !ok {
			continue // idle: the next frame puts it into the ready list
		}
		if it.kind == endItem {
			s.hub.drop(c, ErrFinished)
			continue
		}
		if it.kind == snapshotItem && it.frame == nil && !it.sub.dequeue(&it) {
			served = c
			continue
		}
		s.admitted = false
		replaced, err := s.post(ctx, c, s.hub.shown(&it))
		if s.finish(ctx, c, it, err) {
			served = c
		}
		if replaced {
			s.hub.ready.release(s, served)
			return
		}
	}
}

// choose waits for a connection of which a frame may be sent, after it put back the one that
// was served, which may be nil. It returns nil at the end.
func (s *sender) choose(ctx context.Context, served *conn) *conn {
	h := s.hub
	if s.admitted || h.config.Admit == nil {
		h.ready.awake.Add(1)
		return h.ready.take(s, served)
	}
	h.ready.release(s, served)
	h.admission <- struct{}{}
	defer func() { <-h.admission }()
	h.ready.awake.Add(1)
	c := h.ready.take(s, nil)
	if c == nil || h.config.Admit(ctx) != nil {
		return nil
	}
	s.admitted = true
	return c
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
	defer s.mu.Unlock()
	s.posting = false
	return s.replaced, err
}

// finish notes what became of a frame, and reports whether the connection may have
// its next turn without a rest.
func (s *sender) finish(ctx context.Context, c *conn, it item, err error) bool {
	switch {
	case err == nil:
		c.delivered(it)
		return true
	case ctx.Err() != nil:
		return false
	case errors.Is(err, ErrGone):
		c.abandon(it)
		s.hub.drop(c, err)
		return false
	case !c.undelivered(it, err):
		return true
	}
	rest := s.hub.rest.Delay(c.rests)
	if c.keepsWaiting(rest) {
		s.hub.drop(c, ErrOverflow)
		return false
	}
	next := time.Now().Add(rest)
	c.rests++
	c.failing = true
	s.hub.timers.add(next, func(time.Time) { s.hub.ready.put(c) })
	return false
}
