package feeds

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quagmt/udecimal"

	"quotary/shared/data/whales"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// fold is what a pipeline has folded: the state of Alice, at a cash that the test sets, and an
// order.
type fold struct {
	Candles
	mu    sync.Mutex
	cash  string // "" where she is not folded
	order int64

	known  whales.Newest
	whales []whales.Event // that are new
}

func (f *fold) KnownWhaleEvents() whales.Newest { return f.known }

func (f *fold) WhaleEvents(take func(*whales.Event)) {
	for i := range f.whales {
		take(&f.whales[i])
	}
	f.whales = nil
}

func (f *fold) State(address, dex string) (s market.AccountState, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cash == "" || address != alice || dex != "" {
		return s, false
	}
	s.Time, s.Withdrawable, s.Mode = 7, udecimal.MustParse(f.cash), market.ModeStandard
	return s, true
}

func (f *fold) OpenOrders(address, _ string) ([]market.OrderStatus, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return []market.OrderStatus{{Coin: "BTC", Side: "B", LimitPx: "1.0", Sz: "2.0", OrigSz: "2.0", Oid: f.order}}, f.cash != "" && address == alice
}

func (f *fold) set(cash string, order int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cash, f.order = cash, order
}

func TestAccountsOfANodeAreShownAsTheyAreFolded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config = func(c *Config) { c.Folds = true }
	w.set(time.Now())
	f, _ := w.run()
	w.caughtUp(f)
	folded := new(fold)
	folded.set("10", 1)
	apply := func(e market.Events) { f.Applied(&e, folded) }
	asked := func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.asked
	}
	// until has batches that are about nobody come until a client was sent as many frames.
	until := func(id string, n int) []string {
		w.eventually("its turn has come", func() bool {
			apply(market.Events{})
			return len(w.frames(id)) >= n
		})
		return w.frames(id)
	}
	w.connect("one", channel.FeedChannels)
	w.subscribe("one", channel.Subscription{Type: channel.AccountState, User: alice})
	wants(t, until("one", 2)[1], `{"channel":"clearinghouseState","data":{"dex":"","user":"`+alice+`","clearinghouseState":{`, `"withdrawable":"10.0"`, `"time":7`)
	w.subscribe("one", channel.Subscription{Type: channel.OpenOrders, User: alice})
	wants(t, until("one", 4)[3], `{"channel":"openOrders","data":{"dex":"","user":"`+alice+`","orders":[{"coin":"BTC",`, `"oid":1,`, `"cloid":null}]}}`)
	w.connect("two", channel.FeedClearinghouseState)
	must.Do(t, w.table.AddAddresses(t.Context(), w.message("two"), []string{alice}, connections.Limits{}, connections.Reply{Frame: []byte(`{"type":"subscribe"}`)}))
	wants(t, w.sent("two", 2)[1], `"state":{`, `"withdrawable":"10.0"`)

	// What an account comes to is shown with the batch that brings it.
	folded.set("11", 2)
	apply(market.Events{Fills: []market.Fill{{Address: bob}, {Address: alice}}})
	all := strings.Join(w.sent("one", 6)[4:], "\n")
	if !strings.Contains(all, `"withdrawable":"11.0"`) || !strings.Contains(all, `"oid":2,`) {
		t.Errorf("sent were %s", all)
	}
	// New marks are shown in its turn.
	folded.set("12", 2)
	apply(market.Events{})
	if n := len(w.frames("one")); n != 6 {
		t.Errorf("%d frames before its turn", n)
	}
	w.set(w.clock().Add(accountEvery))
	wants(t, until("one", 7)[6], `"withdrawable":"12.0"`)
	if n := asked(); n != 0 {
		t.Errorf("the venue was asked %d times", n)
	}

	// One that is not folded any longer, and one that never was, are polled, and not again and again.
	folded.set("", 0)
	w.set(w.clock().Add(accountEvery))
	all = strings.Join(until("one", 9)[7:], "\n")
	if !strings.Contains(all, `"withdrawable":"1.0","time":1}`) || !strings.Contains(all, `"orders":[{"oid":2},{"oid":1}]`) {
		t.Errorf("polled are %s", all)
	}
	folded.set("13", 3)
	w.set(w.clock().Add(foldedAgain + accountEvery))
	w.eventually("it is shown as folded again", func() bool {
		apply(market.Events{})
		all := w.frames("one")
		return strings.Contains(strings.Join(all, "\n"), `"withdrawable":"13.0"`)
	})

	// Where no batch comes it is polled.
	before := asked()
	w.eventually("it is polled", func() bool {
		w.set(w.clock().Add(foldsWait))
		return asked() > before
	})
}
