package hub

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"quotary/shared/testing/must"
)

// A client that does not read keeps the turns of others for half a minute, also where it takes a frame
// now and then and where others of its frames are before what is replayed.
func TestAReplayEndsToAClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		faults []error
		before string // a reply that is queued before
		gone   bool
	}{
		"reads":              {gone: false},
		"reads slowly":       {faults: slices.Repeat([]error{ErrBusy, ErrBusy, nil}, 100)},
		"never reads":        {faults: slices.Repeat([]error{ErrBusy}, 1000), gone: true},
		"does not read this": {faults: slices.Repeat([]error{ErrBusy}, 1000), before: "pong", gone: true},
		"reads now and then": {faults: slices.Repeat(append(slices.Repeat([]error{ErrBusy}, 10), nil), 100), gone: true},
		"loses frames":       {faults: slices.Repeat([]error{errors.New("lost")}, 1000), gone: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var gone []error
			inTime(t, Config{Gone: func(_ Conn, why error) { gone = append(gone, why) }}, func(t *testing.T, h *Hub, w *wire) {
				connect(h, "slow")
				w.fail("slow", c.faults...)
				if c.before != "" {
					must.Do(t, h.Send("slow", []byte(c.before)))
				}
				const frames = 100
				r := Replayed{Fresh: 1, Late: 1}
				for i := range frames {
					r.Frames, r.Places = append(r.Frames, fmt.Appendf(nil, `{"fill":%d}`, i)), append(r.Places, int64(i+2))
				}
				ended := false
				h.Hold("slow")
				must.Do(t, h.Replay("slow", []string{"fills"}, r, func() { ended = true }))
				time.Sleep(time.Minute)
				synctest.Wait()
				if removed := len(gone) == 1 && errors.Is(gone[0], ErrOverflow); !ended || removed != c.gone {
					t.Errorf("it has ended: %t, with %v and %d frames", ended, gone, len(w.frames("slow")))
				}
			})
		})
	}
}
