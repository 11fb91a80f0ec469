package hub

import (
	"context"
	"math/rand/v2"
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
				h.ready.giveUp(s)
			}
		}
		s.mu.Unlock()
	}
}

// sender sends one batch at a time: of one frame where the sink takes no more.
type sender struct {
	hub  *Hub
	wake chan struct{} // holds one: a sender is woken once each time it is idle

	doubting bool // has a doubtful connection in hand; ready.mu

	hand, back connList // connections whose turn it is, and those that had it and wait for the next
	turns      []turn
	items      []item
	batch      []Delivery // of items

	mu        sync.Mutex
	posting   bool
	age       int // looks of the pool at the batch at hand
	replaced  bool
	ctx       context.Context // of the calls of the sink until one is abandoned
	cancel    context.CancelFunc
	cancelled bool
}

// turn is what a connection has in a batch.
type turn struct {
	conn  *conn
	items int
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
	for {
		s.hub.ready.awake.Add(1)
		if !s.hub.ready.take(s) {
			return
		}
		if s.collect(); len(s.batch) == 0 {
			continue
		}
		replaced := s.post(ctx)
		s.settle(ctx)
		if replaced {
			if s.back.head != nil {
				s.hub.ready.put(s.back.head)
			}
			s.hub.ready.giveUp(s)
			return
		}
	}
}

// collect makes a batch of what the connections in hand have to send.
func (s *sender) collect() {
	clear(s.batch)
	s.turns, s.items, s.batch = s.turns[:0], s.items[:0], s.batch[:0]
	for most := s.hub.config.Sink.Batch(); len(s.items) < most; {
		c := s.hand.pop()
		if c == nil {
			return
		}
		before := len(s.items)
		s.items = c.take(s.items, most-before)
		n := len(s.items) - before
		if n == 0 {
			continue
		}
		if it := &s.items[before]; it.kind == snapshotItem && it.frame == nil {
			if it.frame = it.sub.take(); it.frame == nil {
				s.items = s.items[:before]
				s.back.push(c)
				continue
			}
		}
		s.turns = append(s.turns, turn{c, n})
		for _, it := range s.items[before:] {
			s.batch = append(s.batch, Delivery{Conn: c.Conn, Frame: it.frame})
		}
	}
	s.hub.ready.giveBack(s)
}

func (s *sender) post(ctx context.Context) (replaced bool) {
	s.mu.Lock()
	if s.cancelled {
		s.ctx, s.cancel = context.WithCancel(ctx)
		s.cancelled = false
	}
	s.posting, s.age = true, 0
	call := s.ctx
	s.mu.Unlock()
	s.hub.config.Sink.PostAll(call, s.batch)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posting = false
	return s.replaced
}

// settle leaves the connections in s.back that may have their next turn without a
// rest.
func (s *sender) settle(ctx context.Context) {
	items, batch := s.items, s.batch
	for _, t := range s.turns {
		if s.settleTurn(ctx, t.conn, items[:t.items], batch[:t.items]) {
			s.back.push(t.conn)
		}
		items, batch = items[t.items:], batch[t.items:]
	}
}

// settleTurn reports whether a connection may have its next turn without a rest.
func (s *sender) settleTurn(ctx context.Context, c *conn, items []item, got []Delivery) bool {
	failed := false
	for i := range got {
		failed = failed || got[i].Err != nil
	}
	if !failed {
		c.delivered(len(got))
		return true
	}
	if ctx.Err() != nil {
		return false
	}
	rest, gone := c.settle(items, got)
	switch {
	case gone != nil:
		s.hub.drop(c, gone)
		return false
	case !rest:
		return true
	}
	c.rests++
	c.doubtful = true
	next := time.Now().Add(restFor(s.hub.restLeast, c.rests))
	s.hub.timers.add(next, func(time.Time) { s.hub.ready.put(c) })
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
