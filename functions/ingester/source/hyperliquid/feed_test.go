package hyperliquid

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// venue speaks the public protocols as recorded, with made-up figures.
type venue struct {
	mu       sync.Mutex
	asked    map[string]int // requests by type and coin
	failures int            // requests to answer with 500 first
	subs     []string       // subscriptions of the current connection
	conns    int
	pings    int
	recent   int           // newest trade id of recentTrades
	kick     chan struct{} // closes the current connection
}

func newVenue() *venue {
	return &venue{asked: map[string]int{}, kick: make(chan struct{}), recent: 500}
}

func (v *venue) serve(t *testing.T) string {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /info", v.info)
	mux.HandleFunc("GET /ws", v.socket)
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return server.URL
}

func (v *venue) info(w http.ResponseWriter, r *http.Request) {
	var q struct{ Type, Dex, Coin string }
	json.NewDecoder(r.Body).Decode(&q)
	v.mu.Lock()
	v.asked[q.Type+q.Coin]++
	fail := v.failures > 0
	if fail {
		v.failures--
	}
	v.mu.Unlock()
	if fail {
		http.Error(w, "busy", http.StatusInternalServerError)
		return
	}
	switch q.Type + " " + q.Dex {
	case "perpDexs ":
		fmt.Fprint(w, `[null,{"name":"xyz","fullName":"XYZ"}]`)
	case "meta ":
		fmt.Fprint(w, `{"universe":[{"name":"BTC","szDecimals":5},{"name":"OLD","isDelisted":true}]}`)
	case "meta xyz":
		fmt.Fprint(w, `{"universe":[{"name":"xyz:GOLD","szDecimals":4}]}`)
	case "spotMeta ":
		fmt.Fprint(w, `{"tokens":[],"universe":[{"name":"@107","index":107}]}`)
	case "allMids ":
		fmt.Fprint(w, `{"BTC":"78123.5","@107":"31.4","BAD":"1e5"}`)
	case "allMids xyz":
		fmt.Fprint(w, `{"xyz:GOLD":"4710.35"}`)
	case "recentTrades ":
		v.mu.Lock()
		defer v.mu.Unlock()
		fmt.Fprintf(w, `[%s,%s]`, tradeJSON(q.Coin, v.recent), aheadJSON(q.Coin, 999))
	default:
		w.WriteHeader(http.StatusUnprocessableEntity)
	}
}

func tradeJSON(coin string, tid int) string {
	return fmt.Sprintf(`{"coin":%q,"side":"B","px":"35.276","sz":"5.78","time":1764835613064,"hash":"0x00","tid":%d,"users":["0x8cdba352268065be9d5444e1f82b8fe83717bbd5","0x13558be785661958932ceac35ba20de187275a42"]}`, coin, tid)
}

// aheadJSON is a trade of the future.
func aheadJSON(coin string, tid int) string {
	return strings.Replace(tradeJSON(coin, tid), "1764835613064", fmt.Sprint(time.Now().Add(time.Hour).UnixMilli()), 1)
}

func (v *venue) socket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	v.mu.Lock()
	v.conns++
	tid := v.conns
	v.subs = nil
	kick := v.kick
	v.mu.Unlock()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		select {
		case <-kick:
			cancel()
		case <-ctx.Done():
		}
	}()
	for {
		_, b, err := conn.Read(ctx)
		if err != nil {
			return
		}
		var m struct {
			Method       string
			Subscription struct{ Type, Coin, Dex string }
		}
		json.Unmarshal(b, &m)
		s := m.Subscription
		v.mu.Lock()
		reply := `{"channel":"pong"}`
		if m.Method == "ping" {
			v.pings++
		} else {
			v.subs = append(v.subs, s.Type+" "+s.Coin+s.Dex)
			reply = `{"channel":"subscriptionResponse","data":{}}`
		}
		v.mu.Unlock()
		frames := []string{reply}
		switch {
		case s.Type == "trades":
			frames = append(frames, `{"channel":"trades","data":[`+tradeJSON(s.Coin, tid)+`,{"coin":"BTC","px":"x"},`+aheadJSON(s.Coin, 998)+`]}`)
		case s.Type == "allMids" && s.Dex == "xyz":
			frames = append(frames, `{"channel":"allMids","data":{"mids":{"xyz:GOLD":"4711.0"}}}`)
		case s.Type == "allMids":
			frames = append(frames, `{"channel":"allMids","data":{"mids":{"BTC":"78124.0","@107":"31.5"}}}`, `no json`)
		}
		for _, f := range frames {
			if conn.Write(ctx, websocket.MessageText, []byte(f)) != nil {
				return
			}
		}
	}
}

// collectFeed runs a feed and keeps what it delivers.
type collectFeed struct {
	mu   sync.Mutex
	tids map[string]bool
	mids map[string]string
	meta *market.Meta
}

func (c *collectFeed) take(_ context.Context, d Delivery) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range d.Events.Trades {
		c.tids[fmt.Sprint(t.Coin, " ", t.Tid)] = true
	}
	for _, m := range d.Events.Mids {
		for coin, px := range m.Px {
			c.mids[m.Dex+"/"+coin] = px
		}
	}
	if d.Events.Meta != nil {
		c.meta = d.Events.Meta
	}
	return nil
}

// await waits until ok holds.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	testenv.Until(t, what, ok)
}

func TestTheFeedTellsTradesMidsAndMarketsAndComesBack(t *testing.T) {
	t.Parallel()
	v := newVenue()
	v.failures = 2 // the first look is answered with errors
	url := v.serve(t)
	c := &collectFeed{tids: map[string]bool{}, mids: map[string]string{}}
	f := &Feed{URL: url, Trades: true, Stats: new(Stats), Log: quiet, Ping: 5 * time.Millisecond}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Follow(ctx, c.take) }()
	has := func(tids ...string) func() bool {
		return func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, tid := range tids {
				if !c.tids[tid] {
					return false
				}
			}
			return true
		}
	}
	await(t, "the trades of every coin, and those before", has("BTC 1", "xyz:GOLD 1", "@107 1", "BTC 500", "xyz:GOLD 500", "@107 500"))
	await(t, "mids", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.mids["/BTC"] == "78124.0" && c.mids["xyz/xyz:GOLD"] == "4711.0" && c.mids["/@107"] == "31.5"
	})
	c.mu.Lock()
	if c.meta == nil || !strings.Contains(string(c.meta.Perps["xyz"]), "xyz:GOLD") || !strings.Contains(string(c.meta.Spot), "@107") {
		t.Errorf("meta %+v", c.meta)
	}
	if _, ok := c.mids["/BAD"]; ok {
		t.Error("a price that is none was emitted")
	}
	c.mu.Unlock()
	await(t, "a ping", func() bool { v.mu.Lock(); defer v.mu.Unlock(); return v.pings > 0 })

	if newest := f.Stats.LastEvent.Load(); has("BTC 998")() || has("BTC 999")() || newest > time.Now().Add(aheadMost).UnixMilli() {
		t.Errorf("a trade of the future was delivered; the newest event is of %d", newest)
	}

	v.mu.Lock()
	close(v.kick)
	v.kick = make(chan struct{})
	v.recent = 600
	v.mu.Unlock()
	await(t, "trades of the second connection and those it missed", has("BTC 2", "xyz:GOLD 2", "@107 2", "BTC 600", "xyz:GOLD 600", "@107 600"))
	if f.Stats.Reconnects.Load() != 1 || f.Stats.Malformed.Load() == 0 {
		t.Errorf("%d reconnects, %d malformed", f.Stats.Reconnects.Load(), f.Stats.Malformed.Load())
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("it ended without a reason")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.asked["recentTradesOLD"] > 0 || len(v.subs) != 5 {
		t.Errorf("subscriptions %v, asked %v", v.subs, v.asked)
	}
}

func TestInfoTriesAgainOnlyWhatMayPass(t *testing.T) {
	t.Parallel()
	v := newVenue()
	v.failures = 1
	i := NewInfo(v.serve(t))
	dexs, err := i.PerpDexs(t.Context())
	if err != nil || fmt.Sprint(dexs) != "[ xyz]" || v.asked["perpDexs"] != 2 {
		t.Fatalf("%v %v, asked %d times", dexs, err, v.asked["perpDexs"])
	}
	if err := i.ask(t.Context(), 1, infoRequest{Type: "unknown"}, new(any)); err == nil || v.asked["unknown"] != 1 {
		t.Fatalf("%v, asked %d times", err, v.asked["unknown"])
	}
}

// What a redirect leads to is not asked, and what a refusal says is not in the error, which
// is logged.
func TestARefusalIsNotFollowedAndNotQuoted(t *testing.T) {
	t.Parallel()
	const secret = "the words of a private service"
	var asked atomic.Int64
	private := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer private.Close()
	for _, status := range []int{http.StatusTemporaryRedirect, http.StatusFound, http.StatusForbidden} {
		venue := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", private.URL)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, secret)
		}))
		_, info := NewInfo(venue.URL).PerpDexs(t.Context())
		_, socket := dial(t.Context(), venue.URL)
		for name, err := range map[string]error{"info": info, "WebSocket": socket} {
			if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), strconv.Itoa(status)) {
				t.Errorf("%s, answered %d: %v", name, status, err)
			}
		}
		venue.Close()
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the private service was asked %d times", n)
	}
}

func TestTheBudgetIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := source.NewBudget(1200, time.Now)
		began := time.Now()
		var group sync.WaitGroup
		for range 180 { // 3,600 units: the first 1,200 at once, the rest in two minutes
			group.Go(func() {
				if err := b.Spend(t.Context(), 20); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if took := time.Since(began); took < 119*time.Second || took > 121*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

func TestTheSocketIsBesideTheInfoEndpoint(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{"https://api.hyperliquid.xyz": "wss://api.hyperliquid.xyz/ws", "http://127.0.0.1:81/": "ws://127.0.0.1:81/ws"} {
		if got := socketURL(base); got != want {
			t.Errorf("%s: %s, want %s", base, got, want)
		}
	}
}

// TestGenuineFramesAreRead reads recorded pushes where there are some.
func TestGenuineFramesAreRead(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("QUOTARY_TESTDATA")
	if dir == "" {
		t.Skip("QUOTARY_TESTDATA names no folder of recordings")
	}
	f := &Feed{Stats: new(Stats), Log: quiet, known: map[subscription]bool{{Type: "trades", Coin: "HYPE"}: true, {Type: "allMids"}: true}}
	for name, want := range map[string]int{"Trades.txt": 1, "Prices.txt": 1} {
		data := must.Get(os.ReadFile(filepath.Join(dir, "hyperliquid", "ws_frames", name)))(t)
		_, push, _ := strings.Cut(string(data), "\n= ")
		e, err := f.frame([]byte(push), layers{})
		if err != nil || e.Len() != want || f.Stats.Malformed.Load() != 0 {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte(`{"channel":"trades","data":[` + tradeJSON("BTC", 1) + `]}`))
	f.Add([]byte(`{"channel":"allMids","data":{"dex":"xyz","mids":{"xyz:GOLD":"4711.0"}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		feed := &Feed{Stats: new(Stats), Log: quiet, known: map[subscription]bool{{Type: "trades", Coin: "BTC"}: true, {Type: "allMids", Dex: "xyz"}: true}}
		e, err := feed.frame(b, layers{})
		if err != nil && e.Len() > 0 {
			t.Fatalf("%d events with %v", e.Len(), err)
		}
		for i := range e.Trades {
			if market.Text(market.Notional(e.Trades[i].Px, e.Trades[i].Sz)) == "" {
				t.Fatal("no value")
			}
		}
	})
}
