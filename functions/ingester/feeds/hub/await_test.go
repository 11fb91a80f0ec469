package hub

import (
	"fmt"
	"testing"

	"quotary/shared/testing/must"
)

func TestNoCursorIsSentWhileASnapshotIsAwaited(t *testing.T) {
	t.Parallel()
	place := int64(0)
	config := Config{
		Cursor: func(topic string, fresh, late int64) string { return fmt.Sprintf("%s %d %d", topic, fresh, late) },
		Topic: func(name string) Topic {
			return Topic{Place: func() int64 { return place }, Snapshot: func() [][]byte { return [][]byte{[]byte(`{"` + name + `":1}`), []byte(`{"` + name + `":2}`)} }}
		},
	}
	inTime(t, config, func(t *testing.T, h *Hub, w *wire) {
		connect(h, "one")
		pong := func(place int64) {
			t.Helper()
			must.Do(t, h.SendAt("one", fmt.Appendf(nil, `{"pong":%d}`, place), place))
		}
		var sent []string
		then := func(frames ...string) {
			t.Helper()
			sent = append(sent, frames...)
			expect(t, w, "one", sent...)
		}
		release := w.stall("one")
		pong(1)
		h.Await("one", "fills")
		h.Await("one", "ledgers")
		pong(2)
		mustSubscribe(t, h, "one", "fills", "")
		release()
		then(`{"pong":1,"cursor":" 1 1"}`, `{"pong":2}`, `{"fills":1}`, `{"fills":2}`)

		place = 4 // the snapshot lacked something
		h.PublishAt("fills", []byte(`{"fill":3}`), 3)
		mustSubscribe(t, h, "one", "ledgers", "")
		pong(5)
		then(`{"fill":3}`, `{"ledgers":1}`, `{"ledgers":2,"cursor":"ledgers 4 4"}`, `{"pong":5}`)
		h.PublishAt("ledgers", []byte(`{"ledger":6}`), 6)
		then(`{"ledger":6,"cursor":"ledgers 6 6"}`)

		h.PublishSnapshot("fills", [][]byte{[]byte(`{"all":1}`), []byte(`{"all":2}`)}, 7)
		pong(8)
		then(`{"all":1}`, `{"all":2,"cursor":"fills 7 7"}`, `{"pong":8,"cursor":" 8 8"}`)

		h.Await("one", "fills") // it has begun
		h.Await("one", "other")
		pong(9)
		then(`{"pong":9}`)
		h.Unsubscribe("one", "other")
		pong(10)
		then(`{"pong":10,"cursor":" 10 10"}`)
	})
}

func TestWhatIsReplayedIsNoLongerAwaitedUnlessItLacksSomething(t *testing.T) {
	t.Parallel()
	for place, want := range map[int64]string{0: `{"pong":1}`, 4: `{"pong":1,"cursor":" 9 9"}`} {
		config := Config{
			Cursor: func(topic string, fresh, late int64) string { return fmt.Sprintf("%s %d %d", topic, fresh, late) },
			Topic:  func(string) Topic { return Topic{Place: func() int64 { return place }} },
		}
		inTime(t, config, func(t *testing.T, h *Hub, w *wire) {
			connect(h, "one")
			h.Await("one", "fills")
			h.Hold("one")
			must.Do(t, h.Replay("one", []string{"fills"}, Replayed{Frames: [][]byte{[]byte(`{"fill":3}`)}, Places: []int64{3}, Fresh: 1, Late: 2}, func() {}))
			must.Do(t, h.SendAt("one", []byte(`{"pong":1}`), 9))
			expect(t, w, "one", `{"fill":3,"cursor":"fills 3 3"}`, want)
		})
	}
}
