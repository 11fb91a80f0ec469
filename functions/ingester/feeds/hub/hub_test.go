package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/time/rate"

	"quotary/shared/testing/check"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wire is a sink that keeps what every connection was sent, in order. A
// connection may be held, or answered with errors.
type wire struct {
	mu    sync.Mutex
	got   map[string][]string
	at    map[string][]time.Time
	hold  map[string]chan struct{}
	fault map[string][]error // returned, and the frame not delivered, one for each call
	calls int
}

func (w *wire) Post(ctx context.Context, c Conn, frame []byte) error {
	w.mu.Lock()
	w.calls++
	hold := w.hold[c.ID]
	w.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if faults := w.fault[c.ID]; len(faults) > 0 {
		w.fault[c.ID] = faults[1:]
		if faults[0] != nil {
			return faults[0]
		}
	}
	w.got[c.ID] = append(w.got[c.ID], string(frame))
	w.at[c.ID] = append(w.at[c.ID], time.Now())
	return nil
}

func (w *wire) frames(id string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.got[id])
}

func (w *wire) stall(id string) (release func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	hold := w.hold[id]
	if hold == nil {
		hold = make(chan struct{})
		w.hold[id] = hold
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.hold[id] == hold {
			delete(w.hold, id)
			close(hold)
		}
	}
}

func (w *wire) fail(id string, errs ...error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault[id] = errs
}

func newWire() *wire {
	return &wire{got: map[string][]string{}, at: map[string][]time.Time{}, hold: map[string]chan struct{}{}, fault: map[string][]error{}}
}

// inTime runs a test in a bubble of its own time, with a hub that runs.
func inTime(t *testing.T, config Config, test func(t *testing.T, h *Hub, w *wire)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWire()
		config.Sink = w
		h := New(config)
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { h.Run(ctx) })
		defer running.Wait()
		defer stop()
		test(t, h, w)
	})
}

func connect(h *Hub, ids ...string) {
	for _, id := range ids {
		h.Connect(Conn{ID: id, At: time.Now()})
	}
}

func publish(h *Hub, topic string, kind Kind, frames ...string) {
	for _, f := range frames {
		h.Publish(topic, []byte(f), kind)
	}
}

func mustSubscribe(t *testing.T, h *Hub, id, topic, reply string) {
	t.Helper()
	var frame []byte
	if reply != "" {
		frame = []byte(reply)
	}
	if err := h.Subscribe(id, topic, frame); err != nil {
		t.Fatalf("subscribe %s to %s: %v", id, topic, err)
	}
}

func expect(t *testing.T, w *wire, id string, want ...string) {
	t.Helper()
	synctest.Wait()
	check.Equalf(t, want, w.frames(id), "what %s was sent", id)
}

func snapshotOf(frame string) func(string) Topic {
	return func(topic string) Topic {
		return Topic{Snapshot: func() [][]byte { return Single([]byte(frame + " " + topic)) }}
	}
}

func TestASubscriptionStartsWithReplyAndSnapshot(t *testing.T) {
	t.Parallel()
	inTime(t, Config{Topic: snapshotOf("snapshot")}, func(t *testing.T, h *Hub, w *wire) {
		connect(h, "a", "b")
		mustSubscribe(t, h, "a", "btc", "reply")
		mustSubscribe(t, h, "b", "eth", "")
		synctest.Wait()
		publish(h, "btc", State, "1")
		expect(t, w, "a", "reply", "snapshot btc", "1")
		expect(t, w, "b", "snapshot eth")
	})
}

func TestWhatTheSnapshotHoldsIsNotSentAgain(t *testing.T) {
	t.Parallel()
	var guard sync.Mutex
	n := 0
	topic := func(string) Topic {
		return Topic{Guard: &guard, Snapshot: func() [][]byte { return Single(fmt.Appendf(nil, "up to %d", n)) }}
	}
	inTime(t, Config{Topic: topic}, func(t *testing.T, h *Hub, w *wire) {
		connect(h, "a")
		release := w.stall("a")
		mustSubscribe(t, h, "a", "trades", "reply")
		for range 3 {
			guard.Lock()
			n++
			publish(h, "trades", Event, fmt.Sprint(n))
			guard.Unlock()
		}
		release()
		synctest.Wait()
		publish(h, "trades", Event, "4")
		expect(t, w, "a", "reply", "up to 3", "4")
	})
}

func TestASnapshotOfSeveralFramesComesInOnePiece(t *testing.T) {
	t.Parallel()
	pages := func(string) Topic {
		return Topic{Snapshot: func() [][]byte { return [][]byte{[]byte("page 1"), []byte("page 2"), []byte("page 3")} }}
	}
	for name, fault := range map[string][]error{
		"delivered": nil, "refused for now": {nil, nil, ErrBusy}, "lost": {nil, nil, errors.New("lost")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inTime(t, Config{Topic: pages}, func(t *testing.T, h *Hub, w *wire) {
				connect(h, "a", "rejects", "leaves")
				w.fail("a", fault...)
				w.fail("rejects", nil, ErrRejected)
				release := w.stall("leaves")
				for _, id := range []string{"a", "rejects", "leaves"} {
					mustSubscribe(t, h, id, "fills", "reply")
				}
				synctest.Wait()
				publish(h, "fills", Event, "1")
				h.Unsubscribe("leaves", "fills")
				release()
				time.Sleep(time.Second)
				expect(t, w, "a", "reply", "page 1", "page 2", "page 3", "1")
				expect(t, w, "rejects", "reply", "page 2", "page 3", "1")
				expect(t, w, "leaves", "reply")
			})
		})
	}
}

func TestAFinishedConnectionEndsBehindWhatWaits(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	ended := map[string]error{}
	gone := func(c Conn, why error) {
		mu.Lock()
		defer mu.Unlock()
		ended[c.ID] = why
	}
	inTime(t, Config{Gone: gone}, func(t *testing.T, h *Hub, w *wire) {
		connect(h, "a", "b")
		mustSubscribe(t, h, "a", "btc", "first")
		h.Finish("a", time.Second)
		h.Finish("nobody", time.Second)
		time.Sleep(900 * time.Millisecond)
		release := w.stall("a")
		mustSubscribe(t, h, "a", "eth", "second")
		mustSubscribe(t, h, "a", "sol", "third")
		publish(h, "btc", Event, "1")
		time.Sleep(300 * time.Millisecond)
		publish(h, "btc", Event, "2")
		release()
		expect(t, w, "a", "first", "second", "third", "1")
		mu.Lock()
		defer mu.Unlock()
		if len(ended) != 1 || !errors.Is(ended["a"], ErrFinished) {
			t.Errorf("ended are %v", ended)
		}
		if _, known := h.Stats("b"); !known {
			t.Error("the other connection ended, too")
		}
	})
}

func TestASecondSubscriptionOnlyAnswers(t *testing.T) {
	t.Parallel()
	inTime(t, Config{Topic: snapshotOf("snapshot")}, func(t *testing.T, h *Hub, w *wire) {
		connect(h, "a")
		mustSubscribe(t, h, "a", "btc", "subscribed")
		mustSubscribe(t, h, "a", "btc", "alreadySubscribed")
		synctest.Wait()
		publish(h, "btc", Event, "1")
		expect(t, w, "a", "subscribed", "snapshot btc", "alreadySubscribed", "1")
	})
}

func TestAWaitingStateIsReplaced(t *testing.T) {
	t.Parallel()
	inTime(t, Config{}, func(t *testing.T, h *Hub, w *wire) {
		connect(h, "a")
		mustSubscribe(t, h, "a", "btc", "")
		mustSubscribe(t, h, "a", "eth", "")
		release := w.stall("a")
		publish(h, "btc", State, "btc 1")
		synctest.Wait()
		publish(h, "btc", State, "btc 2", "btc 3")
		publish(h, "eth", State, "eth 1")
		publish(h, "btc", State, "btc 4")
		release()
		expect(t, w, "a", "btc 1", "btc 4", "eth 1")
		if s, _ := h.Stats("a"); s.Discarded != 0 || s.Sent != 3 {
			t.Errorf("stats %+v, want 3 sent and none discarded", s)
		}
	})
}

func TestTheOldestWaitingEventIsDroppedAndCounted(t *testing.T) {
	t.Parallel()
	inTime(t, Config{Queue: 3}, func(t *testing.T, h *Hub, w *wire) {
		connect(h, "a")
		mustSubscribe(t, h, "a", "btc", "")
		release := w.stall("a")
		publish(h, "btc", Event, "1")
		synctest.Wait()
		publish(h, "btc", Event, "2", "3", "4", "5", "6")
		if s, _ := h.Stats("a"); s.Discarded != 2 || s.QueueLen != 3 {
			t.Errorf("stats %+v, want 2 discarded and 3 waiting", s)
		}
		release()
		expect(t, w, "a", "1", "4", "5", "6")
	})
}

func TestALateEventWaitsForAllElseAndIsDroppedFirst(t *testing.T) {
	t.Parallel()
	inTime(t, Config{Queue: 3, QueueBytes: 8, Tries: 3}, func(t *testing.T, h *Hub, w *wire) {
		began := time.Now()
		connect(h, "a")
		time.Sleep(time.Hour)
		connect(h, "b")
		for _, id := range []string{"a", "b"} {
			mustSubscribe(t, h, id, "fills", "")
		}
		late := func(frames ...string) {
			for _, f := range frames {
				h.PublishLate("fills", []byte(f), began.Add(time.Minute), 0)
			}
		}
		release := w.stall("a")
		late("l1")
		synctest.Wait()
		late("l2", "l3", "l4", "l5") // l2 is one too many
		publish(h, "fills", Event, "e1", "e2")
		if s, _ := h.Stats("a"); s.Discarded != 2 || s.QueueLen != 4 { // with the events, l3 is too much
			t.Errorf("stats %+v, want 2 discarded and 4 waiting", s)
		}
		w.fail("a", nil, nil, nil, ErrBusy, nil, ErrBusy, ErrBusy, ErrBusy)
		release()
		time.Sleep(time.Minute)
		expect(t, w, "a", "l1", "e1", "e2", "l4") // l5 was refused 3 times
		expect(t, w, "b", "e1", "e2")             // who came later knows what happened by then
		release = w.stall("a")
		publish(h, "fills", Event, "e3")
		synctest.Wait()
		late("l6")
		h.Unsubscribe("a", "fills")
		release()
		expect(t, w, "a", "l1", "e1", "e2", "l4", "e3")
	})
}

func TestWaitingEventsAreBoundInBytes(t *testing.T) {
	t.Parallel()
	inTime(t, Config{QueueBytes: 10}, func(t *testing.T, h *Hub, w *wire) {
		connect(h, "a")
		mustSubscribe(t, h, "a", "btc", "")
		release := w.stall("a")
		publish(h, "btc", Event, "1")
		synctest.Wait()
		publish(h, "btc", Event, "aaaa", "bbbb", "cccc", strings.Repeat("x", 11))
		if s, _ := h.Stats("a"); s.Discarded != 4 {
			t.Errorf("%d discarded, want all 4: the last is over the bound by itself", s.Discarded)
		}
		publish(h, "btc", Event, "dddd")
		release()
		expect(t, w, "a", "1", "dddd")
	})
}

func TestAFinalStateIsKeptAndTakesThePlaceOfAnOlder(t *testing.T) {
	t.Parallel()
	inTime(t, Config{}, func(t *testing.T, h *Hub, w *wire) {
		connect(h, "a")
		mustSubscribe(t, h, "a", "1s", "")
		release := w.stall("a")
		publish(h, "1s", State, "open 0")
		synctest.Wait()
		publish(h, "1s", State, "open 1")
		publish(h, "1s", Final, "closed 1")
		publish(h, "1s", State, "open 2", "open 3")
		release()
		expect(t, w, "a", "open 0", "closed 1", "open 3")
	})
}

func TestSpacingHoldsStatesBackAndKeepsTheNewest(t *testing.T) {
	t.Parallel()
	spaced := func(string) Topic { return Topic{Spacing: 470 * time.Millisecond} }
	inTime(t, Config{Topic: spaced}, func(t *testing.T, h *Hub, w *wire) {
		connect(h, "a")
		mustSubscribe(t, h, "a", "1s", "")
		for i := range 23 {
			kind := State
			if i == 9 || i == 19 {
				kind = Final
			}
			publish(h, "1s", kind, fmt.Sprint(i))
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(time.Second)
		// Frames leave at 0, 0.47, 0.94 s and so on; 19 is published just after 1.88 s.
		expect(t, w, "a", "0", "4", "9", "14", "18", "19", "22")
		for i, at := range w.at["a"][1:] {
			if gap := at.Sub(w.at["a"][i]); gap < 470*time.Millisecond {
				t.Errorf("frame %d came after %v, want at least 470ms", i+1, gap)
			}
		}
	})
}

func TestAStateHeldBackIsNotSentToWhoGotItAsSnapshot(t *testing.T) {
	t.Parallel()
	var now atomic.Int64
	spaced := func(string) Topic {
		return Topic{Spacing: 500 * time.Millisecond, Snapshot: func() [][]byte { return Single(fmt.Appendf(nil, "snapshot %d", now.Load())) }}
	}
	inTime(t, Config{Topic: spaced}, func(t *testing.T, h *Hub, w *wire) {
		connect(h, "a", "b")
		mustSubscribe(t, h, "a", "1s", "")
		time.Sleep(500 * time.Millisecond)
		for range 2 {
			publish(h, "1s", State, fmt.Sprint(now.Add(1)))
			synctest.Wait()
		}
		mustSubscribe(t, h, "b", "1s", "")
		time.Sleep(time.Second)
		expect(t, w, "a", "snapshot 0", "1", "2")
		expect(t, w, "b", "snapshot 2")
	})
}

func TestTheSnapshotKeepsTheSpacingToo(t *testing.T) {
	t.Parallel()
	const spacing = 500 * time.Millisecond
	var now atomic.Int64
	spaced := func(string) Topic {
		return Topic{Spacing: spacing, Snapshot: func() [][]byte { return Single(fmt.Appendf(nil, "snapshot %d", now.Load())) }}
	}
	inTime(t, Config{Topic: spaced}, func(t *testing.T, h *Hub, w *wire) {
		began := time.Now()
		ids := []string{"first", "early", "late", "left"}
		connect(h, ids...)
		mustSubscribe(t, h, "first", "1s", "")
		for i := range 30 { // a state every 70 ms
			synctest.Wait()
			now.Store(int64(i))
			publish(h, "1s", State, fmt.Sprint(i))
			switch i {
			case 2:
				mustSubscribe(t, h, "early", "1s", "subscribed")
				mustSubscribe(t, h, "left", "1s", "subscribed")
				h.Unsubscribe("left", "1s")
			case 15:
				mustSubscribe(t, h, "late", "1s", "subscribed")
			}
			time.Sleep(70 * time.Millisecond)
		}
		time.Sleep(time.Second)
		expect(t, w, "first", "snapshot 0", "7", "14", "21", "28", "29")
		expect(t, w, "early", "subscribed", "snapshot 7", "14", "21", "28", "29")
		expect(t, w, "late", "subscribed", "snapshot 21", "28", "29")
		expect(t, w, "left", "subscribed")
		for _, id := range ids {
			for i := range w.at[id] {
				if reply := i == 0 || w.got[id][i-1] == "subscribed"; !reply && w.at[id][i].Sub(w.at[id][i-1]) < spacing {
					t.Errorf("%s: %s at %v, after %s at %v", id, w.got[id][i], w.at[id][i].Sub(began), w.got[id][i-1], w.at[id][i-1].Sub(began))
				}
			}
		}
	})
}

func TestASilentTopicSendsItsLastFrameAsStale(t *testing.T) {
	t.Parallel()
	silent := func(string) Topic {
		return Topic{
			Snapshot: func() [][]byte { return Single([]byte("book 0")) },
			Silence:  15 * time.Second,
			Stale:    func(last []byte) []byte { return []byte(string(last) + " stale") },
		}
	}
	inTime(t, Config{Topic: silent}, func(t *testing.T, h *Hub, w *wire) {
		connect(h, "a")
		mustSubscribe(t, h, "a", "btc", "")
		time.Sleep(16 * time.Second)
		publish(h, "btc", State, "book 1")
		time.Sleep(14 * time.Second)
		expect(t, w, "a", "book 0", "book 0 stale", "book 1")
		time.Sleep(17 * time.Second)
		expect(t, w, "a", "book 0", "book 0 stale", "book 1", "book 1 stale", "book 1 stale")
	})
}

func TestUnsubscribingWithdrawsWhatWaits(t *testing.T) {
	t.Parallel()
	inTime(t, Config{}, func(t *testing.T, h *Hub, w *wire) {
		connect(h, "a")
		for _, topic := range []string{"book", "trades", "fills"} {
			mustSubscribe(t, h, "a", topic, "")
		}
		release := w.stall("a")
		publish(h, "fills", Event, "fill 1")
		synctest.Wait()
		publish(h, "book", State, "book")
		publish(h, "trades", Event, "trade")
		publish(h, "fills", Event, "fill 2")
		if !h.Unsubscribe("a", "book") || !h.Unsubscribe("a", "trades") || h.Unsubscribe("a", "trades") {
			t.Error("Unsubscribe must report whether there was a subscription")
		}
		release()
		expect(t, w, "a", "fill 1", "fill 2")
		if h.Watched("book") || !h.Watched("fills") {
			t.Error("a topic is watched while it has a subscriber")
		}
		if got := h.Totals(); got.Topics != 1 || got.Discarded != 0 {
			t.Errorf("totals %+v, want one topic and nothing discarded", got)
		}
	})
}

func TestAGoneConnectionIsRemovedAndReportedOnce(t *testing.T) {
	t.Parallel()
	var reported []string
	gone := func(c Conn, why error) { reported = append(reported, fmt.Sprint(c.ID, " ", errors.Is(why, ErrGone))) }
	inTime(t, Config{Gone: gone}, func(t *testing.T, h *Hub, w *wire) {
		connect(h, "a", "b")
		mustSubscribe(t, h, "a", "btc", "")
		mustSubscribe(t, h, "b", "btc", "")
		w.fail("a", fmt.Errorf("post: %w", ErrGone))
		publish(h, "btc", Event, "1", "2", "3")
		expect(t, w, "a")
		expect(t, w, "b", "1", "2", "3")
		h.Disconnect("a")
		check.Equalf(t, []string{"a true"}, reported, "reported")
		if err := h.Subscribe("a", "btc", nil); !errors.Is(err, ErrUnknown) {
			t.Errorf("subscribing it: %v, want ErrUnknown", err)
		}
		if err := h.Send("a", []byte("x")); !errors.Is(err, ErrUnknown) {
			t.Errorf("sending to it: %v, want ErrUnknown", err)
		}
	})
}

func TestTooManyRepliesEndAConnection(t *testing.T) {
	t.Parallel()
	var reported []error
	config := Config{Queue: 3, Gone: func(_ Conn, why error) { reported = append(reported, why) }}
	inTime(t, config, func(t *testing.T, h *Hub, w *wire) {
		connect(h, "a")
		defer w.stall("a")()
		for i := range 4 {
			if err := h.Send("a", []byte("pong")); err != nil {
				t.Fatalf("reply %d: %v", i, err)
			}
			synctest.Wait()
		}
		if err := h.Send("a", []byte("pong")); !errors.Is(err, ErrOverflow) {
			t.Errorf("one more than the bound: %v, want ErrOverflow", err)
		}
		if len(reported) != 1 || !errors.Is(reported[0], ErrOverflow) || h.Totals().Connections != 0 {
			t.Errorf("reported %v with %d connections left, want ErrOverflow once and none", reported, h.Totals().Connections)
		}
	})
}

func TestARefusedFrameIsTriedAgainInOrder(t *testing.T) {
	t.Parallel()
	inTime(t, Config{Tries: 3}, func(t *testing.T, h *Hub, w *wire) {
		connect(h, "a")
		mustSubscribe(t, h, "a", "btc", "")
		w.fail("a", ErrBusy, ErrBusy, nil, ErrBusy, ErrBusy, ErrBusy)
		publish(h, "btc", Event, "1", "2", "3")
		time.Sleep(time.Minute)
		expect(t, w, "a", "1", "3")
		if s, _ := h.Stats("a"); s.Discarded != 1 {
			t.Errorf("%d discarded, want the one refused 3 times", s.Discarded)
		}
	})
}

func TestWhatIsTriedAgainIsWithinTheBoundsOfTheQueue(t *testing.T) {
	t.Parallel()
	sink := newWire()
	sink.fail("a", ErrBusy, ErrBusy, ErrBusy)
	synctest.Test(t, func(t *testing.T) {
		h := New(Config{Sink: sink, Queue: 3})
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		connect(h, "a")
		mustSubscribe(t, h, "a", "trades", "")
		publish(h, "trades", Event, "1", "2", "3")
		running.Go(func() { h.Run(ctx) })
		synctest.Wait()
		publish(h, "trades", Event, "4", "5")
		if s, _ := h.Stats("a"); s.QueueLen != 3 || s.Discarded != 2 {
			t.Errorf("stats %+v, want 3 waiting and 2 discarded", s)
		}
		time.Sleep(time.Minute)
		expect(t, sink, "a", "3", "4", "5")
		stop()
		running.Wait()
	})
}

func TestAStateIsTriedUntilItArrivesOrANewerDoes(t *testing.T) {
	t.Parallel()
	inTime(t, Config{Tries: 2, Topic: snapshotOf("snapshot")}, func(t *testing.T, h *Hub, w *wire) {
		connect(h, "a")
		unknown := errors.New("connection reset")
		w.fail("a", unknown, ErrBusy, ErrBusy, ErrBusy, nil, unknown, ErrBusy)
		mustSubscribe(t, h, "a", "btc", "")
		time.Sleep(time.Minute)
		expect(t, w, "a", "snapshot btc")
		publish(h, "btc", State, "1")
		synctest.Wait()
		publish(h, "btc", State, "2")
		time.Sleep(time.Minute)
		expect(t, w, "a", "snapshot btc", "2")
		if s, _ := h.Stats("a"); s.Discarded != 0 {
			t.Errorf("%d discarded, want none", s.Discarded)
		}
	})
}

func TestAReplyIsTriedUntilItArrives(t *testing.T) {
	t.Parallel()
	inTime(t, Config{Tries: 2, Topic: snapshotOf("snapshot")}, func(t *testing.T, h *Hub, w *wire) {
		connect(h, "a")
		w.fail("a", slices.Repeat([]error{ErrBusy}, 20)...)
		mustSubscribe(t, h, "a", "btc", "reply")
		publish(h, "btc", State, "1")
		time.Sleep(5 * time.Minute)
		expect(t, w, "a", "reply", "snapshot btc")
		if s, _ := h.Stats("a"); s.Discarded != 0 {
			t.Errorf("%d discarded, want none", s.Discarded)
		}
	})
}

func TestAnEventWithUnknownOutcomeIsNotSentTwice(t *testing.T) {
	t.Parallel()
	inTime(t, Config{}, func(t *testing.T, h *Hub, w *wire) {
		connect(h, "a")
		mustSubscribe(t, h, "a", "btc", "")
		w.fail("a", errors.New("connection reset"))
		publish(h, "btc", Event, "1", "2")
		time.Sleep(time.Second)
		expect(t, w, "a", "2")
		if s, _ := h.Stats("a"); s.Discarded != 1 {
			t.Errorf("%d discarded, want 1", s.Discarded)
		}
	})
}

func TestARejectedFrameIsDroppedWithoutARest(t *testing.T) {
	t.Parallel()
	inTime(t, Config{}, func(t *testing.T, h *Hub, w *wire) {
		connect(h, "a")
		mustSubscribe(t, h, "a", "btc", "")
		w.fail("a", ErrRejected)
		publish(h, "btc", State, "too large")
		synctest.Wait()
		publish(h, "btc", State, "small")
		expect(t, w, "a", "small")
		if s, _ := h.Stats("a"); s.Discarded != 1 {
			t.Errorf("%d discarded, want 1", s.Discarded)
		}
	})
}

func TestStalledConnectionsDelayNobodyElse(t *testing.T) {
	t.Parallel()
	config := Config{Senders: 2, SlowSenders: 3, SlowAfter: 200 * time.Millisecond, Timeout: 2 * time.Second}
	inTime(t, config, func(t *testing.T, h *Hub, w *wire) {
		for i := range 50 {
			id := fmt.Sprint("stalled ", i)
			connect(h, id)
			mustSubscribe(t, h, id, "btc", "")
			defer w.stall(id)()
		}
		connect(h, "a")
		mustSubscribe(t, h, "a", "btc", "")
		publish(h, "btc", State, "1")
		time.Sleep(10 * time.Second) // until each of them has held up a sender once
		for i := range 20 {
			began := time.Now()
			publish(h, "btc", State, fmt.Sprint("state ", i))
			for got := w.frames("a"); got[len(got)-1] != fmt.Sprint("state ", i); got = w.frames("a") {
				time.Sleep(time.Millisecond)
			}
			if took := time.Since(began); took > 10*time.Millisecond {
				t.Errorf("frame %d took %v", i, took)
			}
			time.Sleep(300 * time.Millisecond)
		}
	})
}

func TestStatsTellTheTruth(t *testing.T) {
	t.Parallel()
	inTime(t, Config{}, func(t *testing.T, h *Hub, _ *wire) {
		h.Connect(Conn{ID: "a", At: time.Now().Add(-time.Minute)})
		mustSubscribe(t, h, "a", "btc", "")
		publish(h, "btc", Event, "1", "2", "3", "4")
		time.Sleep(2 * time.Second)
		got, known := h.Stats("a")
		if want := (Stats{Duration: 62 * time.Second, Sent: 4, PerSecond: 2}); !known || got != want {
			t.Errorf("stats %+v, want %+v", got, want)
		}
		h.Disconnect("a")
		if total := h.Totals(); total != (Totals{Sent: 4}) {
			t.Errorf("totals %+v, want 4 sent and nothing left", total)
		}
		if _, known := h.Stats("a"); known {
			t.Error("a connection that left is still known")
		}
	})
}

// Requests may be limited to fewer than there are frames: then a state that is sent is
// the newest there is, however long its connection had to wait.
func TestALimitOfRequestsMakesStatesFewerAndNotOlder(t *testing.T) {
	t.Parallel()
	const perSecond, every, seconds = 10, 10 * time.Millisecond, 20
	limit := rate.NewLimiter(perSecond, 1)
	inTime(t, Config{Admit: limit.Wait}, func(t *testing.T, h *Hub, w *wire) {
		ids := []string{"a", "b", "c", "d"}
		connect(h, ids...)
		for _, id := range ids {
			mustSubscribe(t, h, id, "book", "")
		}
		began := time.Now()
		for time.Since(began) < seconds*time.Second {
			publish(h, "book", State, strconv.FormatInt(time.Now().UnixMilli(), 10))
			time.Sleep(every)
		}
		last := time.Now().Add(-every).UnixMilli()
		time.Sleep(time.Second)
		w.mu.Lock()
		defer w.mu.Unlock()
		if most := perSecond*(seconds+1) + 1; w.calls > most || w.calls < most-len(ids)-perSecond {
			t.Errorf("%d requests were made, want about %d", w.calls, most)
		}
		for _, id := range ids {
			for i, frame := range w.got[id] {
				made, _ := strconv.ParseInt(frame, 10, 64)
				if age := w.at[id][i].Sub(time.UnixMilli(made)); age > every && made != last {
					t.Errorf("%s was sent a state %s old", id, age)
				}
			}
			if got := w.got[id]; len(got) == 0 || got[len(got)-1] != strconv.FormatInt(last, 10) {
				t.Errorf("%s was not sent the last state", id)
			}
		}
	})
}

func TestATopicKnowsWhoseConnectionsFollowIt(t *testing.T) {
	t.Parallel()
	inTime(t, Config{}, func(t *testing.T, h *Hub, _ *wire) {
		for id, of := range map[string]string{"a": "one", "b": "one", "c": "two"} {
			h.Connect(Conn{ID: id, Of: of})
			mustSubscribe(t, h, id, "btc", "")
		}
		mustSubscribe(t, h, "b", "btc", "") // again
		mustSubscribe(t, h, "c", "eth", "")
		follow := func(when string, topics []string, want ...string) {
			t.Helper()
			if got := h.Followers(topics...); !slices.Equal(got, want) {
				t.Errorf("%s %q follow %q, want %q", when, got, topics, want)
			}
		}
		follow("at first", []string{"btc"}, "one", "two")
		follow("at first", []string{"eth", "none", "btc"}, "one", "two")
		h.Unsubscribe("b", "btc")
		h.Unsubscribe("c", "btc")
		follow("after two left", []string{"btc"}, "one")
		follow("after two left", []string{"btc", "eth"}, "one", "two")
		h.Disconnect("a")
		h.Disconnect("c")
		follow("in the end", []string{"btc", "eth"})
	})
}

// Time is that of the bubble: it passes by admissions and rests alone.
func TestManyConnectionsOfOneOwnerLeaveTheOthersTheirTurns(t *testing.T) {
	t.Parallel()
	const perSecond, many = 1000, 2000
	for _, c := range []struct {
		name          string
		greedy, other []error // what their posts are answered
		most          time.Duration
	}{
		{"all are healthy", nil, nil, 3 * time.Millisecond},
		{"all fail", slices.Repeat([]error{ErrBusy}, 100), []error{ErrBusy}, 50*time.Millisecond + 3*failingTurn*time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			inTime(t, Config{Admit: rate.NewLimiter(perSecond, 1).Wait}, func(t *testing.T, h *Hub, w *wire) {
				h.Connect(Conn{ID: "other", Of: "other"})
				mustSubscribe(t, h, "other", "own", "")
				for i := range many {
					id := fmt.Sprint("greedy ", i)
					h.Connect(Conn{ID: id, Of: "greedy"})
					mustSubscribe(t, h, id, "busy", "")
					w.fail(id, c.greedy...)
				}
				for i := range 20 {
					w.fail("other", c.other...)
					publish(h, "busy", State, fmt.Sprint(i))
					time.Sleep(100 * time.Millisecond)
					began := time.Now()
					publish(h, "own", State, fmt.Sprint(i))
					time.Sleep(100 * time.Millisecond)
					synctest.Wait()
					if got := w.at["other"]; len(got) != i+1 {
						t.Fatalf("the other has %d frames of %d", len(got), i+1)
					} else if took := got[i].Sub(began); took > c.most {
						t.Errorf("the other was sent its frame after %v, want %v at most", took, c.most)
					}
				}
			})
		})
	}
}

func TestOwnersAreForgottenWithTheirLastConnection(t *testing.T) {
	t.Parallel()
	inTime(t, Config{}, func(t *testing.T, h *Hub, _ *wire) {
		for _, id := range []string{"a", "b", "c"} {
			h.Connect(Conn{ID: id, Of: "one"})
		}
		h.Connect(Conn{ID: "a", Of: "one"}) // again
		h.Connect(Conn{ID: "d", Of: "two"})
		for left, id := range []string{"a", "b", "c", "d"} {
			h.Disconnect(id)
			h.Disconnect(id)
			if want := [...]int{2, 2, 1, 0}[left]; len(h.owners) != want {
				t.Errorf("after %s left, %d owners are known, want %d", id, len(h.owners), want)
			}
		}
	})
}
