package e2e

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"quotary/localstack/client"
)

// feedIdle is the idle limit that the tests' stack is given, so that they need
// not wait for a minute. The clients of the soak test have the real one.
var feedIdle = map[bool]time.Duration{true: 60 * time.Second, false: 10 * time.Second}[soakFor > 0]

// soon is how long anything on a feed may take that the product promises within
// seconds.
const soon = 5 * time.Second

// socket is a client of a feed.
type socket struct {
	t    *testing.T
	conn *websocket.Conn
}

// handshake opens a feed with extra query parameters. Where it is refused, the
// socket is nil and the answer tells why.
func handshake(t *testing.T, key client.Key, path string, query url.Values) (*socket, client.Answer) {
	t.Helper()
	parameters := key.Sign(time.Now(), rand.Text())
	for name, values := range query {
		parameters[name] = values
	}
	ctx, done := context.WithTimeout(t.Context(), 10*time.Second)
	defer done()
	conn, res, err := websocket.Dial(ctx, world.State.WSBaseURL+hl+path+"?"+parameters.Encode(), nil)
	if err != nil {
		if res == nil {
			t.Fatalf("connect to %s: %v", path, err)
		}
		body, _ := io.ReadAll(res.Body)
		return nil, client.Answer{Status: res.StatusCode, Header: res.Header, Body: body}
	}
	conn.SetReadLimit(1 << 20)
	t.Cleanup(func() { conn.CloseNow() })
	return &socket{t, conn}, client.Answer{Status: http.StatusSwitchingProtocols}
}

func connect(t *testing.T, key client.Key, path string) *socket {
	t.Helper()
	s, refused := handshake(t, key, path, nil)
	if s == nil {
		t.Fatalf("connect to %s: status %d: %s", path, refused.Status, refused.Body)
	}
	return s
}

func (s *socket) send(message string) {
	s.t.Helper()
	ctx, done := context.WithTimeout(s.t.Context(), soon)
	defer done()
	if err := s.conn.Write(ctx, websocket.MessageText, []byte(message)); err != nil {
		s.t.Fatalf("send %s: %v", message, err)
	}
}

// pushed is a frame of any feed.
type pushed struct {
	Channel string          `json:"channel"`
	Type    string          `json:"type"`
	Data    json.RawMessage `json:"data"`
	raw     string
}

// next reads one frame.
func (s *socket) next(within time.Duration) (pushed, error) {
	ctx, done := context.WithTimeout(s.t.Context(), within)
	defer done()
	_, b, err := s.conn.Read(ctx)
	if err != nil {
		return pushed{}, err
	}
	p := pushed{raw: string(b)}
	return p, json.Unmarshal(b, &p)
}

// await reads frames until one is as wanted.
func (s *socket) await(what string, within time.Duration, wanted func(pushed) bool) pushed {
	s.t.Helper()
	deadline := time.Now().Add(within)
	for {
		p, err := s.next(time.Until(deadline))
		if err != nil {
			s.t.Fatalf("waiting for %s: %v", what, err)
		}
		if wanted(p) {
			return p
		}
	}
}

// answer sends a message and waits for exactly this answer.
func (s *socket) answer(message, want string) {
	s.t.Helper()
	s.send(message)
	s.await(want, soon, func(p pushed) bool { return p.raw == want })
}

// ended waits for the end of the connection, whatever still comes.
func (s *socket) ended(within time.Duration) {
	s.t.Helper()
	deadline := time.Now().Add(within)
	for {
		if _, err := s.next(time.Until(deadline)); err != nil {
			if time.Now().After(deadline) {
				s.t.Fatalf("the connection is open after %s", within)
			}
			return
		}
	}
}

// reconnects waits until a key may connect again.
func reconnects(t *testing.T, key client.Key, path string) *socket {
	t.Helper()
	deadline := time.Now().Add(soon)
	for {
		s, refused := handshake(t, key, path, nil)
		if s != nil {
			return s
		}
		if refused.Status != http.StatusTooManyRequests {
			t.Fatalf("status %d: %s", refused.Status, refused.Body)
		}
		if time.Now().After(deadline) {
			t.Fatalf("no slot was freed within %s", soon)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func subscription(method string, fields map[string]any) string {
	text, err := json.Marshal(map[string]any{"method": method, "subscription": fields})
	if err != nil {
		panic(err)
	}
	return string(text)
}

var feedPaths = []string{"/ws", "/ws/fills", "/ws/filled-orders", "/ws/clearinghouse-state"}

func TestAFeedRefusesWhoMayNotConnect(t *testing.T) {
	t.Parallel()
	primary := register(t, nil)
	call(t, 200, primary, "PUT", d+"/levels/fills-only", level(0, "HL_WS_FILLS"))
	sub := issue(t, primary, nil)
	fillsOnly := issue(t, primary, map[string]any{"level": "fills-only"})
	for _, path := range feedPaths {
		for name, c := range map[string]struct {
			key  client.Key
			want int
		}{
			"no signature":   {client.Key{}, 401},
			"another secret": {client.Key{AccessKey: sub.AccessKey, SecretKey: primary.SecretKey}, 401},
			"a primary key":  {primary, 403},
			"an action":      {fillsOnly, map[bool]int{true: 101, false: 403}[path == "/ws/fills"]},
			"a sub-key":      {sub, 101},
		} {
			if _, answer := handshake(t, c.key, path, nil); answer.Status != c.want {
				t.Errorf("%s with %s: status %d, want %d: %s", path, name, answer.Status, c.want, answer.Body)
			}
		}
	}
}

func TestTheConnectionsOfAllFeedsShareOneLimit(t *testing.T) {
	t.Parallel()
	key := issue(t, register(t, nil), map[string]any{"ws_conn_limit": len(feedPaths)})
	var open []*socket
	for _, path := range feedPaths {
		open = append(open, connect(t, key, path))
	}
	for _, path := range feedPaths {
		_, refused := handshake(t, key, path, nil)
		if refused.Status != http.StatusTooManyRequests || !strings.Contains(string(refused.Body), "ws connection limit exceeded for sub key") {
			t.Errorf("%s over the limit: status %d: %s", path, refused.Status, refused.Body)
		}
	}
	if err := open[1].conn.Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Error(err)
	}
	reconnects(t, key, "/ws")
	open[2].conn.CloseNow() // as a client that is killed
	reconnects(t, key, "/ws/clearinghouse-state")
	if _, refused := handshake(t, key, "/ws", nil); refused.Status != http.StatusTooManyRequests {
		t.Errorf("a slot was freed twice: status %d", refused.Status)
	}
}

// TestTheMarketStreamsLive follows four channels of one coin on one connection.
func TestTheMarketStreamsLive(t *testing.T) {
	t.Parallel()
	s := connect(t, world.State.Demo.SubKey, "/ws")
	s.answer(`{"method":"ping"}`, `{"channel":"pong"}`)
	subscriptions := map[string]map[string]any{
		"l2Book": {"type": "l2Book", "coin": "BTC"}, "trades": {"type": "trades", "coin": "BTC"},
		"bbo": {"type": "bbo", "coin": "BTC"}, "candle": {"type": "candle", "coin": "BTC", "interval": "1s"},
	}
	for _, fields := range subscriptions {
		s.send(subscription("subscribe", fields))
	}
	frames := map[string]int{}
	last := map[string]float64{}
	replied := map[string]bool{}
	var candled time.Time
	deadline := time.Now().Add(40 * time.Second)
	for len(frames) < 4 || slices.ContainsFunc([]string{"l2Book", "trades", "bbo", "candle"}, func(c string) bool { return frames[c] < 3 }) {
		p, err := s.next(time.Until(deadline))
		if err != nil {
			t.Fatalf("after %v: %v", frames, err)
		}
		if p.Channel == "subscriptionResponse" {
			var reply struct {
				Status       string
				ActiveCount  int
				Subscription struct{ Type string }
			}
			if err := json.Unmarshal(p.Data, &reply); err != nil || reply.Status != "subscribed" || reply.ActiveCount != 1 {
				t.Errorf("reply %s: %v", p.raw, err)
			}
			replied[reply.Subscription.Type] = true
			continue
		}
		if frames[p.Channel]++; !replied[p.Channel] {
			t.Fatalf("a frame before the reply: %s", p.raw)
		}
		at := checkFrame(t, p)
		if at < last[p.Channel] {
			t.Errorf("%s goes back from %v to %v", p.Channel, last[p.Channel], at)
		}
		last[p.Channel] = at
		if p.Channel == "candle" {
			if since := time.Since(candled); since < 400*time.Millisecond && frames["candle"] > 2 {
				t.Errorf("two candles within %s", since)
			}
			candled = time.Now()
		}
		if frames[p.Channel]%10 == 0 {
			s.send(`{"method":"ping"}`)
		}
	}
	for _, c := range []struct{ method, status string }{{"subscribe", "alreadySubscribed"}, {"unsubscribe", "unsubscribed"}, {"unsubscribe", "notSubscribed"}} {
		active := map[string]int{"alreadySubscribed": 1}[c.status]
		s.answer(subscription(c.method, subscriptions["bbo"]),
			`{"channel":"subscriptionResponse","data":{"method":"`+c.method+`","subscription":{"coin":"BTC","type":"bbo"},"status":"`+c.status+`","activeCount":`+strconv.Itoa(active)+`}}`)
	}
}

// checkFrame checks the shape of a frame of /ws and returns its time.
func checkFrame(t *testing.T, p pushed) float64 {
	t.Helper()
	if p.Channel == "trades" {
		var trades []map[string]any
		if err := json.Unmarshal(p.Data, &trades); err != nil || len(trades) == 0 {
			t.Errorf("%s: %v", p.raw, err)
			return 0
		}
		for _, trade := range trades {
			has(t, p, trade, "coin", "side", "px", "sz", "hash", "time", "tid", "users")
		}
		return trades[len(trades)-1]["time"].(float64)
	}
	var m map[string]any
	if err := json.Unmarshal(p.Data, &m); err != nil {
		t.Errorf("%s: %v", p.raw, err)
		return 0
	}
	switch p.Channel {
	case "l2Book":
		has(t, p, m, "coin", "time", "levels")
	case "bbo":
		has(t, p, m, "coin", "time", "bbo")
	case "candle":
		has(t, p, m, "t", "T", "s", "i", "o", "c", "h", "l", "v", "n", "a", "nb", "vb", "ab")
		return m["t"].(float64)
	default:
		t.Errorf("unexpected frame %s", p.raw)
		return 0
	}
	return m["time"].(float64)
}

// has requires exactly these members, but for "stale".
func has(t *testing.T, p pushed, m map[string]any, names ...string) {
	t.Helper()
	delete(m, "stale")
	for _, name := range names {
		if _, ok := m[name]; !ok {
			t.Errorf("%s has no %s: %s", p.Channel+p.Type, name, p.raw)
		}
	}
	if len(m) != len(names) {
		t.Errorf("%s has other members than %v: %s", p.Channel+p.Type, names, p.raw)
	}
}

func TestASubscriptionOverTheLimitIsNotMade(t *testing.T) {
	t.Parallel()
	key := issue(t, register(t, nil), map[string]any{"ws_sub_limit": 2})
	one, two := connect(t, key, "/ws"), connect(t, key, "/ws/fills")
	bbo := map[string]any{"type": "bbo", "coin": "BTC"}
	one.send(subscription("subscribe", bbo))
	one.await("the reply", soon, func(p pushed) bool { return p.Channel == "subscriptionResponse" })
	two.answer(`{"type":"subscribe","address":["0x0000000000000000000000000000000000000001","0x0000000000000000000000000000000000000002"]}`, `{"type":"subscribe"}`)
	const refused = `{"error":"subscription limit exceeded","limit":2,"current":2}`
	one.answer(subscription("subscribe", map[string]any{"type": "bbo", "coin": "ETH"}), refused)
	two.answer(`{"type":"subscribe","address":["0x0000000000000000000000000000000000000003"]}`, refused)
	one.send(subscription("unsubscribe", bbo))
	one.await("the reply", soon, func(p pushed) bool { return strings.Contains(p.raw, `"unsubscribed"`) })
	two.answer(`{"type":"subscribe","address":["0x0000000000000000000000000000000000000003"]}`, `{"type":"subscribe"}`)

	// The end of a connection frees what it followed.
	two.conn.CloseNow()
	deadline := time.Now().Add(soon)
	for coin := range 2 {
		for {
			one.send(subscription("subscribe", map[string]any{"type": "trades", "coin": []string{"BTC", "ETH"}[coin]}))
			p := one.await("an answer", soon, func(p pushed) bool { return p.Channel == "subscriptionResponse" || p.raw == refused })
			if p.raw != refused {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("the slots are taken %s after the end of their connection", soon)
			}
			time.Sleep(200 * time.Millisecond)
		}
	}
}

func TestAMalformedMessageIsAnsweredAndTheConnectionLivesOn(t *testing.T) {
	t.Parallel()
	s := connect(t, world.State.Demo.SubKey, "/ws")
	for _, message := range []string{"", "{", `{"method":"dance"}`, subscription("subscribe", map[string]any{"type": "nope"}),
		subscription("subscribe", map[string]any{"type": "candle", "coin": "BTC", "interval": "7m"}), `{"method":"subscribe","subscription":{"type":"l2Book","coin":"BTC","nSigFigs":9}}`} {
		s.send(message)
		p := s.await("an error object", soon, func(pushed) bool { return true })
		var refused map[string]any
		if err := json.Unmarshal([]byte(p.raw), &refused); err != nil || refused["error"] == "" || len(refused) != 1 {
			t.Errorf("%q is answered %s", message, p.raw)
		}
	}
	s.answer(`{"method":"ping"}`, `{"channel":"pong"}`)
}

func TestADisabledKeyIsDisconnected(t *testing.T) {
	t.Parallel()
	primary := register(t, nil)
	for name, end := range map[string]func(client.Key){
		"disabled": func(k client.Key) { call(t, 200, primary, "POST", d+"/sub-keys/"+k.AccessKey+"/disable", nil) },
		"deleted":  func(k client.Key) { call(t, 200, primary, "DELETE", d+"/sub-keys/"+k.AccessKey, nil) },
	} {
		key := issue(t, primary, nil)
		var open []*socket
		for _, path := range feedPaths {
			open = append(open, connect(t, key, path))
		}
		end(key)
		at := time.Now()
		for i, s := range open {
			s.ended(soon - time.Since(at))
			if t.Failed() {
				t.Fatalf("%s after the key was %s", feedPaths[i], name)
			}
		}
	}
}

func TestAnIdleClientIsDisconnected(t *testing.T) {
	t.Parallel()
	idle, alive := connect(t, world.State.Demo.SubKey, "/ws"), connect(t, world.State.Demo.SubKey, "/ws/fills")
	idle.send(subscription("subscribe", map[string]any{"type": "bbo", "coin": "BTC"})) // what is pushed does not count
	done := make(chan struct{})
	go func() {
		defer close(done)
		idle.ended(feedIdle + soon)
	}()
	began := time.Now()
	tick := time.NewTicker(feedIdle / 4)
	defer tick.Stop()
	for ended := false; time.Since(began) < feedIdle+2*time.Second || !ended; {
		select {
		case <-done:
			if since := time.Since(began); !ended && since < feedIdle-time.Second {
				t.Errorf("disconnected after %s", since)
			}
			ended, done = true, nil
		case <-tick.C:
			alive.answer(`{"type":"ping"}`, `{"type":"pong"}`)
		}
	}
}

// traders are addresses that have just traded.
func traders(t *testing.T, n int) []string {
	t.Helper()
	s := connect(t, world.State.Demo.SubKey, "/ws")
	for _, coin := range []string{"BTC", "ETH", "SOL"} {
		s.send(subscription("subscribe", map[string]any{"type": "trades", "coin": coin}))
	}
	var list []string
	s.await("trades", 30*time.Second, func(p pushed) bool {
		var trades []struct{ Users []string }
		if p.Channel == "trades" && json.Unmarshal(p.Data, &trades) == nil {
			for _, trade := range trades {
				for _, user := range trade.Users {
					if !slices.Contains(list, user) {
						list = append(list, user)
					}
				}
			}
		}
		return len(list) >= n
	})
	return list
}

func addressList(addresses []string) string {
	text, err := json.Marshal(map[string]any{"type": "subscribe", "address": addresses})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestTheAddressFeedsTellOfActiveAccounts(t *testing.T) {
	t.Parallel()
	active := traders(t, 10)
	ours := func(p pushed, m map[string]any) bool {
		address, _ := m["address"].(string)
		if !slices.Contains(active, address) {
			t.Errorf("nobody follows %q: %s", address, p.raw)
		}
		return true
	}
	for path, names := range map[string][]string{
		"/ws/fills": {"address", "time", "coin", "px", "sz", "side", "startPosition", "dir", "closedPnl", "hash", "oid", "crossed", "fee", "tid", "feeToken", "twapId"},
		"/ws/filled-orders": {"ts", "address", "hash", "builder", "builderF", "status", "coin", "side", "limitPx", "sz", "oid", "placeTs", "trigger", "isTrigger",
			"triggerPx", "children", "positionTpsl", "reduceOnly", "orderType", "origSz", "tif", "cloid"},
		"/ws/clearinghouse-state": {"address", "state"},
	} {
		t.Run(strings.ReplaceAll(path, "/", "_"), func(t *testing.T) {
			t.Parallel()
			s := connect(t, world.State.Demo.SubKey, path)
			s.answer(`{"type":"ping"}`, `{"type":"pong"}`)
			s.answer(addressList(active), `{"type":"subscribe"}`)
			s.answer(addressList(active[:2]), `{"type":"subscribe"}`) // has no effect
			for range 3 {
				p := s.await("data of an account", 30*time.Second, func(p pushed) bool { return p.Type == "data" || p.Channel == "clearinghouseState" })
				var m map[string]any
				if err := json.Unmarshal(p.Data, &m); err != nil {
					t.Fatal(err)
				}
				ours(p, m)
				has(t, p, m, names...)
			}
			s.send(`{"type":"stat"}`)
			p := s.await("figures", soon, func(p pushed) bool { return p.Type == "stat" })
			var stat struct {
				AddressCount, SentMsgCount, DiscardedCount, QueueLen *int
				Duration                                             string
				MsgPerSecond                                         *float64
			}
			if err := json.Unmarshal(p.Data, &stat); err != nil || stat.AddressCount == nil || *stat.AddressCount != len(active) || *stat.SentMsgCount < 3 ||
				stat.Duration == "" || stat.MsgPerSecond == nil || *stat.DiscardedCount != 0 || stat.QueueLen == nil {
				t.Errorf("figures %s: %v", p.raw, err)
			}
			s.answer(strings.Replace(addressList(active), `"subscribe"`, `"unsubscribe"`, 1), `{"type":"unsubscribe"}`)
			s.answer(`{"type":"ping"}`, `{"type":"pong"}`) // still open
			s.send(`{"type":"close"}`)
			s.ended(soon)
		})
	}
}

func TestAWalletChannelStartsWithWhatIsKnown(t *testing.T) {
	t.Parallel()
	user := traders(t, 1)[0]
	s := connect(t, world.State.Demo.SubKey, "/ws")
	first := map[string]string{}
	for _, channel := range []string{"userFills", "userNonFundingLedgerUpdates", "openOrders", "clearinghouseState"} {
		s.send(subscription("subscribe", map[string]any{"type": channel, "user": user}))
	}
	s.await("the first frame of each", 20*time.Second, func(p pushed) bool {
		if p.Channel != "subscriptionResponse" && first[p.Channel] == "" {
			first[p.Channel] = p.raw
		}
		return len(first) == 4
	})
	for channel, members := range map[string][]string{
		"userFills":                   {`"isSnapshot":true`, `"user":"` + user + `"`, `"fills":[{"coin"`},
		"userNonFundingLedgerUpdates": {`"isSnapshot":true`, `"user":"` + user + `"`, `"nonFundingLedgerUpdates":[{"time"`, `"delta":{"type"`},
		"openOrders":                  {`"user":"` + user + `"`, `"orders":[`},
		"clearinghouseState":          {`"user":"` + user + `"`, `"clearinghouseState":{"marginSummary"`},
	} {
		for _, member := range members {
			if !strings.Contains(first[channel], member) {
				t.Errorf("%s has no %s: %.300s", channel, member, first[channel])
			}
		}
	}
}

// TestTheFeedsOutliveTheIngester kills it: whoever is connected stays, gets a
// new snapshot and then data, and its slots are still counted. It runs before the
// tests that run at a time.
func TestTheFeedsOutliveTheIngester(t *testing.T) {
	key := issue(t, register(t, nil), map[string]any{"ws_conn_limit": 1, "ws_sub_limit": 1})
	s := connect(t, key, "/ws")
	s.send(subscription("subscribe", map[string]any{"type": "trades", "coin": "BTC"}))
	s.await("trades", 10*time.Second, func(p pushed) bool { return p.Channel == "trades" })
	time.Sleep(2 * time.Second) // a reply sent just before a crash may be sent again
	killed := kill(t, "ingester")
	if killed == 0 {
		t.Skip("the processes of the stack cannot be seen on this system")
	}
	since := time.Now().UnixMilli()
	s.send(`{"method":"ping"}`)
	newest := func(p pushed) int64 {
		var trades []struct{ Time int64 }
		if p.Channel != "trades" || json.Unmarshal(p.Data, &trades) != nil || len(trades) == 0 {
			return 0
		}
		return trades[len(trades)-1].Time
	}
	s.await("a trade after the restart", 20*time.Second, func(p pushed) bool {
		if p.Channel == "subscriptionResponse" {
			t.Errorf("the reply was repeated: %s", p.raw)
		}
		return newest(p) > since
	})
	s.answer(subscription("subscribe", map[string]any{"type": "bbo", "coin": "BTC"}), `{"error":"subscription limit exceeded","limit":1,"current":1}`)
	s.conn.CloseNow()
	reconnects(t, key, "/ws")
}

// kill ends the children of this process that run a program, without warning,
// and returns how many.
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

// children are the children of this process that run a program; none where the
// system does not show its processes as files.
func children(program string) (pids []int) {
	processes, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range processes {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		var pid, parent int
		var name, state string
		if _, err := fmt.Sscan(string(text), &pid, &name, &state, &parent); err == nil && parent == os.Getpid() && name == "("+program+")" {
			pids = append(pids, pid)
		}
	}
	return pids
}
