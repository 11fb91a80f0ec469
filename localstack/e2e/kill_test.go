package e2e

import (
	"context"
	"crypto/rand"
	"encoding/json"
	mathrand "math/rand/v2"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/coder/websocket"

	"quotary/localstack/client"
)

// The tests of this file end programs of the stack, so they run before those
// that run at a time.

// killed ends a program, or skips the test where the system does not show its
// processes.
func killed(t *testing.T, program string) {
	t.Helper()
	if kill(t, program) == 0 {
		t.Skip("the processes of the stack cannot be seen on this system")
	}
}

// kill ends the children of this process that run a program, without warning, and
// returns how many.
func kill(t *testing.T, program string) int {
	t.Helper()
	pids := children(program)
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	return len(pids)
}

// newestTrade is the time of a frame's last trade, ms; 0 for other frames.
func newestTrade(p pushed) int64 {
	var trades []struct{ Time int64 }
	if p.Channel != "trades" || json.Unmarshal(p.Data, &trades) != nil || len(trades) == 0 {
		return 0
	}
	return trades[len(trades)-1].Time
}

// slots are the connections and subscriptions that the table counts for a key.
func slots(t *testing.T, key client.Key) [2]int64 {
	t.Helper()
	db := dynamodb.New(dynamodb.Options{BaseEndpoint: &world.State.DynamoDB, Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")})
	out, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(world.State.Tables + "connections"), ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: "k#" + key.AccessKey}, "sk": &types.AttributeValueMemberS{Value: "k"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return [2]int64{number(out.Item["conns"]), number(out.Item["subs"])}
}

// freed waits until a key holds no slots.
func freed(t *testing.T, key client.Key) {
	t.Helper()
	for deadline := time.Now().Add(soon); slots(t, key) != [2]int64{}; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%v slots are taken %s after the last connection ended", slots(t, key), soon)
		}
	}
}

// killActive kills the ingester that works, or skips the test where the system does
// not show its processes.
func killActive(t *testing.T) (holder ingester, at time.Time) {
	t.Helper()
	if holder = active(t); holder.pid == 0 {
		t.Skip("the processes of the stack cannot be seen on this system")
	}
	if err := syscall.Kill(holder.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	return holder, time.Now()
}

// takenOver waits until another ingester than the killed one works.
func takenOver(t *testing.T, killed ingester, at time.Time, meanwhile func()) {
	t.Helper()
	for next := (ingester{}); next.Epoch <= killed.Epoch; time.Sleep(250 * time.Millisecond) {
		if meanwhile(); time.Since(at) > time.Minute {
			t.Fatal("nobody took over within a minute")
		}
		next = active(t)
	}
	t.Logf("the standby took over after %v", time.Since(at).Round(time.Millisecond))
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
	s.await("trades", 10*time.Second, func(p pushed) bool { return p.Channel == "trades" })
	time.Sleep(2 * time.Second) // a reply sent just before a crash may be sent again
	holder, at := killActive(t)
	s.send(trades) // while nobody is there to tell what came of it
	takenOver(t, holder, at, func() { s.send(`{"method":"ping"}`) })
	since := time.Now().UnixMilli()
	answered := false
	s.await("a trade after the restart", 20*time.Second, func(p pushed) bool {
		if p.Channel == "subscriptionResponse" {
			if answered || !strings.Contains(p.raw, `"alreadySubscribed"`) {
				t.Errorf("a reply was repeated: %s", p.raw)
			}
			answered = true
		}
		return newestTrade(p) > since
	})
	if !answered {
		t.Error("what was sent in the dead time was not answered")
	}
	s.answer(subscription("subscribe", map[string]any{"type": "bbo", "coin": "BTC"}), `{"error":"subscription limit exceeded","limit":1,"current":1}`)
	s.conn.CloseNow()
	reconnects(t, key, "/ws").conn.CloseNow()
	freed(t, key)
	for _, one := range ingesters(t) {
		if one.status != http.StatusOK {
			t.Errorf("%s is not ready: %+v", one.url, one)
		}
	}

	// A client that ends while there is neither a function that could be told nor
	// an ingester that could find out.
	s = reconnects(t, key, "/ws")
	s.answer(`{"method":"ping"}`, `{"channel":"pong"}`)
	holder, at = killActive(t)
	killed(t, "socket")
	s.conn.CloseNow()
	kill(t, "socket")
	takenOver(t, holder, at, func() {})
	freed(t, key)
}

// TestNoFillIsLostBetweenTwoIngesters follows accounts while the ingester that works
// is killed: what is stored of them was told, too, and little of it twice.
func TestNoFillIsLostBetweenTwoIngesters(t *testing.T) {
	key := world.State.Demo.SubKey
	addresses := traders(t, 10)
	s := connect(t, key, "/ws/fills")
	s.answer(addressList(addresses), `{"type":"subscribe"}`)
	type pushedFill struct {
		Address   string
		Time, Tid int64
	}
	told := map[pushedFill]int{}
	var first, last int64 // times of fills, ms
	listen := func(until time.Time) {
		t.Helper()
		s.send(`{"type":"ping"}`)
		for time.Now().Before(until) {
			p, err := s.next(10 * time.Second)
			if err != nil {
				t.Fatal(err)
			}
			var f pushedFill
			if p.Type != "data" {
				continue
			}
			if err := json.Unmarshal(p.Data, &f); err != nil {
				t.Fatal(err)
			}
			if told[f]++; first == 0 {
				first = f.Time
			}
			last = max(last, f.Time)
		}
	}
	listen(time.Now().Add(4 * time.Second))
	holder, at := killActive(t)
	takenOver(t, holder, at, func() { s.send(`{"type":"ping"}`) })
	taken := time.Now()
	listen(taken.Add(4 * time.Second))
	again := 0
	for f, times := range told {
		if again += times - 1; times > 2 {
			t.Errorf("%+v was told %d times", f, times)
		}
	}
	for _, address := range addresses {
		eventually(t, 20*time.Second, "its fills", func() client.Answer { return ask(t, key, "GET", hl+"/fills/"+address+"?limit=2000", nil) }, func(list []pushedFill) bool {
			stored, missing := 0, 0
			for _, f := range list {
				f.Address = address
				// Of the moment of the first some were told before it was followed.
				if f.Time <= first || f.Time >= last {
					continue
				}
				if stored++; told[f] == 0 {
					missing++
				}
			}
			if missing > 0 {
				t.Fatalf("of %d fills of %s %d were not told", stored, address, missing)
			}
			return len(list) > 0
		})
	}
	t.Logf("%d fills were told, %d of them again", len(told), again)
	if last < taken.UnixMilli() || len(told) < 5 {
		t.Errorf("%d fills, the last %s after the other took over: too few to tell", len(told), time.UnixMilli(last).Sub(taken))
	}
}

// TestTheFeedsOutliveTheSocketFunction kills the function that serves the
// messages: whoever is connected stays and goes on receiving, and the next message
// is served by another process.
func TestTheFeedsOutliveTheSocketFunction(t *testing.T) {
	key := issue(t, register(t, nil), map[string]any{"ws_conn_limit": 2, "ws_sub_limit": 4})
	s, address := connect(t, key, "/ws"), connect(t, key, "/ws/fills")
	trades := map[string]any{"type": "trades", "coin": "BTC"}
	s.send(subscription("subscribe", trades))
	s.await("trades", 10*time.Second, func(p pushed) bool { return p.Channel == "trades" })
	killed(t, "socket")
	since := time.Now().UnixMilli()
	s.await("a trade of the time after", 20*time.Second, func(p pushed) bool { return newestTrade(p) > since })
	s.answer(`{"method":"ping"}`, `{"channel":"pong"}`)
	address.answer(`{"type":"ping"}`, `{"type":"pong"}`)
	s.answer(subscription("unsubscribe", trades),
		`{"channel":"subscriptionResponse","data":{"method":"unsubscribe","subscription":{"coin":"BTC","type":"trades"},"status":"unsubscribed","activeCount":0}}`)

	// Killed with a message in hand: it was carried out or was not, the client is
	// told of a failure or of the result, and the connection lives on.
	for range 20 {
		s.send(subscription("subscribe", trades))
		time.Sleep(mathrand.N(4 * time.Millisecond))
		kill(t, "socket")
		s.await("an answer", soon, func(p pushed) bool {
			return p.Channel == "subscriptionResponse" || strings.Contains(p.raw, `"message":"Internal server error"`)
		})
		s.send(subscription("unsubscribe", trades))
		s.await("an answer", soon, func(p pushed) bool {
			if strings.Contains(p.raw, `"message":"Internal server error"`) { // the gateway had not noticed yet, or this is about the message before
				s.send(subscription("unsubscribe", trades))
			}
			return strings.Contains(p.raw, `"unsubscribed"`) || strings.Contains(p.raw, `"notSubscribed"`)
		})
	}
	s.send(subscription("unsubscribe", trades)) // the last one may have failed, too
	for deadline := time.Now().Add(soon); slots(t, key) != [2]int64{2, 0}; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%v slots are taken by two connections without subscriptions", slots(t, key))
		}
	}

	// Killed while clients leave: nobody learns of it but who looks.
	s.send(subscription("subscribe", trades))
	s.await("trades", soon, func(p pushed) bool { return p.Channel == "trades" })
	kill(t, "socket")
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
		ctx, done := context.WithTimeout(t.Context(), 10*time.Second)
		opened := make(chan *websocket.Conn)
		go func() {
			conn, _, err := websocket.Dial(ctx, world.State.WSBaseURL+hl+"/ws?"+parameters.Encode(), nil) //nolint:bodyclose // there is none to close, says Dial
			if err != nil {
				conn = nil // the function is gone
			}
			opened <- conn
		}()
		time.Sleep(mathrand.N(20 * time.Millisecond))
		kill(t, "socket")
		if conn := <-opened; conn != nil {
			conn.CloseNow()
		}
		done()
	}
	freed(t, key)
	connect(t, key, "/ws")
}
