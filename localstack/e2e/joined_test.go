package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

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
