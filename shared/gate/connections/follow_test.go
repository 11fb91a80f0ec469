package connections_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// mirror is the state that a reader has who applies every event. It accepts no event
// that could not follow from those before.
type mirror struct {
	mu      sync.Mutex
	live    map[string]map[string]bool // connection id -> keys and addresses
	seen    map[string]time.Time
	asked   []connections.StatAsked
	subs    []connections.Subscribed
	pending []connections.Pending // of the replies that were left
	replies map[string][]string   // connection id -> replies
	resets  []error
	ready   bool
	faults  []string
}

func newMirror() *mirror {
	return &mirror{live: map[string]map[string]bool{}, seen: map[string]time.Time{}, replies: map[string][]string{}}
}

func (m *mirror) apply(e connections.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fault := func(format string, args ...any) { m.faults = append(m.faults, fmt.Sprintf(format, args...)) }
	add := func(id, what string) {
		if m.live[id] == nil || m.live[id][what] {
			fault("%s takes %s, which cannot be (connected: %t)", id, what, m.live[id] != nil)
			return
		}
		m.live[id][what] = true
	}
	drop := func(id, what string) {
		if !m.live[id][what] {
			fault("%s gives up %s, which it does not have", id, what)
		}
		delete(m.live[id], what)
	}
	switch e := e.(type) {
	case connections.Reset:
		m.resets = append(m.resets, e.Cause)
	case connections.Live:
		m.ready = true
	case connections.Connected:
		if m.live[e.ID] != nil {
			fault("%s connects twice", e.ID)
		}
		m.live[e.ID], m.seen[e.ID] = map[string]bool{}, e.Seen
	case connections.Disconnected:
		if m.live[e.ID] == nil {
			fault("%s disconnects, it is not connected", e.ID)
		}
		delete(m.live, e.ID)
		delete(m.seen, e.ID)
	case connections.Seen:
		if !e.At.After(m.seen[e.Connection]) {
			fault("%s is seen at %s, before %s", e.Connection, e.At, m.seen[e.Connection])
		}
		m.seen[e.Connection] = e.At
	case connections.Subscribed:
		for _, s := range m.subs {
			if s.Connection == e.Connection && s.Key() == e.Key() && s.At.Equal(e.At) {
				fault("%s gets the same subscription twice: %s", e.Connection, e.Key())
			}
		}
		m.subs = append(m.subs, e)
		m.replies[e.Connection] = append(m.replies[e.Connection], string(e.Reply.Frame))
		add(e.Connection, e.Key())
	case connections.Unsubscribed:
		drop(e.Connection, e.Key())
	case connections.AddressesAdded:
		m.replies[e.Connection] = append(m.replies[e.Connection], string(e.Reply.Frame))
		for _, a := range e.Addresses {
			add(e.Connection, a)
		}
	case connections.AddressesRemoved:
		for _, a := range e.Addresses {
			drop(e.Connection, a)
		}
	case connections.Answer:
		m.replies[e.Connection] = append(m.replies[e.Connection], string(e.Reply.Frame))
		m.pending = append(m.pending, e.Pending)
	case connections.CloseAsked, connections.Stray:
	case connections.StatAsked:
		m.asked = append(m.asked, e)
	default:
		fault("unknown event %T", e)
	}
}

// await waits until the condition holds.
func (m *mirror) await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	defer func() {
		if t.Failed() {
			m.mu.Lock()
			defer m.mu.Unlock()
			t.Logf("the mirror has %v, received %q, was reset for %v, faults %v", m.live, m.replies, m.resets, m.faults)
		}
	}()
	testenv.Until(t, what, func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return holds()
	})
}

// follow mirrors the table until the test ends; known reports errors that the
// test itself causes.
func follow(t testing.TB, w *world, over connections.Streams, known func(error) bool) *mirror {
	t.Helper()
	m := newMirror()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for e, err := range connections.NewFollower(connections.New(w.db, w.table, time.Now), w.db, over).Follow(ctx) {
			if err == nil {
				m.apply(e)
			} else if known == nil || !known(err) {
				t.Error(err)
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, fault := range m.faults {
			t.Error(fault)
		}
	})
	m.await(t, "first scan", func() bool { return m.ready })
	return m
}

func TestEveryChangeIsEmittedAsItsEvent(t *testing.T) {
	t.Parallel()
	w := open(t)
	must.Do(t, w.Connect(t.Context(), connection("old=", "key", channel.FeedChannels), free))
	must.Get(w.Subscribe(t.Context(), w.message("old="), trades("BTC"), free, reply))(t)
	m := follow(t, w, streams(t), nil)
	if len(m.subs) != 1 || !m.subs[0].Found || string(m.subs[0].Reply.Counting(1)) != `{"data":{"method":"subscribe","activeCount":1}}` || !m.subs[0].At.Equal(start) {
		t.Errorf("found by the scan: %+v", m.subs)
	}

	w.clock.Move(20 * time.Second)
	must.Do(t, connections.NewMeter(w.Store, connections.Budget{}).Message(t.Context(), "old=", 10))
	m.await(t, "message", func() bool { return m.seen["old="].Equal(start.Add(20 * time.Second)) })

	book := channel.Subscription{Type: channel.L2Book, Coin: "xyz:GOLD", NSigFigs: 5, Mantissa: 2}
	must.Get(w.Subscribe(t.Context(), w.message("old="), book, free, reply))(t)
	m.await(t, "subscription", func() bool { return len(m.subs) == 2 })
	want := connections.Subscribed{
		Connection: "old=", Subscription: book, Reply: reply, At: start.Add(20 * time.Second),
	}
	if !reflect.DeepEqual(m.subs[1], want) {
		t.Errorf("received %+v, want %+v", m.subs[1], want)
	}
	must.Get(w.Unsubscribe(t.Context(), w.message("old="), trades("BTC")))(t)
	m.await(t, "end of a subscription", func() bool { return len(m.live["old="]) == 1 })

	must.Do(t, w.Connect(t.Context(), connection("new=", "key", channel.FeedFills), free))
	must.Do(t, w.AddAddresses(t.Context(), w.message("new="), addressRange(0, 3), free, says("added")))
	must.Do(t, w.AddAddresses(t.Context(), w.message("new="), addressRange(2, 5), free, says("added")))
	must.Do(t, w.RemoveAddresses(t.Context(), w.message("new="), []string{address(0), address(4)}))
	m.await(t, "addresses", func() bool {
		return cmp.Equal(m.live["new="], map[string]bool{address(1): true, address(2): true, address(3): true})
	})

	must.Do(t, w.AskStat(t.Context(), w.message("new=")))
	must.Do(t, w.AskStat(t.Context(), w.message("new=")))
	m.await(t, "requests for figures", func() bool { return len(m.asked) == 2 })
	if m.asked[0].Connection != "new=" || m.asked[0] == m.asked[1] {
		t.Errorf("asked %+v", m.asked)
	}
	must.Do(t, w.Answered(t.Context(), m.asked[0].Pending))
	again := follow(t, w, streams(t), nil)
	if len(again.asked) != 1 || again.asked[0] != m.asked[1] {
		t.Errorf("a new follower is asked %+v, want the one left open", again.asked)
	}

	for _, id := range []string{"old=", "new="} {
		must.Get(w.Remove(t.Context(), id))(t)
	}
	m.await(t, "end of the connections", func() bool { return len(m.live) == 0 })
}

// TestRepliesComeInTheOrderOfTheMessages sends what several messages at once are
// answered with, to a follower that sees each come and to one that finds them all.
func TestRepliesComeInTheOrderOfTheMessages(t *testing.T) {
	t.Parallel()
	w := open(t)
	m := follow(t, w, streams(t), nil)
	must.Do(t, w.Connect(t.Context(), connection("a=", "key", channel.FeedChannels), free))
	// Amazon's DynamoDB Local may lose the place of a reader at the first record of a
	// stream: then only a scan finds what happened.
	m.await(t, "connection", func() bool { return m.live["a="] != nil })
	var want []string
	answer := func(text string) {
		t.Helper()
		must.Do(t, w.Answer(t.Context(), w.message("a="), says(text)))
		want = append(want, text)
	}
	subscribe := func(coin string) {
		t.Helper()
		text := "subscribed to " + coin
		if out, err := w.Subscribe(t.Context(), w.message("a="), trades(coin), free, says(text)); err != nil || !out.Changed {
			t.Fatal(out, err)
		}
		want = append(want, text)
	}
	for n := range 12 { // so many that the order of the revisions is not that of their digits
		coin := fmt.Sprint("C", n)
		subscribe(coin)
		answer("already subscribed to " + coin)
		must.Get(w.Unsubscribe(t.Context(), w.message("a="), trades(coin)))(t)
		answer("unsubscribed from " + coin)
	}
	answer("a mistake")
	must.Do(t, w.AddAddresses(t.Context(), w.message("a="), addressRange(0, 2), free, says("addresses")))
	must.Do(t, w.AddAddresses(t.Context(), w.message("a="), addressRange(0, 2), free, says("the same addresses")))
	want = append(want, "addresses", "the same addresses")
	subscribe("BTC")
	m.await(t, "replies", func() bool { return len(m.replies["a="]) == len(want) })
	if diff := cmp.Diff(want, m.replies["a="]); diff != "" {
		t.Error(diff)
	}

	// Whoever comes later finds what was not sent, and what subscriptions that are
	// still there began with.
	must.Do(t, w.Answered(t.Context(), m.pending[0]))
	var left []string
	for _, text := range want {
		if text != "already subscribed to C0" && (!strings.HasPrefix(text, "subscribed") || text == "subscribed to BTC") {
			left = append(left, text)
		}
	}
	if diff := cmp.Diff(left, follow(t, w, streams(t), nil).replies["a="]); diff != "" {
		t.Error(diff)
	}
}

// TestTheMirrorEqualsTheTable lets workers act at random while followers read
// the stream through everything that may happen to one: shards that end after a
// few records, iterators that expire, requests that fail, records that are
// trimmed before they were read.
func TestTheMirrorEqualsTheTable(t *testing.T) {
	t.Parallel()
	w := open(t)
	var tables sync.WaitGroup
	var workers []*worker
	for n := range 4 {
		workers = append(workers, &worker{rnd: rand.New(rand.NewPCG(uint64(n), 7)), name: fmt.Sprint("w", n)})
	}
	run := func(steps int) {
		for _, k := range workers {
			tables.Go(func() {
				for range steps {
					if err := k.step(t.Context(), w); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	run(20) // there is something to scan
	tables.Wait()
	run(150)
	var mirrors []*mirror
	var trouble []*troubled
	for n := range 3 {
		s := newTroubled(streams(t), 60+30*n, uint64(n))
		if n == 2 {
			s.every = 0 // one without faults: it must not reset
		}
		trouble = append(trouble, s)
		mirrors = append(mirrors, follow(t, w, s, func(err error) bool { return errors.Is(err, errCrash) }))
	}
	tables.Wait()
	live := balanced(t, w).Live
	for n, m := range mirrors {
		m.await(t, fmt.Sprint("mirror ", n, " that equals the table"), func() bool { return cmp.Equal(m.live, live) })
		m.mu.Lock()
		resets := m.resets
		m.mu.Unlock()
		trims, ended := trouble[n].losses()
		if trouble[n].every == 0 && len(resets) != 1 || trouble[n].every > 0 && (trims == 0 || len(resets) < 2) {
			t.Errorf("mirror %d: %d resets after %d trims", n, len(resets), trims)
		}
		if ended == 0 {
			t.Errorf("mirror %d saw no shard end", n)
		}
		for _, cause := range resets[1:] {
			if !strings.Contains(cause.Error(), "gap") {
				t.Errorf("a reset because of %v", cause)
			}
		}
	}
}

// worker acts on connections of its own.
type worker struct {
	rnd  *rand.Rand
	name string
	made int
	live []string
}

func (k *worker) step(ctx context.Context, w *world) error {
	w.clock.Move(time.Millisecond)
	if len(k.live) == 0 || k.rnd.IntN(8) == 0 {
		id := fmt.Sprint(k.name, "-", k.made)
		k.made++
		k.live = append(k.live, id)
		return w.Connect(ctx, connection(id, k.name, channel.FeedChannels), free)
	}
	n := k.rnd.IntN(len(k.live))
	id := k.live[n]
	some := func() (list []string) {
		for range 1 + k.rnd.IntN(4) {
			list = append(list, address(k.rnd.IntN(8)))
		}
		return list
	}
	var err error
	switch k.rnd.IntN(9) {
	case 0, 1:
		_, err = w.Subscribe(ctx, w.message(id), trades(fmt.Sprint(k.rnd.IntN(4))), free, reply)
	case 2:
		_, err = w.Unsubscribe(ctx, w.message(id), trades(fmt.Sprint(k.rnd.IntN(4))))
	case 3:
		err = w.AddAddresses(ctx, w.message(id), some(), free, connections.Reply{})
	case 4:
		err = w.RemoveAddresses(ctx, w.message(id), some())
	case 5:
		err = w.AskStat(ctx, w.message(id))
	case 6:
		err = connections.NewMeter(w.Store, connections.Budget{}).Message(ctx, id, 10)
	case 7:
		err = w.Answer(ctx, w.message(id), says("a mistake"))
	case 8:
		k.live = append(k.live[:n], k.live[n+1:]...)
		_, err = w.Remove(ctx, id)
	}
	return err
}

func TestLeavingTheLoopEndsIt(t *testing.T) {
	t.Parallel()
	w := open(t)
	n := 0
	for e := range must.All(t, connections.NewFollower(w.Store, w.db, streams(t)).Follow(t.Context())) {
		n++
		if _, ok := e.(connections.Live); ok {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d events of an empty table, want a reset and that it is live", n)
	}
}

func TestATableThatIsMissingIsReportedAndAwaited(t *testing.T) {
	t.Parallel()
	w := open(t)
	missing := connections.NewFollower(connections.New(w.db, w.table+"-not", w.clock.Now), w.db, streams(t))
	failures := 0
	for e, err := range missing.Follow(t.Context()) {
		if err == nil {
			t.Fatalf("received %+v", e)
		}
		if failures++; failures == 2 {
			break
		}
	}
}
