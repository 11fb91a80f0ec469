package e2e

import (
	"context"
	"crypto/rand"
	"encoding/json"
	mathrand "math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"quotary/localstack/client"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// The tests of this file end programs of the stack, so they run before those
// that run at a time.

// newestTrade is the time of a frame's last trade, ms; 0 for other frames.
func newestTrade(p pushed) int64 {
	var trades []struct{ Time int64 }
	if p.Channel != "trades" || json.Unmarshal(p.Data, &trades) != nil || len(trades) == 0 {
		return 0
	}
	return trades[len(trades)-1].Time
}

// TestTheFeedsOutliveTheIngester kills the one that works: the standby takes over,
// whoever is connected stays, gets a new snapshot and then data, and its slots are
// still counted; what a client asked for meanwhile is answered, and one that left
// unseen has freed its slots.
func TestTheFeedsOutliveTheIngester(t *testing.T) {
	key := issue(t, register(t, nil), map[string]any{"ws_conn_limit": 1, "ws_sub_limit": 1})
	s := connect(t, key, "/ws")
	trades := subscription("subscribe", map[string]any{"type": "trades", "coin": "BTC"})
	s.send(trades)
	s.await("trades", soon, func(p pushed) bool { return p.Channel == "trades" })
	// A reply sent just before a crash may be sent again: let the market move on.
	replied := time.Now()
	s.await("trades two seconds later", soon, func(p pushed) bool { return newestTrade(p) > replied.Add(2*time.Second).UnixMilli() })
	holder, at := killActive(t)
	s.send(trades) // while nobody is there to answer
	stop := s.stay()
	takenOver(t, holder, at)
	stop()
	since := time.Now().UnixMilli()
	answered, traded := false, false
	s.await("a trade after the restart and the answer", soon, func(p pushed) bool {
		if p.Channel == "subscriptionResponse" {
			if answered || !strings.Contains(p.raw, `"alreadySubscribed"`) {
				t.Errorf("a reply was repeated: %s", p.raw)
			}
			answered = true
		}
		traded = traded || newestTrade(p) > since
		return traded && answered
	})
	s.answer(subscription("subscribe", map[string]any{"type": "bbo", "coin": "BTC"}), `{"error":"subscription limit exceeded","limit":1,"current":1}`)
	s.conn.CloseNow()
	connect(t, key, "/ws").conn.CloseNow()
	freed(t, key)
	testenv.Until(t, "both ingesters are ready", func() bool {
		return !slices.ContainsFunc(ingesters(t), func(one ingester) bool { return one.status != http.StatusOK })
	})

	// A client that ends while there is neither a function that could learn of it nor
	// an ingester that could find out.
	s = connect(t, key, "/ws")
	s.answer(`{"method":"ping"}`, `{"channel":"pong"}`)
	holder, at = killActive(t)
	killed(t, "socket")
	s.conn.CloseNow()
	kill(t, "socket")
	takenOver(t, holder, at)
	freed(t, key)
}

// TestNoFillIsLostBetweenTwoIngesters follows accounts while the ingester that works
// is killed: every fill of them that is stored was pushed, too, and once more at
// most for each time that another ingester took over.
func TestNoFillIsLostBetweenTwoIngesters(t *testing.T) {
	key := world.State.Demo.SubKey
	began := active(t, 0)
	addresses := traders(t, 10)
	s := connect(t, key, "/ws/fills")
	s.answer(addressList(addresses), `{"type":"subscribe"}`)
	type pushedFill struct {
		Address   string
		Time, Tid int64
	}
	received := map[pushedFill]int{}
	var first, last int64 // times of fills, ms
	receive := func(what string, enough func() bool) {
		t.Helper()
		s.await(what, 2*time.Minute, func(p pushed) bool {
			var f pushedFill
			if p.Type != "data" {
				return false
			}
			must.Do(t, json.Unmarshal(p.Data, &f))
			if received[f]++; first == 0 {
				first = f.Time
			}
			last = max(last, f.Time)
			return enough()
		})
	}
	receive("ten fills", func() bool { return len(received) >= 10 })
	holder, at := killActive(t)
	stop := s.stay()
	takenOver(t, holder, at)
	stop()
	taken, before := time.Now().UnixMilli(), len(received)
	receive("ten fills more, some of them after the other took over", func() bool { return last > taken && len(received) >= before+10 })
	again, takeovers := 0, int(active(t, 0).Epoch-began.Epoch)
	for f, times := range received {
		if again += times - 1; times > 1+takeovers {
			t.Errorf("%+v was pushed %d times, with %d takeovers", f, times, takeovers)
		}
	}
	for _, address := range addresses {
		eventually(t, "its fills", func() client.Answer { return ask(t, key, "GET", hl+"/fills/"+address+"?limit=2000", nil) }, func(list []pushedFill) bool {
			stored, missing := 0, 0
			for _, f := range list {
				f.Address = address
				// Of the moment of the first some were pushed before it was followed.
				if f.Time <= first || f.Time >= last {
					continue
				}
				if stored++; received[f] == 0 {
					missing++
				}
			}
			if missing > 0 {
				t.Fatalf("of %d fills of %s %d were not pushed", stored, address, missing)
			}
			return len(list) > 0
		})
	}
	t.Logf("%d fills were pushed, %d of them again", len(received), again)
}

// TestTheFeedsOutliveTheSocketFunction kills the function that serves the
// messages: whoever is connected stays and goes on receiving, and the next message
// is served by another process.
func TestTheFeedsOutliveTheSocketFunction(t *testing.T) {
	key := issue(t, register(t, nil), map[string]any{"ws_conn_limit": 2, "ws_sub_limit": 4})
	s, address := connect(t, key, "/ws"), connect(t, key, "/ws/fills")
	stop := address.stay()
	trades := map[string]any{"type": "trades", "coin": "BTC"}
	s.send(subscription("subscribe", trades))
	s.await("trades", soon, func(p pushed) bool { return p.Channel == "trades" })
	killed(t, "socket")
	since := time.Now().UnixMilli()
	s.await("a trade of the time after", soon, func(p pushed) bool { return newestTrade(p) > since })
	s.answer(`{"method":"ping"}`, `{"channel":"pong"}`)
	stop()
	address.answer(`{"type":"ping"}`, `{"type":"pong"}`)
	stop = address.stay()
	s.answer(subscription("unsubscribe", trades),
		`{"channel":"subscriptionResponse","data":{"method":"unsubscribe","subscription":{"coin":"BTC","type":"trades"},"status":"unsubscribed","activeCount":0}}`)

	// Killed while it handles a message: it was carried out or was not, the client gets
	// an error or the result, perhaps both, and the connection lives on.
	answers := func(status string) func(pushed) bool {
		return func(p pushed) bool {
			return strings.Contains(p.raw, status) || strings.Contains(p.raw, `"message":"Internal server error"`)
		}
	}
	for range 20 {
		s.send(subscription("subscribe", trades))
		time.Sleep(mathrand.N(4 * time.Millisecond)) // at any moment of its work
		kill(t, "socket")
		s.await("an answer", soon, answers("ubscribed"))
		s.send(subscription("unsubscribe", trades))
		s.await("an answer", soon, answers("ubscribed"))
	}
	testenv.Until(t, "two connections without subscriptions take two slots", func() bool {
		s.send(subscription("unsubscribe", trades)) // any of them may have failed
		s.await("an answer", soon, answers("ubscribed"))
		return slots(t, key) == [2]int64{2, 0}
	})

	// Killed while clients leave: nobody learns of it but who looks.
	s.send(subscription("subscribe", trades))
	s.await("trades", soon, func(p pushed) bool { return p.Channel == "trades" })
	kill(t, "socket")
	stop()
	s.conn.CloseNow()
	address.conn.CloseNow()
	kill(t, "socket")
	freed(t, key)
}

// TestAHandshakeThatAKilledFunctionBeganTakesNoSlot kills the function while
// clients connect, at any moment of the handshake.
func TestAHandshakeThatAKilledFunctionBeganTakesNoSlot(t *testing.T) {
	key := issue(t, register(t, nil), map[string]any{"ws_conn_limit": 100})
	connect(t, key, "/ws").conn.CloseNow() // there is a function
	killed(t, "socket")
	for range 25 {
		parameters := key.Sign(time.Now(), rand.Text())
		ctx, done := context.WithTimeout(t.Context(), soon)
		opened := make(chan *websocket.Conn)
		go func() {
			conn, _, err := websocket.Dial(ctx, world.State.WSBaseURL+hl+"/ws?"+parameters.Encode(), nil) //nolint:bodyclose // there is none to close, says Dial
			if err != nil {
				conn = nil // the function is gone
			}
			opened <- conn
		}()
		time.Sleep(mathrand.N(20 * time.Millisecond)) // at any moment of the handshake
		kill(t, "socket")
		if conn := <-opened; conn != nil {
			conn.CloseNow()
		}
		done()
	}
	t.Parallel() // nothing is killed any more: what is left over goes after a minute
	freed(t, key)
	connect(t, key, "/ws")
}
