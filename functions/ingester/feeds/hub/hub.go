package hub

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"quotary/shared/backoff"
)

// Conn is a client's connection, which the sink can reach.
type Conn struct {
	ID       string    // the connection id that the gateway gave
	Endpoint string    // the management URL of the API that holds it: https://host/stage
	At       time.Time // when the client connected
	Of       string    // whose client it is, see [Hub.Followers]
}

// A Sink delivers frames to connections. It may be called by many goroutines,
// but for one connection by one at a time.
type Sink interface {
	// Post delivers a frame. It must return soon after ctx is done, must not change
	// the frame, and must not keep it after it returns.
	//
	// The error is nil when the client was given the frame; it is, or wraps, [ErrGone]
	// when the connection does not exist any more, [ErrBusy] when the frame was
	// certainly not delivered but may be later, [ErrRejected] when this frame never
	// will be. After any other error nobody knows.
	Post(ctx context.Context, c Conn, frame []byte) error
}

var (
	// ErrGone says that a connection is closed for good.
	ErrGone = errors.New("connection gone")
	// ErrBusy says that a frame was not delivered and may be tried again.
	ErrBusy = errors.New("frame refused for now")
	// ErrRejected says that a frame will never be delivered, though others may.
	ErrRejected = errors.New("frame rejected")
	// ErrOverflow says that a connection let too many replies wait, which unlike
	// events cannot be dropped, or what is replayed to it for too long.
	ErrOverflow = errors.New("too many replies waiting")
	// ErrFinished says that all was sent to a connection that was to end then.
	ErrFinished = errors.New("connection finished")
	// ErrUnknown says that the hub knows no such connection.
	ErrUnknown = errors.New("unknown connection")
)

// Kind says what may happen to a frame that has to wait.
type Kind uint8

// The kinds of frames. A topic carries either events or states and finals.
const (
	// State is the present state of something, as a book or an open candle: the
	// newer one replaces it.
	State Kind = iota
	// Event is something that happened, as a trade: all are sent, the oldest is
	// dropped when too many wait.
	Event
	// Final is a last state, as a closed candle: it replaces the [State] that
	// waits and is then kept like an event.
	Final
	// late is an event of [Hub.PublishLate].
	late
)

// Topic is what the hub must know of a topic.
type Topic struct {
	// Snapshot returns the frames with which a subscription starts, in order, or none
	// where there is nothing yet. It must not call the hub. Without it, a subscription
	// starts with what is published next.
	Snapshot func() [][]byte
	// Guard is the lock under which the publisher changes what Snapshot reads and
	// calls [Hub.Publish]. The hub holds it while it takes a snapshot, so that
	// what the snapshot shows is what was published. It may be shared by topics.
	Guard sync.Locker
	// Place is up to which place in the order of all events who has the snapshot has those of the
	// topic, 0 where it lacks some: see [Hub.Await]. It is called under Guard, after Snapshot, and
	// must not call the hub. nil: the topic has no such events.
	Place func() int64
	// Spacing is the least time between two states, of which a snapshot is one: what
	// comes too early waits, and the newest waiting is sent when the time has come.
	// 0: none.
	Spacing time.Duration
	// Followed is called when the first connection of somebody ([Conn.Of]) has subscribed,
	// and when the last one has left: of a topic, one call after the other. It must not
	// call the hub. nil: nobody wants to know.
	Followed func(of string, follows bool)
	// Silence is how long nothing may be published before the last frame is sent
	// again as Stale changes it, then again after as long a time. 0: never.
	Silence time.Duration
	// Stale marks a frame as old: it returns a new frame, or nil for none. It must
	// not call the hub.
	Stale func(last []byte) []byte
}

// Single is the snapshot that one frame is, or no snapshot where the frame is nil.
func Single(frame []byte) [][]byte {
	if frame == nil {
		return nil
	}
	return [][]byte{frame}
}

// Config says how a [Hub] works. Only Sink is needed; 0 stands for the default.
type Config struct {
	Sink Sink
	// Admit waits until the sink may be called once more; nil: it always may. It is
	// asked before a frame is chosen, so that what is sent is as young as can be, and
	// once at a time, so that few connections go before one that has just become ready.
	// Its error is that of ctx. What it admitted may be used late, by one call for each
	// sender at most.
	Admit func(ctx context.Context) error
	// Topic describes a topic by its name. It is called when the topic gets its
	// first subscriber, and again when it gets one after it had none.
	Topic func(name string) Topic
	// Cursor is the text by which a client names how far it has the events of a topic, or of
	// any for "": see [Hub.PublishAt]. A frame with a place is sent with it, as the member
	// cursor. nil: none is.
	Cursor func(topic string, fresh, late int64) string
	// Gone is called once with each connection that the hub removed by itself, and
	// why: [ErrGone], [ErrOverflow] or [ErrFinished]. A sender calls it, or
	// [Hub.Subscribe] or [Hub.Send], holding no lock.
	Gone func(c Conn, why error)

	Senders     int           // goroutines that send: 128; a quarter of them may serve connections whose last frame failed
	SlowSenders int           // how many more, while senders are held up: 128
	SlowAfter   time.Duration // from when on a sender counts as held up: 250 ms
	Timeout     time.Duration // when a frame is abandoned: 5 s
	Queue       int           // events, late ones, and replies that wait for a connection: 1024 of each
	QueueBytes  int           // bytes of events and replies that wait for a connection: 1 MiB
	Tries       int           // how often an event is sent that is refused with ErrBusy: 5
	ReplayRest  time.Duration // for how long a connection may rest in all while something is replayed to it: 30 s
}

func (c *Config) defaults() {
	set := func(field *int, value int) {
		if *field <= 0 {
			*field = value
		}
	}
	set(&c.Senders, 128)
	set(&c.SlowSenders, 128)
	set(&c.Queue, 1024)
	set(&c.QueueBytes, 1<<20)
	set(&c.Tries, 5)
	if c.SlowAfter <= 0 {
		c.SlowAfter = 250 * time.Millisecond
	}
	if c.Timeout <= 0 {
		c.Timeout = 5 * time.Second
	}
	if c.ReplayRest <= 0 {
		c.ReplayRest = 30 * time.Second
	}
	if c.Topic == nil {
		c.Topic = func(string) Topic { return Topic{} }
	}
	if c.Gone == nil {
		c.Gone = func(Conn, error) {}
	}
}

// Hub fans frames out. Its methods may be called by any goroutine.
//
// Locks are taken in this order: a topic's Guard, conn.ctl, topic.mu or connsMu,
// conn.mu, ready.mu or the timers' lock. topicsMu is held for nothing else.
type Hub struct {
	config Config
	ready  ready
	timers timers
	pool   pool
	rest   backoff.Backoff // of a connection after a failure

	admission chan struct{} // holds one: a sender waits for a connection and for Admit

	connsMu sync.RWMutex
	conns   map[string]*conn
	owners  map[string]*owner // of conns, by Conn.Of
	past    Totals            // what removed connections had sent

	topicsMu sync.RWMutex
	topics   map[string]*topic
}

// New returns a hub that sends once it runs: see [Hub.Run].
func New(config Config) *Hub {
	config.defaults()
	return &Hub{
		config:    config,
		ready:     ready{maxFailing: max(1, config.Senders/4), runs: int32(runtime.GOMAXPROCS(0))},
		timers:    timers{wake: make(chan struct{}, 1)},
		admission: make(chan struct{}, 1),
		conns:     map[string]*conn{},
		owners:    map[string]*owner{},
		topics:    map[string]*topic{},
		rest:      backoff.Backoff{Min: 50 * time.Millisecond, Max: 5 * time.Second},
	}
}

// Run sends until ctx is done. It returns when every sender has, which the sink
// decides: its last calls see ctx end. It is called once.
func (h *Hub) Run(ctx context.Context) {
	var running sync.WaitGroup
	running.Go(func() { h.timers.run(ctx) })
	running.Go(func() { h.pool.run(ctx, h) })
	running.Wait()
}

// Connect makes a connection known. One that is known already stays as it is.
func (h *Hub) Connect(c Conn) {
	h.connsMu.Lock()
	defer h.connsMu.Unlock()
	if h.conns[c.ID] != nil {
		return
	}
	o := h.owners[c.Of]
	if o == nil {
		o = &owner{}
		h.owners[c.Of] = o
	}
	o.conns++
	h.conns[c.ID] = &conn{Conn: c, hub: h, owner: o, since: time.Now()}
}

// Disconnect forgets a connection and all that waits for it. A frame that is
// being sent is not called back.
func (h *Hub) Disconnect(id string) {
	if c := h.conn(id); c != nil {
		h.remove(c)
	}
}

// Subscribe sends the reply, unless that is nil, then the topic's snapshot, then
// what is published on the topic. Where the connection is subscribed already
// only the reply is sent. The error is ErrUnknown or ErrOverflow.
func (h *Hub) Subscribe(id, topic string, reply []byte) error {
	c := h.conn(id)
	if c == nil {
		return ErrUnknown
	}
	err := c.subscribe(topic, reply)
	if errors.Is(err, ErrOverflow) {
		h.drop(c, err)
	}
	return err
}

// Await says that a connection is about to be subscribed to a topic with a Place, by
// [Hub.Subscribe] or [Hub.Replay], and lacks what happened before. Until it is sent a snapshot
// that lacks nothing, or what is replayed, or is unsubscribed, neither the frames of the topic nor
// the replies queued from now on carry a cursor: with one the client would miss what the snapshot
// is to show.
func (h *Hub) Await(id, topic string) {
	if c := h.conn(id); c != nil {
		c.await(topic)
	}
}

// Unsubscribe ends a subscription. What waits of it is withdrawn; a frame that
// is being sent is not. It reports whether there was such a subscription.
func (h *Hub) Unsubscribe(id, topic string) bool {
	c := h.conn(id)
	return c != nil && c.unsubscribe(topic)
}

// Publish queues a frame for every subscriber of a topic; without any it does
// nothing. Frames of a topic are sent in the order of the calls. The frame is
// shared by all: it must never change again.
func (h *Hub) Publish(topic string, frame []byte, kind Kind) {
	h.topicsMu.RLock()
	t := h.topics[topic]
	h.topicsMu.RUnlock()
	if t != nil {
		t.publish(frame, kind, 0)
	}
}

// PublishAt is [Hub.Publish] of an event that has a place in the order of all events. Events
// are published in that order.
func (h *Hub) PublishAt(topic string, frame []byte, place int64) {
	h.topicsMu.RLock()
	t := h.topics[topic]
	h.topicsMu.RUnlock()
	if t != nil {
		t.publish(frame, Event, place)
	}
}

// PublishSnapshot publishes a whole snapshot to those who have one that lacks something, as events.
// The place is that of [Topic.Place].
func (h *Hub) PublishSnapshot(topic string, frames [][]byte, place int64) {
	h.topicsMu.RLock()
	t := h.topics[topic]
	h.topicsMu.RUnlock()
	if t != nil {
		t.publishSnapshot(frames, place)
	}
}

// PublishLate queues an event that happened long ago, for every subscriber of a topic
// to whom events were replayed, and of one without snapshots for who was connected by then. It is sent when nothing else waits for
// the connection, so that it delays nothing that happens now, and is the first to be
// dropped when too much waits. Such events are sent in the order of the calls.
func (h *Hub) PublishLate(topic string, frame []byte, at time.Time, place int64) {
	h.topicsMu.RLock()
	t := h.topics[topic]
	h.topicsMu.RUnlock()
	if t != nil {
		t.publishLate(frame, at, place)
	}
}

// Watched reports whether a topic has a subscriber, so that nobody encodes what
// nobody wants.
func (h *Hub) Watched(topic string) bool {
	h.topicsMu.RLock()
	defer h.topicsMu.RUnlock()
	return h.topics[topic] != nil
}

// Followers returns whose connections are subscribed to any of some topics, sorted ([Conn.Of]).
func (h *Hub) Followers(topics ...string) (all []string) {
	for _, name := range topics {
		h.topicsMu.RLock()
		t := h.topics[name]
		h.topicsMu.RUnlock()
		if t != nil {
			all = t.appendFollowers(all)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Replayed is what was published before, each frame with its place, and how far the client had
// events, and late ones, before the first.
type Replayed struct {
	Frames      [][]byte
	Places      []int64
	Fresh, Late int64
}

// Hold has the frames of a connection go without a cursor until [Hub.Replay] has come to its
// end, which must be called for it: with a later one the client would miss what is about to be
// replayed. It reports whether the connection is known.
func (h *Hub) Hold(id string) bool {
	c := h.conn(id)
	if c != nil {
		c.hold()
	}
	return c != nil
}

// Replay queues frames that were published before, then subscribes to topics without their
// snapshots: of several the frames stay whatever is unsubscribed. The caller holds the Guard of
// the topics, so that nothing is published between. done is called when the frames were sent, or
// never will be; it must not call the hub. The error is ErrUnknown, where done is not called, or
// ErrOverflow.
func (h *Hub) Replay(id string, topics []string, r Replayed, done func()) error {
	c := h.conn(id)
	if c == nil {
		return ErrUnknown
	}
	err := c.replay(topics, r, done)
	if errors.Is(err, ErrOverflow) {
		h.drop(c, err)
	}
	return err
}

// Send queues a frame for one connection, after what waits there. It is a reply:
// never dropped, but too many of them end the connection. The error is
// ErrUnknown or ErrOverflow.
func (h *Hub) Send(id string, frame []byte) error { return h.SendAt(id, frame, 0) }

// SendAt is [Hub.Send] of a reply with a place: up to that the client has the events when it has
// the reply.
func (h *Hub) SendAt(id string, frame []byte, place int64) error {
	c := h.conn(id)
	if c == nil {
		return ErrUnknown
	}
	err := c.reply(frame, place)
	if errors.Is(err, ErrOverflow) {
		h.drop(c, err)
	}
	return err
}

// shown is a frame as the client is sent it, with the cursor where it has a place.
func (h *Hub) shown(it *item) []byte {
	if it.fresh == 0 || h.config.Cursor == nil {
		return it.frame
	}
	topic := ""
	if it.sub != nil {
		topic = it.sub.topic.name
	}
	return withCursor(it.frame, h.config.Cursor(topic, it.fresh, it.late))
}

// withCursor is a new frame, an object that has members, with a cursor as one more.
func withCursor(frame []byte, cursor string) []byte {
	b := append(make([]byte, 0, len(frame)+len(cursor)+16), frame[:len(frame)-1]...)
	return append(append(append(b, `,"cursor":"`...), cursor...), `"}`...)
}

// Finish ends a connection after it was sent what waits for it after a while: it is
// removed and reported to [Config.Gone] with ErrFinished.
func (h *Hub) Finish(id string, after time.Duration) {
	h.timers.add(time.Now().Add(after), func(time.Time) {
		if c := h.conn(id); c != nil {
			c.finish()
		}
	})
}

// Stats is what a connection may know about itself.
type Stats struct {
	Duration  time.Duration // since the client connected
	Sent      uint64        // frames delivered since the hub knows the connection
	PerSecond float64       // the mean of Sent over that time
	Discarded uint64        // frames that were dropped: events, and what the sink would not take
	QueueLen  int           // frames that wait
}

// Stats returns the figures of a connection, and whether it is known.
func (h *Hub) Stats(id string) (Stats, bool) {
	c := h.conn(id)
	if c == nil {
		return Stats{}, false
	}
	return c.stats(time.Now()), true
}

// Totals are the figures of a hub.
type Totals struct {
	Connections int
	Topics      int    // with at least one subscriber
	Sent        uint64 // frames delivered, to connections that left too
	Discarded   uint64 // frames that were dropped
	Waiting     int    // frames that wait
}

// Totals adds up the figures of all connections.
func (h *Hub) Totals() Totals {
	h.topicsMu.RLock()
	topics := len(h.topics)
	h.topicsMu.RUnlock()
	h.connsMu.RLock()
	defer h.connsMu.RUnlock()
	sum := h.past
	sum.Topics, sum.Connections = topics, len(h.conns)
	now := time.Now()
	for _, c := range h.conns {
		s := c.stats(now)
		sum.Sent += s.Sent
		sum.Discarded += s.Discarded
		sum.Waiting += s.QueueLen
	}
	return sum
}

func (h *Hub) conn(id string) *conn {
	h.connsMu.RLock()
	defer h.connsMu.RUnlock()
	return h.conns[id]
}

// drop removes a connection because of what happened to it, and reports it.
func (h *Hub) drop(c *conn, why error) {
	if h.remove(c) {
		h.config.Gone(c.Conn, why)
	}
}

// remove reports whether it was this call that removed the connection.
func (h *Hub) remove(c *conn) bool {
	h.connsMu.Lock()
	if h.conns[c.ID] != c {
		h.connsMu.Unlock()
		return false
	}
	delete(h.conns, c.ID)
	if c.owner.conns--; c.owner.conns == 0 {
		delete(h.owners, c.Of)
	}
	s := c.stats(time.Now())
	h.past.Sent += s.Sent
	h.past.Discarded += s.Discarded
	h.connsMu.Unlock()
	c.close()
	return true
}
