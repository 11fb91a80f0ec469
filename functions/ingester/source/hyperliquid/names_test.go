package hyperliquid

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/venue/wire"
)

// A venue that names others again and again makes nothing grow.
func TestOnlySoManyNamesAreTaken(t *testing.T) {
	t.Parallel()
	n := newNames(3)
	for i, want := range map[int]bool{0: true, 1: true, 2: true} {
		if got := n.take(fmt.Sprint(i)); got != want {
			t.Errorf("%d: %t", i, got)
		}
	}
	if n.take("3") || !n.take("0") || len(n.taken) != 3 {
		t.Errorf("%d are taken", len(n.taken))
	}
}

// others answers with other names at every request, which it counts.
func others(t *testing.T, answer func(request int, kind, dex string) string) *Info {
	t.Helper()
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Type, Dex string }
		_ = json.NewDecoder(r.Body).Decode(&q)
		_, _ = io.WriteString(w, answer(int(requests.Add(1)), q.Type, q.Dex))
	}))
	t.Cleanup(server.Close)
	return NewNodeInfo(server.URL)
}

func TestDexsAndCoinsThatAreTakenAreBounded(t *testing.T) {
	t.Parallel()
	i := others(t, func(request int, kind, _ string) string {
		var list, figures []string
		for n := range 1000 {
			list = append(list, fmt.Sprintf(`{"name":"r%dn%d"}`, request, n))
			figures = append(figures, fmt.Sprintf(`{"coin":"r%dn%d","markPx":"1"}`, request, n))
		}
		if kind == "perpDexs" {
			return "[" + strings.Join(list, ",") + "]"
		}
		return `[{"universe":[` + strings.Join(list, ",") + `]},[` + strings.Join(figures, ",") + `]]`
	})
	dexs, coins := map[string]bool{}, map[string]bool{}
	for range 2 {
		list := must.Get(i.PerpDexs(t.Context()))(t)
		for _, dex := range list {
			dexs[dex] = true
		}
	}
	i.coins = newNames(2500)
	unread := 0
	for n := range 4 {
		ask := func() (market.Contexts, error) { return i.Contexts(t.Context(), "") }
		if n%2 == 1 {
			ask = func() (market.Contexts, error) { return i.SpotContexts(t.Context()) }
		}
		c := must.Get(ask())(t)
		for _, one := range c.Coins {
			coins[one.Coin] = true
		}
		unread += c.Unread
	}
	if len(dexs) != 1+mostDexs || len(coins) != 2500 || unread != 1500 {
		t.Errorf("%d dexs, %d coins, %d left out", len(dexs), len(coins), unread)
	}
}

// A dex is made by others than the venue: one whose description is too large costs itself alone.
// What clients read as the venue wrote it has no hidden characters, and names no other coin for
// it: a coin that hides something is none, before and after.
func TestAnswersThatAreKeptAsTheyAreHaveNothingHidden(t *testing.T) {
	t.Parallel()
	const name = "\"a\\u202eb\u2066\\u0000c\""
	i := others(t, func(_ int, kind, _ string) string {
		if kind == "frontendOpenOrders" || kind == "userNonFundingLedgerUpdates" {
			return `[{"coin":` + name + `}]`
		}
		return `{"universe":[{"name":` + name + `}]}`
	})
	const want = "\"a\ufffdb\ufffd\ufffdc\""
	for kind, raw := range map[string]json.RawMessage{
		"meta":               must.Get(i.Meta(t.Context(), "xyz"))(t),
		"spotMeta":           must.Get(i.SpotMeta(t.Context()))(t),
		"clearinghouseState": must.Get(i.ClearinghouseState(t.Context(), "0x1", ""))(t),
		"frontendOpenOrders": must.Get(i.OpenOrders(t.Context(), "0x1", ""))(t)[0],
		"ledger updates":     must.Get(i.LedgerUpdates(t.Context(), "0x1", time.Time{}))(t)[0],
	} {
		if !strings.Contains(string(raw), want) || len(raw) > len(`{"universe":[{"name":}]}`)+len(want) {
			t.Errorf("%s: %q", kind, raw)
		}
	}
	if coins, err := wire.TradedCoins(must.Get(i.Meta(t.Context(), "xyz"))(t)); err != nil || len(coins) > 0 {
		t.Errorf("coins %q, %v", coins, err)
	}
}

func TestADexThatIsTooLargeIsLeftOut(t *testing.T) {
	t.Parallel()
	f := Feed{Stats: new(Stats), Log: quiet, info: others(t, func(_ int, kind, dex string) string {
		switch kind {
		case "perpDexs":
			return `[null,{"name":"big"},{"name":"xyz"}]`
		case "allMids":
			return `{}`
		}
		name := "BTC"
		if dex == "big" {
			name = strings.Repeat("x", 512<<10)
		}
		return `{"universe":[{"name":"` + name + `"}]}`
	})}
	meta, mids := must.Get2(f.look(t.Context()))(t)
	if _, big := meta.Perps["big"]; big || len(meta.Perps) != 2 || len(mids) != 2 || f.Stats.Malformed.Load() != 1 {
		t.Errorf("%d dexs, %d mid prices, %d malformed", len(meta.Perps), len(mids), f.Stats.Malformed.Load())
	}
}

// A dex that does not answer, or not as it should, costs no other one; what is known of it stays.
func TestADexThatFailsCostsNoOther(t *testing.T) {
	t.Parallel()
	for _, broken := range []string{"meta", "allMids"} {
		for _, answer := range []string{"oops", "[]", `{"universe"`, "", "500", "422"} {
			if broken == "meta" && answer == "[]" {
				continue // a description is read by whoever uses it
			}
			var fails atomic.Bool
			f := Feed{Stats: new(Stats), Log: quiet, info: others(t, func(_ int, kind, dex string) string {
				switch {
				case kind == "perpDexs":
					return `[null,{"name":"evil"},{"name":"xyz"}]`
				case fails.Load() && dex == "evil" && kind == broken:
					return answer
				case kind == "allMids":
					return `{}`
				}
				return `{"universe":[{"name":"BTC"}]}`
			})}
			for n, failing := range []bool{true, false, true, true} {
				if fails.Store(failing); n == 3 { // as a run after it
					stored := f.described
					f.described, f.Stored = nil, func(context.Context) (map[string]json.RawMessage, error) { return stored, nil }
				}
				clear(f.silent.until) // as a while later
				meta, mids := must.Get2(f.look(t.Context()))(t)
				known := !failing || n > 1 || len(f.described) == 3
				if _, has := meta.Perps["evil"]; has != known || meta.Perps[""] == nil || meta.Perps["xyz"] == nil || len(mids) < 2 {
					t.Errorf("%s %q, failing %t: %d dexs, %d mid prices", broken, answer, failing, len(meta.Perps), len(mids))
				}
			}
		}
	}
}

// Whatever coins the venue lists, so many subscriptions are remembered.
func TestSubscriptionsThatFindNoRoomAreNotRemembered(t *testing.T) {
	t.Parallel()
	f := Feed{Stats: new(Stats), Log: quiet, Trades: true, known: map[subscription]bool{}, news: make(chan struct{}, 1)}
	for round := range 3 {
		var list []string
		for n := range 1000 {
			list = append(list, fmt.Sprintf(`{"name":"r%dn%d"}`, round, n))
		}
		f.wantAll(&market.Meta{Perps: map[string]json.RawMessage{"": json.RawMessage(`{"universe":[` + strings.Join(list, ",") + `]}`)}})
	}
	if len(f.known) != maxSubscriptions || len(f.wanted) != maxSubscriptions || f.Stats.Dropped.Load() != 1000 {
		t.Errorf("%d are known, %d wanted, %d dropped", len(f.known), len(f.wanted), f.Stats.Dropped.Load())
	}
}

// Dexs of strangers with however many coins leave room for what the venue itself lists later.
func TestCoinsThatAreListedLaterFindRoomBesideThoseOfStrangers(t *testing.T) {
	t.Parallel()
	f := Feed{Stats: new(Stats), Log: quiet, Trades: true, Books: true, known: map[subscription]bool{}, news: make(chan struct{}, 1)}
	universe := func(name string, n int) json.RawMessage {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`{"name":"%s%d"}`, name, i))
		}
		return json.RawMessage(`{"universe":[` + strings.Join(list, ",") + `]}`)
	}
	for _, own := range []int{3, 3 + listedLater} {
		f.wantAll(&market.Meta{Perps: map[string]json.RawMessage{"": universe("C", own), "evil": universe("evil:X", 1000)}})
		for i := range own {
			if s := (subscription{Type: "trades", Coin: fmt.Sprint("C", i)}); !f.known[s] {
				t.Errorf("%d coins of its own: no room for %+v", own, s)
			}
		}
	}
	if len(f.wanted) > maxSubscriptions || !f.known[subscription{Type: "trades", Coin: "evil:X0"}] {
		t.Errorf("%d subscriptions", len(f.wanted))
	}
}

func TestABookHoldsNoLargeFrame(t *testing.T) {
	t.Parallel()
	push := func(bytes int) []byte {
		const body = `{"coin":"BTC","time":5,"levels":[[],[]],"more":""}`
		return []byte(`{"channel":"l2Book","data":` + strings.Replace(body, `""`, `"`+strings.Repeat("x", bytes-len(body))+`"`, 1) + `}`)
	}
	f := Feed{Stats: new(Stats), Log: quiet, known: map[subscription]bool{{Type: "l2Book", Coin: "BTC"}: true}}
	for bytes, want := range map[int]bool{16 << 10: true, 16<<10 + 1: false} {
		if _, err := f.frame(push(bytes), layers{}); (err == nil) != want {
			t.Errorf("%d bytes: %v", bytes, err)
		}
		if _, err := joinedFrame(push(bytes)); (err == nil) != want {
			t.Errorf("%d bytes of a joined book: %v", bytes, err)
		}
	}
}

// What a node writes of more coins than there are is left out, in whichever of its files.
func TestANodesFilesNameSoManyCoins(t *testing.T) {
	t.Parallel()
	coins := newNames(3)
	line := func(of string, n int) string {
		coin := fmt.Sprint(of, n)
		return strings.Replace(strings.TrimSpace(fillLines(n+1, n+1)), `"coin":"BTC"`, `"coin":"`+coin+`"`, 1) + "\n"
	}
	var got []string
	var left int64
	for _, of := range []string{"A", "B", "A"} {
		stats := new(Stats)
		c := &collector{name: of, stats: stats, log: quiet, now: time.Now, coins: coins}
		for n := range 2 {
			c.add([]byte(line(of, n)), 0)
		}
		must.Do(t, c.flush(t.Context(), 1, func(_ context.Context, d Delivery) error {
			for _, f := range d.Events.Fills {
				got = append(got, f.Coin)
			}
			return nil
		}))
		left += stats.Malformed.Load()
	}
	if want := "[A0 A1 B0 A0 A1]"; fmt.Sprint(got) != want || left != 1 {
		t.Errorf("%v are read, and %d left out: want %s", got, left, want)
	}
}

func TestEventsOfEveryKindAreOfCoinsThatAreTaken(t *testing.T) {
	t.Parallel()
	coins := newNames(1)
	coins.take("BTC")
	e := market.Events{
		Fills:    []market.Fill{{Coin: "BTC"}, {Coin: "X"}},
		Orders:   []market.OrderStatus{{Coin: "X"}},
		Payments: []market.FundingPayment{{Coin: "BTC"}, {Coin: "X"}},
		Twaps:    []market.TwapStatus{{Twap: market.Twap{Coin: "BTC"}}, {Twap: market.Twap{Coin: "X"}}},
		Ledgers:  []market.Ledger{{}},
	}
	if n := coins.drop(&e); n != 4 || len(e.Fills) != 1 || len(e.Payments) != 1 || len(e.Twaps) != 1 || len(e.Ledgers) != 1 {
		t.Errorf("%d events are left out, and %d kept", n, e.Len())
	}
	var all *Names
	if n := all.drop(&e); n != 0 {
		t.Errorf("%d events are left out where any coin is taken", n)
	}
}
