package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"quotary/localstack/client"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

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
	connect(t, key, "/ws")
	open[2].conn.CloseNow() // as a client that is killed
	connect(t, key, "/ws/clearinghouse-state")
	if _, refused := handshake(t, key, "/ws", nil); refused.Status != http.StatusTooManyRequests {
		t.Errorf("a slot was freed twice: status %d", refused.Status)
	}
}

// A limit that is set later counts what is open first, and a secret that is reset ends what
// it opened.
func TestALimitAndASecretHoldForWhatIsOpen(t *testing.T) {
	t.Parallel()
	primary := register(t, nil)
	key := issue(t, primary, nil)
	one, two := connect(t, key, "/ws"), connect(t, key, "/ws/fills")
	stay := one.stay()
	call(t, http.StatusOK, primary, "PUT", d+"/sub-keys/"+key.AccessKey, map[string]any{"ws_conn_limit": 2})
	if _, refused := handshake(t, key, "/ws", nil); refused.Status != http.StatusTooManyRequests {
		t.Errorf("a third connection under a limit of two: status %d: %s", refused.Status, refused.Body)
	}
	stay()
	renewed := data[client.Key](t, call(t, http.StatusOK, primary, "POST", d+"/sub-keys/"+key.AccessKey+"/reset-secret", nil))
	one.closed()
	two.closed()
	connect(t, renewed, "/ws")
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
	deadline := time.Now().Add(2 * soon)
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
		if p.Channel == "pong" { // to what kept the connection while the first took long
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
			if candled.IsZero() {
				candled = time.Now()
			}
			if n, since := frames["candle"], time.Since(candled); n > 2+int(since/(500*time.Millisecond)) {
				t.Errorf("%d candles within %s, more than two a second", n, since)
			}
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
	for _, coin := range []string{"BTC", "ETH"} {
		testenv.Until(t, "a slot of the connection that ended is free", func() bool {
			one.send(subscription("subscribe", map[string]any{"type": "trades", "coin": coin}))
			return one.await("an answer", soon, func(p pushed) bool { return p.Channel == "subscriptionResponse" || p.raw == refused }).raw != refused
		})
	}
}

func TestAMalformedMessageIsAnsweredAndTheConnectionLivesOn(t *testing.T) {
	t.Parallel()
	s := connect(t, world.State.Demo.SubKey, "/ws")
	for _, message := range []string{"", "{", `{"method":"dance"}`, subscription("subscribe", map[string]any{"type": "nope"}),
		subscription("subscribe", map[string]any{"type": "candle", "coin": "BTC", "interval": "7m"}), subscription("subscribe", map[string]any{"type": "trades", "coin": "NOSUCHCOIN"}), `{"method":"subscribe","subscription":{"type":"l2Book","coin":"BTC","nSigFigs":9}}`} {
		s.send(message)
		p := s.await("an error object", soon, func(pushed) bool { return true })
		var refused struct{ Channel, Data, Error string }
		if err := json.Unmarshal([]byte(p.raw), &refused); err != nil || refused.Error == "" || refused.Channel != "error" || !strings.HasPrefix(refused.Data, refused.Error) {
			t.Errorf("%q is answered %s", message, p.raw)
		}
	}
	s.answer(`{"method":"ping"}`, `{"channel":"pong"}`)
}

func TestAClientThatClosesAtOnceGetsItsReply(t *testing.T) {
	t.Parallel()
	s := connect(t, world.State.Demo.SubKey, "/ws/fills")
	s.send(`{"type":"subscribe","address":["0x0000000000000000000000000000000000000001"]}`)
	s.send(`{"type":"close"}`)
	s.await("the reply", soon, func(p pushed) bool { return p.raw == `{"type":"subscribe"}` })
	s.ended(soon)
}

func TestADisabledKeyIsDisconnected(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(primary, k client.Key){
		"disabled": func(primary, k client.Key) {
			call(t, 200, primary, "POST", d+"/sub-keys/"+k.AccessKey+"/disable", nil)
		},
		"deleted":       func(primary, k client.Key) { call(t, 200, primary, "DELETE", d+"/sub-keys/"+k.AccessKey, nil) },
		"not permitted": func(primary, _ client.Key) { call(t, 200, primary, "PUT", d+"/levels/basic", level(0, "HL_TICKERS")) },
	} {
		primary := register(t, nil)
		key := issue(t, primary, nil)
		var open []*socket
		for _, path := range feedPaths {
			s := connect(t, key, path)
			defer s.stay()() // none of them is idle
			open = append(open, s)
		}
		end(primary, key)
		for i, s := range open {
			t.Logf("the end of %s after its key was %s", feedPaths[i], name)
			s.ended(soon)
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
		idle.ended(feedIdle + seenEvery + soon)
	}()
	began := time.Now()
	tick := time.NewTicker(feedIdle / 4)
	defer tick.Stop()
	for ended := false; time.Since(began) < feedIdle+seenEvery+2*time.Second || !ended; {
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
	s.await("trades", soon, func(p pushed) bool {
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
				p := s.await("data of an account", soon, func(p pushed) bool { return p.Type == "data" || p.Channel == "clearinghouseState" })
				var m map[string]any
				must.Do(t, json.Unmarshal(p.Data, &m))
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
			s.closed()
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
	s.await("the first frame of each", soon, func(p pushed) bool {
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
