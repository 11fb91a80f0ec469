package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// TestABookIsJoinedFromAllOrders compares books with joined prices with those of
// the venue, which joins more than the twenty prices that a plain book shows. Three
// in a row of those that the venue sends at a time must be the same, soon: where the
// machine is so busy that the venue's are late, the feed joins what it has in their
// place. Of one time the feed may send two, from both ways in which it follows a book:
// the last has all prices.
func TestABookIsJoinedFromAllOrders(t *testing.T) {
	t.Parallel()
	type book struct {
		Coin   string
		Time   int64
		Levels [2][]publicLevel
	}
	for _, grouping := range []map[string]any{{"nSigFigs": 2}, {"nSigFigs": 3}, {"nSigFigs": 4}, {"nSigFigs": 5}, {"nSigFigs": 5, "mantissa": 2}, {"nSigFigs": 5, "mantissa": 5}} {
		fields := map[string]any{"type": "l2Book", "coin": "BTC"}
		for name, value := range grouping {
			fields[name] = value
		}
		t.Run(fmt.Sprint(grouping["nSigFigs"], " figures in steps of ", grouping["mantissa"]), func(t *testing.T) {
			t.Parallel()
			ctx, done := context.WithTimeout(t.Context(), 2*soon)
			defer done()
			venue, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(world.State.VenueURL, "http")+"/ws", nil) //nolint:bodyclose // there is none to close, says Dial
			if err != nil {
				t.Fatal(err)
			}
			defer venue.CloseNow()
			venue.SetReadLimit(1 << 20)
			truth := &socket{t: t, conn: venue}
			truth.send(subscription("subscribe", fields))
			ours := connect(t, world.State.Demo.SubKey, "/ws")
			ours.send(subscription("subscribe", fields))
			next := func(s *socket, after int64) (b book) {
				t.Helper()
				s.await("a book", soon, func(p pushed) bool {
					return p.Channel == "l2Book" && json.Unmarshal(p.Data, &b) == nil && b.Time > after
				})
				return b
			}
			others := 0
			for same, a, b, ahead := 0, next(truth, 0), next(ours, 0), next(ours, 0); same < 3; {
				switch {
				case a.Time < b.Time:
					a = next(truth, a.Time)
				case a.Time > b.Time || ahead.Time == b.Time:
					b, ahead = ahead, next(ours, b.Time-1)
				default:
					if same++; !reflect.DeepEqual(a, b) {
						same = 0
						if others++; others == 20 {
							t.Fatalf("20 books are not the venue's: at %d it sends %v, the feed %v", a.Time, a.Levels, b.Levels)
						}
					}
					a = next(truth, a.Time)
				}
			}
		})
	}
}

// TestABookIsFollowedAsFastAsTheVenueSendsIt asks for the best prices alone, and for all,
// which are as new: the venue sends a plain book every five seconds.
func TestABookIsFollowedAsFastAsTheVenueSendsIt(t *testing.T) {
	t.Parallel()
	for fast, prices := range map[bool][2]int{true: {1, 5}, false: {6, 20}} {
		t.Run(fmt.Sprint("fast ", fast), func(t *testing.T) {
			t.Parallel()
			s := connect(t, world.State.Demo.SubKey, "/ws")
			s.send(fmt.Sprintf(`{"method":"subscribe","id":7,"subscription":{"type":"l2Book","coin":"BTC","fast":%t,"id":7}}`, fast))
			soonest := 10 * time.Second
			for last, n := int64(0), 0; n < 12; n++ {
				s.send(`{"method":"ping"}`) // or it would be disconnected
				s.await("a book", soon, func(p pushed) bool {
					var b struct {
						Time   int64
						Levels [2][]any
					}
					if p.Channel != "l2Book" || json.Unmarshal(p.Data, &b) != nil || b.Time <= last {
						return false
					}
					if got := len(b.Levels[0]); got < prices[0] || got > prices[1] {
						t.Errorf("%d bids, want from %d to %d", got, prices[0], prices[1])
					}
					if last > 0 {
						soonest = min(soonest, time.Duration(b.Time-last)*time.Millisecond)
					}
					last = b.Time
					return true
				})
			}
			if soonest > 4*time.Second { // of which a busy machine may take two
				t.Errorf("12 books are at least %s apart", soonest)
			}
		})
	}
}
