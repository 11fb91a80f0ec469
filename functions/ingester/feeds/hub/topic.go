package hub

import (
	"slices"
	"sync"
	"time"
)

// topic is a topic with at least one subscriber.
type topic struct {
	Topic
	hub  *Hub
	name string

	mu      sync.Mutex
	dead    bool // it lost its last subscriber and is not in the hub any more
	subs    []*subscription
	of      []follower // whose they are
	version uint64     // counts what was published

	held      []published     // what waits for Spacing; the last may be a State
	joining   []*subscription // whose snapshots wait for Spacing
	releasing bool            // a timer will send the first of held, and those snapshots
	paced     time.Time       // when the last state or snapshot was passed on

	last   []byte // what was published last, for Stale
	lastAt time.Time
}

// follower is somebody whose connections are subscribed to a topic.
type follower struct {
	of   string
	subs int
}

// count adds n subscriptions of somebody, of whom there are few. The caller holds t.mu.
func (t *topic) count(of string, n int) {
	i := slices.IndexFunc(t.of, func(f follower) bool { return f.of == of })
	if i < 0 {
		i = len(t.of)
		t.of = append(t.of, follower{of: of})
		t.followed(of, true)
	}
	if t.of[i].subs += n; t.of[i].subs == 0 {
		t.of = slices.Delete(t.of, i, i+1)
		t.followed(of, false)
	}
}

func (t *topic) followed(of string, follows bool) {
	if t.Followed != nil {
		t.Followed(of, follows)
	}
}

func (t *topic) appendFollowers(all []string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.of {
		all = append(all, f.of)
	}
	return all
}

type published struct {
	frame   []byte
	kind    Kind
	version uint64
	at      time.Time // when a late event happened
	place   int64     // in the order of all events, 0 for none
	whole   int64     // see item
}

// heldMost bounds the finals that wait for Spacing. They arrive once per closed
// bucket, so more than a few mean a replay, of which the newest are wanted.
const heldMost = 8

// beforeSnapshot is the version of a subscription that still waits for its snapshot.
const beforeSnapshot = ^uint64(0)

// join subscribes a connection, whose ctl the caller holds: with a snapshot, or behind what was
// replayed.
func (h *Hub) join(c *conn, name string, replayed bool) *subscription {
	for {
		t := h.openTopic(name)
		t.mu.Lock()
		if t.dead {
			t.mu.Unlock()
			h.forget(t)
			continue
		}
		s := &subscription{conn: c, topic: t, at: len(t.subs), from: t.version, replayed: replayed}
		t.subs = append(t.subs, s)
		t.count(c.Of, 1)
		idle := false
		if t.Snapshot != nil && !replayed {
			s.from = beforeSnapshot
			if t.mayPass(time.Now()) {
				idle = s.begin()
			} else {
				t.joining = append(t.joining, s)
				t.arm()
			}
		}
		t.mu.Unlock()
		if idle {
			h.ready.put(c)
		}
		return s
	}
}

// begin queues the snapshot of a subscription, and reports whether the connection was
// idle and must be put into the ready list. The caller holds topic.mu.
func (s *subscription) begin() bool {
	c := s.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	s.snapshot = true
	c.wait(s)
	return c.schedule()
}

func (h *Hub) openTopic(name string) *topic {
	h.topicsMu.RLock()
	t := h.topics[name]
	h.topicsMu.RUnlock()
	if t != nil {
		return t
	}
	t = &topic{Topic: h.config.Topic(name), hub: h, name: name, lastAt: time.Now()}
	h.topicsMu.Lock()
	defer h.topicsMu.Unlock()
	if other := h.topics[name]; other != nil {
		return other
	}
	h.topics[name] = t
	if t.Silence > 0 && t.Stale != nil {
		h.timers.add(t.lastAt.Add(t.Silence), t.checkSilence)
	}
	return t
}

func (h *Hub) forget(t *topic) {
	h.topicsMu.Lock()
	defer h.topicsMu.Unlock()
	if h.topics[t.name] == t {
		delete(h.topics, t.name)
	}
}

func (t *topic) leave(s *subscription) {
	t.mu.Lock()
	last := len(t.subs) - 1
	t.subs[s.at] = t.subs[last]
	t.subs[s.at].at = s.at
	t.subs[last] = nil
	t.subs = t.subs[:last]
	t.count(s.conn.Of, -1)
	t.dead = last == 0
	dead := t.dead

	c := s.conn
	c.mu.Lock()
	s.ended = true
	if s.waiting {
		c.states.remove(s)
	}
	c.mu.Unlock()
	t.mu.Unlock()
	if dead {
		t.hub.forget(t)
	}
}

func (t *topic) publish(frame []byte, kind Kind, place int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.version++
	if t.Silence > 0 {
		t.last, t.lastAt = frame, time.Now()
	}
	p := published{frame: frame, kind: kind, version: t.version, place: place}
	if t.Spacing <= 0 || kind == Event {
		t.deliver(p)
		return
	}
	t.hold(p)
}

func (t *topic) publishLate(frame []byte, at time.Time, place int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.version++
	t.deliver(published{frame: frame, kind: late, version: t.version, at: at, place: place})
}

func (t *topic) publishSnapshot(frames [][]byte, place int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, frame := range frames {
		t.version++
		p := published{frame: frame, kind: Event, version: t.version}
		if i == len(frames)-1 {
			p.whole = place
		}
		t.deliver(p)
	}
}

// hold passes a state on if the last one was long enough ago, and else keeps it
// until then.
func (t *topic) hold(p published) {
	if n := len(t.held); n > 0 && t.held[n-1].kind == State {
		t.held[n-1] = p
		return
	}
	if len(t.held) == 0 && t.mayPass(time.Now()) {
		t.deliver(p)
		return
	}
	if len(t.held) == heldMost {
		t.held = append(t.held[:0], t.held[1:]...)
	}
	t.held = append(t.held, p)
	t.arm()
}

// mayPass reports whether Spacing lets a state or a snapshot pass, and counts it as
// passed.
func (t *topic) mayPass(now time.Time) bool {
	if t.Spacing <= 0 {
		return true
	}
	if now.Sub(t.paced) < t.Spacing {
		return false
	}
	t.paced = now
	return true
}

// arm has release called when Spacing lets the next pass.
func (t *topic) arm() {
	if !t.releasing {
		t.releasing = true
		t.hub.timers.add(t.paced.Add(t.Spacing), t.release)
	}
}

// release is called when the time has come for what is held and for the snapshots of
// those who joined since. All pass together, so joining delays nobody's states: the
// topic has one beat for all its subscribers.
func (t *topic) release(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.releasing = false; t.dead || len(t.held)+len(t.joining) == 0 {
		return
	}
	t.paced = now
	for _, s := range t.joining {
		if !s.ended && s.begin() {
			t.hub.ready.put(s.conn)
		}
	}
	clear(t.joining)
	t.joining = t.joining[:0]
	if len(t.held) > 0 {
		p := t.held[0]
		t.held = append(t.held[:0], t.held[1:]...)
		t.deliver(p)
	}
	if len(t.held) > 0 {
		t.arm()
	}
}

// checkSilence is called when the topic may have been silent for too long.
func (t *topic) checkSilence(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dead {
		return
	}
	next := t.lastAt.Add(t.Silence)
	if !now.Before(next) {
		next = now.Add(t.Silence)
		if t.last != nil {
			if frame := t.Stale(t.last); frame != nil {
				t.version++
				t.deliver(published{frame: frame, kind: State, version: t.version})
			}
		}
	}
	t.hub.timers.add(next, t.checkSilence)
}

// readyBatch is how many connections a publisher wakes at a time: a batch costs
// one lock, and the first subscribers need not wait for the last.
const readyBatch = 32

// deliver queues a frame for every subscriber that does not know it yet. The
// caller holds t.mu.
func (t *topic) deliver(p published) {
	var first, last *conn
	n := 0
	for _, s := range t.subs {
		if p.version <= s.from || p.kind == late && !s.wantsLate(p.at) || !s.conn.push(s, &p) {
			continue
		}
		c := s.conn
		if c.next = nil; first == nil {
			first = c
		} else {
			last.next = c
		}
		last = c
		if n++; n == readyBatch {
			t.hub.ready.put(first)
			first, n = nil, 0
		}
	}
	if first != nil {
		t.hub.ready.put(first)
	}
}

// wantsLate reports whether an event that happened long ago is for a subscription: for one that
// began with what came before, and on a topic without snapshots for who was connected then.
func (s *subscription) wantsLate(at time.Time) bool {
	return s.replayed || s.topic.Snapshot == nil && !s.conn.At.After(at)
}

// dequeue takes the frames with which a subscription starts, and reports whether there
// are any. What is published from then on is for the subscription.
func (s *subscription) dequeue(it *item) bool {
	t := s.topic
	if t.Guard != nil {
		t.Guard.Lock()
		defer t.Guard.Unlock()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.ended {
		return false
	}
	s.from = t.version
	frames := t.Snapshot()
	if len(frames) == 0 {
		return false
	}
	if t.Silence > 0 && t.last == nil {
		t.last = frames[0]
	}
	it.frame, it.rest = frames[0], frames[1:]
	if t.Place != nil {
		it.whole = t.Place()
	}
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	s.conn.mark(it)
	return true
}
