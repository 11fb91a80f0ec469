package gateway

import (
	"errors"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"pgregory.net/rapid"

	"quotary/shared/testing/must"
)

// TestAnOutboxKeepsItsOrderAndItsBound draws what is put in, read and written, and
// holds the outbox against a plain list.
func TestAnOutboxKeepsItsOrderAndItsBound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := newOutbox()
		var held []string // taken, and not yet written
		waiting := 0      // how many of them at the end have not been read
		next := byte('a')
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			bytes := 0
			for _, body := range held {
				bytes += len(body) + 1
			}
			switch rapid.SampledFrom([]string{"put", "next", "written"}).Draw(t, "step") {
			case "put":
				body := strings.Repeat(string(next), rapid.SampledFrom([]int{0, 1, 1000, 60_000, maxUnread - 1, maxUnread}).Draw(t, "size"))
				err := o.put(outgoing{websocket.MessageText, []byte(body)})
				if fits := len(held) == 0 || bytes+len(body)+1 <= maxUnread; fits != (err == nil) || err != nil && !errors.Is(err, errFull) {
					t.Fatalf("%d bytes beside %d: error %v", len(body), bytes, err)
				}
				if err == nil {
					held, waiting = append(held, body), waiting+1
				}
				next++
			case "next":
				if waiting == 0 || waiting < len(held) {
					continue // nothing to read, or one is being written
				}
				if m, ok := o.next(); !ok || string(m.body) != held[0] {
					t.Fatalf("read %.10q, %v, want %.10q", m.body, ok, held[0])
				}
				waiting--
			case "written":
				if waiting == len(held) {
					continue
				}
				o.written(outgoing{websocket.MessageText, []byte(held[0])})
				held = held[1:]
			}
		}
		o.close()
		if err := o.put(outgoing{}); !errors.Is(err, errClosed) {
			t.Errorf("put after close: %v", err)
		}
		for ; waiting > 0; waiting-- {
			if m, ok := o.next(); !ok || string(m.body) != held[len(held)-waiting] {
				t.Fatalf("after close: %.10q, %v", m.body, ok)
			}
		}
		if _, ok := o.next(); ok {
			t.Error("a closed outbox gave more than it held")
		}
	})
}

func TestWhoWaitsForRoomInAnOutboxGetsItOrItsEnd(t *testing.T) {
	t.Parallel()
	o := newOutbox()
	large := outgoing{websocket.MessageText, make([]byte, maxUnread)}
	must.Do(t, o.put(large))
	results := make(chan error)
	wait := func() { results <- o.putWhenRoom(large) }
	go wait()
	if m, ok := o.next(); !ok {
		t.Fatal("nothing to read")
	} else {
		o.written(m)
	}
	if err := <-results; err != nil {
		t.Errorf("with room: %v", err)
	}
	go wait()
	o.close()
	if err := <-results; !errors.Is(err, errClosed) {
		t.Errorf("at the end: %v", err)
	}
}
