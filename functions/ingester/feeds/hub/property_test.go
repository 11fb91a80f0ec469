package hub

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"quotary/shared/backoff"
)

// model publishes numbered frames and knows the newest number of each topic. The
// topics whose name starts with "event" carry events, the others states.
type model struct {
	hub    *Hub
	guard  sync.Mutex
	newest map[string]int
}

func (m *model) topic(name string) Topic {
	return Topic{
		Guard:    &m.guard,
		Snapshot: func() [][]byte { return Single(fmt.Appendf(nil, "%s snapshot %d", name, m.newest[name])) },
	}
}

func (m *model) publish(name string) {
	kind, what := State, "state"
	if strings.HasPrefix(name, "event") {
		kind, what = Event, "event"
	}
	m.guard.Lock()
	defer m.guard.Unlock()
	m.newest[name]++
	m.hub.Publish(name, fmt.Appendf(nil, "%s %s %d", name, what, m.newest[name]), kind)
}

// received is what a client concluded from the frames of one topic.
type received struct {
	announced bool // the reply came, the snapshot did not
	started   bool // the snapshot came
	last      int
	gaps      int
}

// readStory follows the frames of a connection and fails at the first that must not
// come then. Where the sink loses track of what it delivered, states may come
// twice and replies may be missing.
func readStory(t *rapid.T, id string, frames []string, lossy bool) map[string]*received {
	topics := map[string]*received{}
	for i, frame := range frames {
		var name, what string
		var n int
		if _, err := fmt.Sscan(frame, &name, &what, &n); err != nil {
			t.Fatalf("%s: frame %q: %v", id, frame, err)
		}
		h := topics[name]
		if h == nil {
			h = &received{}
			topics[name] = h
		}
		bad := ""
		switch {
		case what == "alreadySubscribed":
		case what == "subscribed":
			h.announced, h.started = true, false
		case what == "snapshot":
			if !h.announced && !lossy {
				bad = "a snapshot that no reply announced"
			}
			h.announced, h.started, h.last = false, true, n
		case !h.started:
			bad = "an update before the snapshot"
		case n < h.last, n == h.last && !(lossy && what == "state"):
			bad = fmt.Sprintf("an update after %d", h.last)
		case what == "event":
			h.gaps += n - h.last - 1
			h.last = n
		default:
			h.last = n
		}
		if bad != "" {
			t.Fatalf("%s: frame %d %q: %s; all frames: %q", id, i, frame, bad, frames)
		}
	}
	return topics
}

var errLost = errors.New("connection reset")

// chaos is a sink that stalls and fails at random, and keeps what it delivered.
type chaos struct {
	*wire
	mu     sync.Mutex
	random *rand.Rand
	errs   []error // one of them is returned at times; a nil stands for delivery
	posts  atomic.Int32
}

func (s *chaos) Post(ctx context.Context, c Conn, frame []byte) error {
	s.posts.Add(1)
	defer s.posts.Add(-1)
	s.mu.Lock()
	err, slow := s.errs[s.random.IntN(len(s.errs))], s.random.IntN(40) == 0
	s.mu.Unlock()
	if slow {
		time.Sleep(time.Millisecond)
	}
	if err != nil {
		return err
	}
	return s.wire.Post(ctx, c, frame)
}

// TestWhateverHappensEveryConnectionIsSentATrueStory subscribes, unsubscribes,
// stalls, disconnects and publishes at random while the hub runs, and then reads
// what each connection was sent.
func TestWhateverHappensEveryConnectionIsSentATrueStory(t *testing.T) {
	t.Parallel()
	faults := map[string][]error{
		"a sink without faults":      {nil},
		"a sink that refuses":        {nil, nil, nil, ErrBusy},
		"a sink that loses track":    {nil, nil, nil, nil, nil, errLost},
		"a sink with all the faults": {nil, nil, nil, nil, ErrBusy, errLost},
	}
	for name, errs := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) { story(t, errs) })
		})
	}
}

func story(t *rapid.T, errs []error) {
	topics := []string{"event1", "event2", "state1", "state2"}
	type step struct{ what, conn, topic int }
	steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		return step{rapid.IntRange(0, 19).Draw(t, "what"), rapid.IntRange(0, 3).Draw(t, "conn"), rapid.IntRange(0, 3).Draw(t, "topic")}
	}), 1, 120).Draw(t, "steps")
	sink := &chaos{wire: newWire(), random: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), errs: errs}
	m := &model{newest: map[string]int{}}
	h := New(Config{
		Sink:  sink,
		Topic: m.topic, Senders: 3, SlowSenders: 8, Queue: 6,
		SlowAfter: 20 * time.Millisecond, Timeout: time.Minute,
	})
	m.hub, h.rest = h, backoff.Backoff{Min: time.Millisecond, Max: 20 * time.Millisecond}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { h.Run(ctx) })
	defer running.Wait()
	defer stop()

	// The frames are published by one goroutine, the rest happens in another.
	var publisher sync.WaitGroup
	publisher.Go(func() {
		for _, s := range steps {
			for range s.what {
				m.publish(topics[s.topic])
			}
		}
	})
	live := make([]string, 4) // the id in each place
	releases := map[string]func(){}
	left := map[string]bool{}
	for i, s := range steps {
		id, topic := live[s.conn], topics[s.topic]
		switch {
		case id == "":
			live[s.conn] = fmt.Sprint("c", i)
			h.Connect(Conn{ID: live[s.conn]})
		case s.what < 9:
			reply := " subscribed 0"
			if h.conn(id).subs[topic] != nil {
				reply = " alreadySubscribed 0"
			}
			if err := h.Subscribe(id, topic, []byte(topic+reply)); errors.Is(err, ErrOverflow) {
				live[s.conn], left[id] = "", true
			}
		case s.what < 12:
			h.Unsubscribe(id, topic)
		case s.what < 15:
			releases[id] = sink.stall(id)
		case s.what < 19:
			if release := releases[id]; release != nil {
				release()
			}
		default:
			h.Disconnect(id)
			live[s.conn], left[id] = "", true
		}
	}
	publisher.Wait()
	for _, release := range releases {
		release()
	}
	for _, topic := range topics {
		m.publish(topic)
	}
	waitIdle(t, h, &sink.posts)

	lossy := slices.Contains(errs, errLost)
	for id := range left {
		readStory(t, id, sink.frames(id), lossy)
	}
	for _, id := range live {
		if id == "" {
			continue
		}
		topics := readStory(t, id, sink.frames(id), lossy)
		stats, _ := h.Stats(id)
		gaps := 0
		for name := range h.conn(id).subs {
			heard := topics[name]
			if heard == nil {
				t.Fatalf("%s is subscribed to %s and was sent nothing", id, name)
			}
			gaps += heard.gaps
			mayMiss := strings.HasPrefix(name, "event") && len(errs) > 1 && stats.Discarded > 0
			if heard.last != m.newest[name] && !mayMiss {
				t.Fatalf("%s was last sent %s %d, the newest is %d", id, name, heard.last, m.newest[name])
			}
		}
		if gaps > int(stats.Discarded) {
			t.Fatalf("%s misses %d events, but only %d count as discarded", id, gaps, stats.Discarded)
		}
	}
}

// waitIdle waits until nothing is left to send.
func waitIdle(t *rapid.T, h *Hub, posts *atomic.Int32) {
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(100 * time.Microsecond) {
		busy := posts.Load() > 0
		for _, c := range h.snapshotConns() {
			c.mu.Lock()
			busy = busy || c.scheduled
			c.mu.Unlock()
		}
		if !busy {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still sending after five minutes: %+v", h.Totals())
		}
	}
}

func (h *Hub) snapshotConns() []*conn {
	h.connsMu.RLock()
	defer h.connsMu.RUnlock()
	all := make([]*conn, 0, len(h.conns))
	for _, c := range h.conns {
		all = append(all, c)
	}
	return all
}
