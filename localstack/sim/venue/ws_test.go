package venue

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer is a test's WebSocket client.
type peer struct {
	t    *testing.T
	ctx  context.Context
	conn *websocket.Conn
}

func dial(t *testing.T, v *Venue) *peer {
	t.Helper()
	srv := httptest.NewServer(v.Handler())
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	conn, _ := must.Get2(websocket.Dial(ctx, "ws"+strings.TrimPrefix(srv.URL, "http")+"/ws", nil))(t)
	conn.SetReadLimit(16 << 20)
	t.Cleanup(func() {
		conn.CloseNow()
		cancel()
		srv.Close()
	})
	return &peer{t, ctx, conn}
}

func (p *peer) say(format string, args ...any) {
	p.t.Helper()
	must.Do(p.t, p.conn.Write(p.ctx, websocket.MessageText, fmt.Appendf(nil, format, args...)))
}

// hear reads the next frame.
func (p *peer) hear() string {
	p.t.Helper()
	_, data := must.Get2(p.conn.Read(p.ctx))(p.t)
	if !json.Valid(data) {
		p.t.Fatalf("frame is not JSON: %.200s", data)
	}
	return string(data)
}

func (p *peer) expect(want string) {
	p.t.Helper()
	if got := p.hear(); got != want {
		p.t.Fatalf("heard %.300s\nwant  %s", got, want)
	}
}

// until reads frames until one of the channel comes, and decodes its data.
func until[T any](p *peer, channel string) T {
	p.t.Helper()
	for {
		var f struct {
			Channel string
			Data    T
		}
		text := p.hear()
		if !strings.HasPrefix(text, `{"channel":"`+channel+`"`) {
			continue
		}
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			p.t.Fatalf("%v: %.200s", err, text)
		}
		return f.Data
	}
}

// untilEvent reads user events until one of a kind holds a text.
func untilEvent(p *peer, kind, want string) {
	p.t.Helper()
	for {
		got := until[map[string]json.RawMessage](p, "user")[kind]
		if strings.Contains(string(got), want) {
			return
		}
	}
}

// advance makes some blocks, in steps that leave a client time to read.
func advance(t *testing.T, v *Venue, d time.Duration) {
	t.Helper()
	must.Do(t, v.Advance(v.Now().Add(d)))
}

func TestSubscriptionsAreAnsweredAsTheVenueDoes(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{Traders: 60}, time.Second)
	p := dial(t, v)
	p.say(`{"method":"ping"}`)
	p.expect(`{"channel":"pong"}`)
	p.say(`{"method":"subscribe","subscription":{"type":"orderUpdates","user":"0x00000000000000000000000000000000000000AA"}}`)
	p.expect(`{"channel":"subscriptionResponse","data":{"method":"subscribe","subscription":{"type":"orderUpdates","user":"0x00000000000000000000000000000000000000aa"}}}`)
	p.say(`{"method":"subscribe","subscription":{"type":"orderUpdates","user":"0x00000000000000000000000000000000000000aa"}}`)
	p.expect(`{"channel":"error","data":"Already subscribed: {\"type\":\"orderUpdates\",\"user\":\"0x00000000000000000000000000000000000000aa\"}"}`)
	p.say(`{"method":"unsubscribe","subscription":{"type":"orderUpdates","user":"0x00000000000000000000000000000000000000aa"}}`)
	p.expect(`{"channel":"subscriptionResponse","data":{"method":"unsubscribe","subscription":{"type":"orderUpdates","user":"0x00000000000000000000000000000000000000aa"}}}`)
	p.say(`{"method":"unsubscribe","subscription":{"type":"orderUpdates","user":"0x00000000000000000000000000000000000000aa"}}`)
	p.expect(`{"channel":"error","data":"Already unsubscribed: {\"type\":\"orderUpdates\",\"user\":\"0x00000000000000000000000000000000000000aa\"}"}`)
	p.say(`{"method":"subscribe","subscription":{"type":"l2Book","coin":"HYPE"}}`)
	p.expect(`{"channel":"subscriptionResponse","data":{"method":"subscribe","subscription":{"type":"l2Book","coin":"HYPE","nSigFigs":null,"mantissa":null}}}`)
	if book := p.hear(); !strings.HasPrefix(book, `{"channel":"l2Book","data":{"coin":"HYPE","time":`) {
		t.Errorf("after subscribing: %.100s", book)
	}
	p.say(`{"method":"subscribe","subscription":{"type":"candle","coin":"HYPE","interval":"1d"}}`)
	p.expect(`{"channel":"subscriptionResponse","data":{"method":"subscribe","subscription":{"type":"candle","interval":"1d","coin":"HYPE"}}}`)
}

func TestBadMessagesGetAnErrorFrameAndKeepTheConnection(t *testing.T) {
	t.Parallel()
	p := dial(t, busy(t, Config{Traders: 60}, time.Second))
	const invalid, parse = "Invalid subscription ", "Error parsing JSON into valid websocket request: "
	for _, tc := range []struct{ say, want string }{
		{`{`, parse + `{`},
		{`[]`, parse + `[]`},
		{`{"method":"dance"}`, parse + `{"method":"dance"}`},
		{`{"method":"subscribe"}`, invalid},
		{`{"method":"subscribe","subscription":7}`, invalid + `7`},
		{`{"method":"subscribe","subscription":{"type":"weather"}}`, invalid + `{"type":"weather"}`},
		{`{"method":"subscribe","subscription":{"type":"trades","coin":"NOPE"}}`, invalid + `{"type":"trades","coin":"NOPE"}`},
		{`{"method":"subscribe","subscription":{"type":"userFills","user":"0x1"}}`, invalid + `{"type":"userFills","user":"0x1"}`},
		{`{"method":"subscribe","subscription":{"type":"candle","coin":"BTC","interval":"7m"}}`, invalid + `{"type":"candle","coin":"BTC","interval":"7m"}`},
		{`{"method":"subscribe","subscription":{"type":"l2Book","coin":"BTC","nSigFigs":9}}`, invalid + `{"type":"l2Book","coin":"BTC","nSigFigs":9}`},
		{`{"method":"subscribe","subscription":{"type":"allMids","dex":"nope"}}`, invalid + `{"type":"allMids","dex":"nope"}`},
	} {
		p.say("%s", tc.say)
		p.expect(string(errorFrame(tc.want)))
	}
	must.Do(t, p.conn.Write(p.ctx, websocket.MessageBinary, []byte{1}))
	p.hear()
	p.say(`{"method":"ping"}`)
	p.expect(`{"channel":"pong"}`)
}

func TestTheEleventhUserOfAConnectionIsRefused(t *testing.T) {
	t.Parallel()
	p := dial(t, busy(t, Config{Traders: 60}, time.Second))
	sub := func(method, kind string, n int) {
		p.say(`{"method":%q,"subscription":{"type":%q,"user":"0x%040d"}}`, method, kind, n)
	}
	for n := range maxUsers {
		sub("subscribe", "orderUpdates", n)
		until[any](p, "subscriptionResponse")
	}
	sub("subscribe", "userEvents", 3) // a second one of a tracked user is fine
	until[any](p, "subscriptionResponse")
	sub("subscribe", "orderUpdates", 10)
	p.expect(`{"channel":"error","data":"Cannot track more than 10 total users."}`)
	sub("unsubscribe", "orderUpdates", 3)
	until[any](p, "subscriptionResponse")
	sub("subscribe", "orderUpdates", 10)
	p.expect(`{"channel":"error","data":"Cannot track more than 10 total users."}`)
	sub("unsubscribe", "userEvents", 3)
	until[any](p, "subscriptionResponse")
	sub("subscribe", "orderUpdates", 10)
	until[any](p, "subscriptionResponse")
}

func TestTheThousandAndFirstSubscriptionIsRefused(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{Traders: 60}, time.Second)
	p := dial(t, v)
	n := 0
	for _, variant := range []string{``, `,"dex":"sim"`, `,"aggregateByTime":true`, `,"dex":"sim","aggregateByTime":true`} {
		for interval := range intervals {
			for c := range v.eng.mk {
				p.say(`{"method":"subscribe","subscription":{"type":"candle","coin":%q,"interval":%q%s}}`, v.eng.mk[c].Name, interval, variant)
				until[any](p, "subscriptionResponse")
				n++
			}
		}
	}
	for ; n < maxSubscriptions; n++ {
		p.say(`{"method":"subscribe","subscription":{"type":"activeAssetData","coin":%q,"user":"0x%040d"%s}}`,
			v.eng.mk[n%10].Name, n/10%10, []string{``, `,"dex":"sim"`, `,"aggregateByTime":true`}[n/100%3])
		until[any](p, "subscriptionResponse")
	}
	p.say(`{"method":"subscribe","subscription":{"type":"allMids"}}`)
	for {
		if got := p.hear(); strings.Contains(got, `"error"`) {
			if want := `{"channel":"error","data":"Cannot subscribe to more than 1000 channels."}`; got != want {
				t.Errorf("heard %s", got)
			}
			return
		}
	}
}

func TestUserEventsTellOfForcedClosesAndFunding(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{FillsPerSecond: 60}, 30*time.Second)
	e := v.eng
	victim := -1
	for u := makers + 1; u < len(e.Acc) && victim < 0; u++ {
		if len(e.crossPositions(u, 0)) > 0 {
			victim = u
		}
	}
	p := dial(t, v)
	p.say(`{"method":"subscribe","subscription":{"type":"userEvents","user":%q}}`, e.prof[victim].Addr)
	until[any](p, "subscriptionResponse")
	v.mu.Lock()
	_, maint := e.crossMargins(victim, 0)
	lost := e.crossEquity(victim, 0) - maint + 1
	e.Acc[victim].Cash[0] -= lost // in the vault's favor: money stays conserved
	e.Acc[vault].Cash[0] += lost
	v.mu.Unlock()
	advance(t, v, time.Second)
	want := fmt.Sprintf(`"liquidator":%q,"liquidated_user":%q`, e.prof[vault].Addr, e.prof[victim].Addr)
	untilEvent(p, "liquidation", want)
	p.say(`{"method":"subscribe","subscription":{"type":"userEvents","user":%q}}`, e.prof[1].Addr)
	until[any](p, "subscriptionResponse")
	if err := v.Skip(noon.Add(30 * time.Minute)); err != nil { // past a full hour
		t.Fatal(err)
	}
	paid := e.Acc[1].Fundings
	for _, f := range paid {
		untilEvent(p, "funding", string(e.appendFundingPoint(nil, &f)))
	}
	if len(paid) < 2 {
		t.Errorf("the maker was paid %d times", len(paid))
	}
}

func TestTradesOfTheFeedAreThoseOfTheNodeFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	v := busy(t, Config{NodeDir: dir, FillsPerSecond: 60}, 20*time.Second)
	p := dial(t, v)
	type trade struct {
		Coin, Side, Px, Sz, Hash string
		Time, Tid                int64
		Users                    [2]string
	}
	p.say(`{"method":"subscribe","subscription":{"type":"trades","coin":"BTC"}}`)
	seen := until[[]trade](p, "trades") // the snapshot
	for range 15 {
		advance(t, v, time.Second)
	}
	want := map[int64]userFill{}
	var order []int64
	for _, f := range nodeFills(t, dir) {
		if f.Coin == "BTC" && f.Crossed {
			want[f.Tid] = f
			order = append(order, f.Tid)
		}
	}
	for seen[len(seen)-1].Tid != order[len(order)-1] {
		seen = append(seen, until[[]trade](p, "trades")...)
	}
	if len(seen) < 20 {
		t.Fatalf("only %d trades", len(seen))
	}
	for i, tr := range seen {
		f := want[tr.Tid]
		taker := tr.Users[0]
		if tr.Side == "A" {
			taker = tr.Users[1]
		}
		if tr.Tid != order[len(order)-len(seen)+i] || f.Px != tr.Px || f.Sz != tr.Sz || f.Hash != tr.Hash || f.user != taker || f.Side != tr.Side {
			t.Fatalf("trade %+v, the file has %+v", tr, f)
		}
	}
}

func TestUserFillsBeginWithASnapshotAndLeaveNoGap(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{FillsPerSecond: 80}, 30*time.Second)
	maker := v.eng.prof[2].Addr
	p := dial(t, v)
	type fills struct {
		IsSnapshot bool
		User       string
		Fills      []struct{ Tid int64 }
	}
	p.say(`{"method":"subscribe","subscription":{"type":"userFills","user":%q}}`, maker)
	first := until[fills](p, "userFills")
	if !first.IsSnapshot || first.User != maker || len(first.Fills) == 0 {
		t.Fatalf("snapshot: %t %s, %d fills", first.IsSnapshot, first.User, len(first.Fills))
	}
	got := map[int64]int{}
	for _, f := range first.Fills {
		got[f.Tid]++
	}
	for range 10 {
		advance(t, v, time.Second)
	}
	all := v.eng.Acc[2].Fills
	newest := all[len(all)-1].Tid
	for got[newest] == 0 {
		next := until[fills](p, "userFills")
		if next.IsSnapshot {
			t.Fatal("a second snapshot")
		}
		for _, f := range next.Fills {
			got[f.Tid]++
		}
	}
	for _, f := range last(all, depthFills) {
		if got[f.Tid] != 1 {
			t.Errorf("fill %d came %d times", f.Tid, got[f.Tid])
		}
	}
}

func TestEveryChannelSendsFramesOfItsShape(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{HistoryDays: 2, FillsPerSecond: 80}, 30*time.Second)
	maker := v.eng.prof[1].Addr
	slicer := userWith(t, v, func(a *account) bool { return len(a.Twapped) > 0 })
	p := dial(t, v)
	subs := []string{`"type":"allMids"`, `"type":"l2Book","coin":"BTC"`, `"type":"bbo","coin":"BTC"`, `"type":"trades","coin":"BTC"`,
		`"type":"candle","coin":"BTC","interval":"1m"`, `"type":"activeAssetCtx","coin":"BTC"`, `"type":"activeAssetCtx","coin":"@107"`,
		`"type":"userTwapHistory","user":"` + slicer + `"`}
	for _, kind := range []string{"userFills", "orderUpdates", "userEvents", "userFundings", "userNonFundingLedgerUpdates",
		"openOrders", "clearinghouseState", "webData2", "userTwapSliceFills"} {
		subs = append(subs, `"type":"`+kind+`","user":"`+maker+`"`)
	}
	subs = append(subs, `"type":"activeAssetData","coin":"ETH","user":"`+maker+`"`)
	for _, s := range subs {
		p.say(`{"method":"subscribe","subscription":{%s}}`, s)
	}
	want := map[string]bool{"user": true, "activeSpotAssetCtx": true}
	for name := range channels {
		want[name] = true
	}
	delete(want, "userEvents")
	got := map[string]string{}
	answered := 0
	for len(want) > 0 {
		text := p.hear()
		if strings.Contains(text, `"subscriptionResponse"`) {
			if answered++; answered == len(subs) {
				advance(t, v, 15*time.Second)
			}
		}
		var f struct {
			Channel string
			Data    any
		}
		must.Do(t, json.Unmarshal([]byte(text), &f))
		if f.Channel == "error" {
			t.Fatal(text)
		}
		if want[f.Channel] {
			delete(want, f.Channel)
			got[f.Channel] = f.Channel + "\n  " + shapeOf(f.Data)
		}
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if name != "webData2" { // its parts are in the other golden file
			all = append(all, got[name])
		}
	}
	golden(t, "testdata/frames.golden", strings.Join(all, "\n")+"\n")
}

func TestBooksAreThrottledAndBestPricesOnlyComeWhenTheyChange(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{FillsPerSecond: 60}, 5*time.Second)
	p := dial(t, v)
	p.say(`{"method":"subscribe","subscription":{"type":"l2Book","coin":"BTC"}}`)
	p.say(`{"method":"subscribe","subscription":{"type":"l2Book","coin":"BTC","fast":true}}`)
	p.expect(`{"channel":"subscriptionResponse","data":{"method":"subscribe","subscription":{"type":"l2Book","coin":"BTC","nSigFigs":null,"mantissa":null}}}`)
	p.hear()
	p.expect(`{"channel":"subscriptionResponse","data":{"method":"subscribe","subscription":{"type":"l2Book","coin":"BTC","nSigFigs":null,"mantissa":null,"fast":true}}}`)
	p.say(`{"method":"subscribe","subscription":{"type":"bbo","coin":"BTC"}}`)
	until[any](p, "bbo")
	for range 20 { // both are subscribed: frames come in order
		advance(t, v, time.Second)
	}
	p.say(`{"method":"subscribe","subscription":{"type":"allMids"}}`)
	var books [2]int // plain ones and fast ones
	var lastTime [2]int64
	best, lastBbo := 0, ""
	for {
		var f struct {
			Channel string
			Data    struct {
				Time   int64
				Levels [2][]any
				Bbo    json.RawMessage
			}
		}
		must.Do(t, json.Unmarshal([]byte(p.hear()), &f))
		switch f.Channel {
		case "allMids":
			if books[0] < 3 || books[1] < 10 || best < 5 {
				t.Errorf("%d books, and fast ones, and %d best prices in 20 s", books, best)
			}
			return
		case "l2Book":
			way, period, prices := 0, int64(bookEvery), bookDepth
			if len(f.Data.Levels[0]) <= fastBookDepth {
				way, period, prices = 1, fastBookEvery, fastBookDepth
			}
			books[way]++
			if f.Data.Time-lastTime[way] < period || len(f.Data.Levels[0]) > prices {
				t.Errorf("%d prices, %d ms apart", len(f.Data.Levels[0]), f.Data.Time-lastTime[way])
			}
			lastTime[way] = f.Data.Time
		case "bbo":
			best++
			if string(f.Data.Bbo) == lastBbo {
				t.Errorf("best prices came twice: %s", lastBbo)
			}
			lastBbo = string(f.Data.Bbo)
		}
	}
}

func TestAClientThatDoesNotReadIsDroppedAndDelaysNobody(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{FillsPerSecond: 60}, time.Second)
	slow, good := dial(t, v), dial(t, v)
	for c := range v.eng.mk {
		slow.say(`{"method":"subscribe","subscription":{"type":"l2Book","coin":%q}}`, v.eng.mk[c].Name)
		slow.say(`{"method":"subscribe","subscription":{"type":"bbo","coin":%q}}`, v.eng.mk[c].Name)
	}
	good.say(`{"method":"subscribe","subscription":{"type":"trades","coin":"BTC"}}`)
	until[any](good, "trades")
	testenv.Until(t, "one connection is left", func() bool {
		v.hub.mu.Lock()
		n := len(v.hub.conns)
		v.hub.mu.Unlock()
		if n > 1 {
			advance(t, v, 5*time.Second)
		}
		return n == 1
	})
	good.say(`{"method":"ping"}`)
	until[any](good, "pong")
}

func TestAConnectionWithoutClientMessagesIsClosedThoughItIsPinged(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{Traders: 60}, time.Second)
	v.hub.idle = 300 * time.Millisecond
	p := dial(t, v)
	ended := make(chan error, 1)
	go func() {
		_, _, err := p.conn.Read(p.ctx)
		ended <- err
	}()
	for {
		select {
		case <-ended:
			return
		case <-time.After(50 * time.Millisecond):
			ctx, stop := context.WithTimeout(p.ctx, time.Second)
			p.conn.Ping(ctx) //nolint:errcheck // the venue may have closed already
			stop()
		case <-p.ctx.Done():
			t.Fatal("the connection stayed open")
		}
	}
}

func TestCloseEndsEveryConnection(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{Traders: 60}, time.Second)
	a, b := dial(t, v), dial(t, v)
	a.say(`{"method":"ping"}`)
	a.hear()
	b.say(`{"method":"ping"}`)
	b.hear()
	must.Do(t, v.Close())
	if _, _, err := a.conn.Read(a.ctx); err == nil {
		t.Error("the connection is still open")
	}
}

func TestRunMakesBlocksAsTheClockGoesAndStopsWithItsContext(t *testing.T) {
	t.Parallel()
	v := must.Get(Open(Config{Traders: 60, BlockEvery: 20 * time.Millisecond}))(t)
	defer v.Close()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- v.Run(ctx) }()
	p := dial(t, v)
	p.say(`{"method":"subscribe","subscription":{"type":"allMids"}}`)
	until[any](p, "allMids")
	until[any](p, "allMids") // a second later, from a block
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
