package hub

import (
	"errors"
	"sync"
	"time"
)

// conn is a connection and what waits for it. Replies, events, and states wait
// in three queues, since each is bounded in its own way; the turn that each
// entry drew brings them back into one order. Late events wait behind all of them.
type conn struct {
	Conn
	hub   *Hub
	owner *owner
	since time.Time

	ctl  sync.Mutex // orders subscribe, unsubscribe and close
	subs map[string]*subscription

	mu        sync.Mutex
	closed    bool
	scheduled bool // in the ready list, with a sender, or resting
	turn      uint64
	replies   ring
	events    ring
	states    stateList
	late      ring
	again     item              // what is to be sent before all else, where its frame is not nil: again, or as the next of a snapshot; never an event
	bytes     int               // of replies and events, late ones too
	pushed    int64             // place of the newest event that was queued and is not late
	held      int               // how much is about to be replayed, or being
	rested    time.Duration     // for how long the connection has rested meanwhile
	awaited   map[string]uint64 // topics of [Hub.Await]: the turn of that
	sent      uint64
	discarded uint64

	// These belong to whoever serves the connection: the publisher that found it
	// idle, then the ready list, a sender, or the timer that ends its rest.
	next    *conn // in the ready list
	tries   int   // how often the current event was refused
	rests   int   // how many rests there were since something was delivered
	failing bool  // nothing was delivered since something failed
}

// subscription ties a connection to a topic. While a state or the snapshot waits
// it is itself the entry in its connection's list of states.
type subscription struct {
	conn  *conn
	topic *topic
	at    int    // index in topic.subs; topic.mu
	from  uint64 // the topic's version that the client knows: later ones are for it; topic.mu

	replayed bool // it began behind what was replayed: late events of any time are for it

	ended    bool // topic.mu and conn.mu to write, either to read
	waiting  bool // conn.mu, as all below
	snapshot bool // what waits is the snapshot
	turn     uint64
	frame    []byte
	prev     *subscription
	next     *subscription
}

type itemKind uint8

const (
	replyItem itemKind = iota
	eventItem
	lateItem
	stateItem
	snapshotItem
	endItem // a reply without a frame: the connection ends
)

// item is a frame on its way.
type item struct {
	kind  itemKind
	turn  uint64
	sub   *subscription // nil for a reply
	frame []byte        // nil for a snapshot not yet taken
	rest  [][]byte      // of the snapshot or of what is replayed, after this frame

	place       int64   // in the order of all events, see [Hub.PublishAt]; 0 for none
	whole       int64   // of the last frame of a snapshot that lacks nothing: its place; else 0
	fresh, late int64   // how far the client has events with it, and with it late ones, where it is shown a cursor
	replay      *replay // nil: it is not replayed
}

// replay is frames that were published before, on their way.
type replay struct {
	Replayed
	places []int64 // of the frames that follow
	done   func()  // called when all were sent, or never will be
}

func (c *conn) subscribe(name string, reply []byte) error {
	c.ctl.Lock()
	defer c.ctl.Unlock()
	if c.subs == nil {
		c.subs = map[string]*subscription{}
	}
	if reply != nil {
		if err := c.reply(reply, 0); err != nil {
			return err
		}
	} else if c.isClosed() {
		return ErrUnknown
	}
	if c.subs[name] == nil {
		c.subs[name] = c.hub.join(c, name, false)
	}
	return nil
}

func (c *conn) unsubscribe(name string) bool {
	c.ctl.Lock()
	defer c.ctl.Unlock()
	s := c.subs[name]
	c.mu.Lock()
	delete(c.awaited, name)
	c.mu.Unlock()
	if s == nil {
		return false
	}
	delete(c.subs, name)
	s.topic.leave(s)
	return true
}

func (c *conn) close() {
	c.ctl.Lock()
	defer c.ctl.Unlock()
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	for _, s := range c.subs {
		s.topic.leave(s)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end(&c.again)
	for c.replies.n > 0 {
		it := c.replies.pop()
		c.end(&it)
	}
	c.subs, c.replies, c.events, c.late, c.again, c.bytes = nil, ring{}, ring{}, ring{}, item{}, 0
}

func (c *conn) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// end says that what is replayed was sent, or never will be. The caller holds c.mu.
func (c *conn) end(it *item) {
	if it.replay != nil {
		if c.held--; c.held == 0 {
			c.rested = 0
		}
		it.replay.done()
		it.replay = nil
	}
}

// replay subscribes to topics, without their snapshots, behind frames that were published
// before.
func (c *conn) replay(topics []string, r Replayed, done func()) error {
	c.ctl.Lock()
	defer c.ctl.Unlock()
	if c.isClosed() {
		return ErrUnknown
	}
	if c.subs == nil {
		c.subs = map[string]*subscription{}
	}
	it := item{kind: replyItem, replay: &replay{Replayed: r, done: done}}
	for _, name := range topics {
		if c.subs[name] == nil {
			c.subs[name] = c.hub.join(c, name, true)
		}
		if t := c.subs[name].topic; t.Place == nil || t.Place() != 0 {
			c.mu.Lock()
			delete(c.awaited, name) // from now on it is held
			c.mu.Unlock()
		}
		if len(topics) == 1 { // it ends with the subscription
			it.sub = c.subs[name]
		}
	}
	if len(r.Frames) == 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.end(&it)
		return nil
	}
	it.frame, it.rest, it.place, it.replay.places = r.Frames[0], r.Frames[1:], r.Places[0], r.Places[1:]
	return c.queue(it)
}

// await is [Hub.Await].
func (c *conn) await(topic string) {
	c.ctl.Lock()
	defer c.ctl.Unlock()
	if c.subs[topic] != nil {
		return // it has begun
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.awaited == nil {
		c.awaited = map[string]uint64{}
	}
	c.awaited[topic] = c.turn
}

// lacks reports whether something is awaited with which a cursor of a frame would do away. The
// caller holds c.mu.
func (c *conn) lacks(it *item) bool {
	if it.sub != nil {
		_, awaited := c.awaited[it.sub.topic.name]
		return awaited
	}
	for _, turn := range c.awaited {
		if it.turn > turn {
			return true
		}
	}
	return false
}

// hold has frames shown without a cursor until what is about to be replayed is sent.
func (c *conn) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held++
}

// reply queues a frame that must not be dropped.
func (c *conn) reply(frame []byte, place int64) error {
	return c.queue(item{kind: replyItem, frame: frame, place: place})
}

func (c *conn) queue(it item) error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return ErrUnknown
	}
	it.turn = c.draw()
	c.replies.push(it)
	c.bytes += len(it.frame)
	c.shed()
	full := c.replies.n > c.hub.config.Queue || c.bytes > c.hub.config.QueueBytes
	idle := c.schedule()
	c.mu.Unlock()
	if idle {
		c.hub.ready.put(c)
	}
	if full {
		return ErrOverflow
	}
	return nil
}

// finish queues the end of the connection behind what waits.
func (c *conn) finish() {
	c.mu.Lock()
	c.replies.push(item{kind: endItem, turn: c.draw()})
	idle := c.schedule()
	c.mu.Unlock()
	if idle {
		c.hub.ready.put(c)
	}
}

// push queues what was published, and reports whether the connection was idle
// and must be put into the ready list.
func (c *conn) push(s *subscription, p *published) bool {
	frame, kind := p.frame, p.kind
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	if kind == State {
		if s.frame = frame; s.waiting {
			return false
		}
		c.wait(s)
		return c.schedule()
	}
	if kind == late {
		c.late.push(item{kind: lateItem, sub: s, frame: frame, place: p.place})
	} else {
		if s.waiting && !s.snapshot {
			c.states.remove(s)
		}
		c.events.push(item{kind: eventItem, turn: c.draw(), sub: s, frame: frame, place: p.place, whole: p.whole})
		c.pushed = max(c.pushed, p.place)
	}
	c.bytes += len(frame)
	c.shed()
	return c.schedule()
}

// wait puts a subscription into the list of states. The caller holds c.mu.
func (c *conn) wait(s *subscription) {
	s.turn = c.draw()
	c.states.push(s)
}

func (c *conn) draw() uint64 {
	c.turn++
	return c.turn
}

func (c *conn) schedule() bool {
	idle := !c.scheduled
	c.scheduled = true
	return idle
}

// shed drops the oldest events, late ones first, until the rest is within the bounds.
func (c *conn) shed() {
	for _, queue := range [...]*ring{&c.late, &c.events} {
		for queue.n > 0 && (queue.n > c.hub.config.Queue || c.bytes > c.hub.config.QueueBytes) {
			dropped := queue.pop()
			c.bytes -= len(dropped.frame)
			if !dropped.sub.ended {
				c.discarded++
				if dropped.whole != 0 {
					delete(c.awaited, dropped.sub.topic.name) // as any event that is dropped
				}
			}
		}
	}
}

// dequeue returns what is to be sent next. It is false when nothing waits: then the
// connection is idle.
func (c *conn) dequeue() (item, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.closed {
		it, ok := c.first()
		if !ok {
			break
		}
		if it.sub != nil && it.sub.ended || it.kind == stateItem && it.sub.waiting {
			c.end(&it)
			continue // it was withdrawn, or a newer one waits
		}
		c.mark(&it)
		return it, true
	}
	c.scheduled = false
	return item{}, false
}

// mark notes how far the client has events once it has this frame: nowhere as long as there is
// something to replay beside it. All that was queued before a late one was sent before it, while
// late ones may wait behind all others.
func (c *conn) mark(it *item) {
	switch r := it.replay; {
	case it.whole != 0 && len(it.rest) == 0: // whatever waits beside it
		it.fresh, it.late = it.whole, it.whole
		delete(c.awaited, it.sub.topic.name)
	case it.place == 0:
	case r != nil && c.held == 1: // nothing but itself
		it.fresh, it.late = max(r.Fresh, it.place), max(r.Late, it.place)
	case c.held > 0 || len(c.awaited) > 0 && c.lacks(it):
		it.fresh = 0
	case it.kind == lateItem:
		it.fresh, it.late = max(c.pushed, it.place), it.place
	case c.late.n > 0:
		it.fresh, it.late = it.place, min(it.place, c.late.front().place-1)
	default:
		it.fresh, it.late = it.place, it.place
	}
}

// first removes the entry that drew the lowest turn, or else the first of the late
// events.
func (c *conn) first() (item, bool) {
	const none = ^uint64(0)
	if it := c.again; it.frame != nil {
		c.again = item{}
		return it, true
	}
	reply, event, state := none, none, none
	if c.replies.n > 0 {
		reply = c.replies.front().turn
	}
	if c.events.n > 0 {
		event = c.events.front().turn
	}
	if s := c.states.head; s != nil {
		state = s.turn
	}
	switch least := min(reply, event, state); least {
	case none:
		if c.late.n == 0 {
			return item{}, false
		}
		it := c.late.pop()
		c.bytes -= len(it.frame)
		return it, true
	case state:
		s := c.states.head
		it := item{kind: stateItem, turn: s.turn, sub: s, frame: s.frame}
		if s.snapshot {
			it.kind, it.frame, s.snapshot = snapshotItem, nil, false
		}
		c.states.remove(s)
		return it, true
	case reply:
		it := c.replies.pop()
		c.bytes -= len(it.frame)
		return it, true
	default:
		it := c.events.pop()
		c.bytes -= len(it.frame)
		return it, true
	}
}

// delivered notes that a frame arrived.
func (c *conn) delivered(it item) {
	c.tries, c.rests, c.failing = 0, 0, false
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent++
	c.advance(it)
}

// advance queues the next frame of a snapshot before all else. The caller holds c.mu.
func (c *conn) advance(it item) {
	if len(it.rest) > 0 && !c.closed {
		it.frame, it.rest = it.rest[0], it.rest[1:]
		if r := it.replay; r != nil {
			it.place, r.places = r.places[0], r.places[1:]
		}
		c.again = it
		return
	}
	c.end(&it)
}

// abandon gives up a frame of a connection that is gone.
func (c *conn) abandon(it item) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end(&it)
}

// undelivered decides what becomes of a frame that did not arrive, or of which nobody
// knows, and reports whether the connection must rest.
func (c *conn) undelivered(it item, err error) (rest bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case errors.Is(err, ErrRejected):
		c.discard(it)
		c.advance(it)
		return false
	case it.kind == stateItem, it.kind == snapshotItem, // whether it arrived or not
		errors.Is(err, ErrBusy) && (it.kind == replyItem || c.mayTry()):
		c.keep(it)
	default:
		c.discard(it)
		c.advance(it)
	}
	return true
}

// keepsWaiting notes a rest, and reports whether the connection has rested for too long while
// something is replayed to it, for which others wait.
func (c *conn) keepsWaiting(rest time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == 0 {
		return false
	}
	c.rested += rest
	return c.rested > c.hub.config.ReplayRest
}

// keep puts a frame back before all that waits.
func (c *conn) keep(it item) {
	switch {
	case c.closed:
		c.end(&it)
	case it.kind == eventItem, it.kind == lateItem:
		queue := &c.events
		if it.kind == lateItem {
			queue = &c.late
		}
		queue.unpop(it)
		c.bytes += len(it.frame)
		c.shed()
	default:
		c.again = it
	}
}

// mayTry counts a refusal of an event, and reports whether it may be sent again.
func (c *conn) mayTry() bool {
	c.tries++
	return c.tries < c.hub.config.Tries
}

// discard gives a frame up.
func (c *conn) discard(it item) {
	c.tries = 0
	if !c.closed && (it.sub == nil || !it.sub.ended) {
		c.discarded++
	}
}

func (c *conn) stats(now time.Time) Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Stats{
		Duration:  now.Sub(c.since),
		Sent:      c.sent,
		Discarded: c.discarded,
		QueueLen:  c.replies.n + c.events.n + c.late.n + c.states.n,
	}
	if known := s.Duration.Seconds(); known > 0 {
		s.PerSecond = float64(c.sent) / known
	}
	if !c.At.IsZero() {
		s.Duration = now.Sub(c.At)
	}
	if c.again.frame != nil {
		s.QueueLen += 1 + len(c.again.rest)
	}
	return s
}
