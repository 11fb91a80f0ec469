package feeds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"quotary/functions/ingester/feeds/hub"
	filldata "quotary/shared/data/fills"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

func TestUserFillsStartWithStoredAndRecentFillsEachOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	now := time.Now()
	stored := []market.Fill{fill(1, now.Add(-time.Hour), "BTC"), fill(2, now, "BTC")}
	storetest.PutLog(t, f.Log, filldata.Name, filldata.AppendRows, stored...)
	f.publish(&market.Events{Fills: []market.Fill{stored[1], fill(3, now, "ETH")}}) // 3 is not stored yet
	w.connect("one", channel.FeedChannels)
	w.subscribe("one", channel.Subscription{Type: channel.UserFills, User: alice})
	snapshot := w.sent("one", 2)[1]
	wants(t, snapshot, `{"channel":"userFills","data":{"isSnapshot":true,"user":"`+alice+`","fills":[{"coin":"ETH"`, `"tid":3`, `"tid":2`, `"tid":1`)
	if n := strings.Count(snapshot, `"tid"`); n != 3 {
		t.Errorf("%d fills: %s", n, snapshot)
	}
	f.publish(&market.Events{Fills: []market.Fill{stored[1], fill(4, now, "ETH")}})
	wants(t, w.sent("one", 3)[2], `{"channel":"userFills","data":{"user":"`+alice+`","fills":[{"coin":"ETH"`, `"tid":4`, `]}}`)
}

// TestASnapshotOfFillsHasAsManyAsTheVenues counts what comes in all frames: the last
// 500 fills do not fit into one.
func TestASnapshotOfFillsHasAsManyAsTheVenues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	began := time.Now().Add(-time.Hour)
	fills := make([]market.Fill, 620)
	for i := range fills {
		fills[i] = fill(int64(i+1), began.Add(time.Duration(i)*time.Second), "BTC")
		fills[i].Hash = "0x" + strings.Repeat("ab", 32)
	}
	storetest.PutLog(t, f.Log, filldata.Name, filldata.AppendRows, fills...)
	w.connect("one", channel.FeedChannels)
	w.subscribe("one", channel.Subscription{Type: channel.UserFills, User: alice})
	var tids []int64
	var all []string
	w.eventually("500 fills", func() bool {
		tids, all = nil, w.frames("one")
		for _, text := range all[min(1, len(all)):] {
			var frame struct {
				Data struct {
					IsSnapshot bool
					User       string
					Fills      []struct{ Tid int64 }
				}
			}
			if err := json.Unmarshal([]byte(text), &frame); err != nil || !frame.Data.IsSnapshot || frame.Data.User != alice || len(text) > 128<<10 {
				t.Fatalf("a frame of %d bytes, %v: %.200s", len(text), err, text)
			}
			for _, one := range frame.Data.Fills {
				tids = append(tids, one.Tid)
			}
		}
		return len(tids) >= 500
	})
	for i, tid := range tids {
		if want := int64(len(fills) - i); tid != want {
			t.Fatalf("fill %d of %d is %d, want %d: the newest come first", i, len(tids), tid, want)
		}
	}
	if len(tids) != 500 || len(all) != 3 {
		t.Errorf("%d fills in %d frames, the reply among them", len(tids), len(all))
	}

	// As many at once as no frame holds are pushed whole, too.
	burst := make([]market.Fill, 500)
	for i := range burst {
		burst[i] = fill(int64(1000+i), time.Now(), "BTC")
		burst[i].Hash = fills[0].Hash
	}
	f.publish(&market.Events{Fills: burst})
	pushed := strings.Join(w.sent("one", 5)[3:], "")
	if n := strings.Count(pushed, `"tid"`); n != len(burst) || strings.Contains(pushed, "isSnapshot") {
		t.Errorf("%d of %d fills were pushed", n, len(burst))
	}
}

func TestAnAddressFeedTellsOfItsAddressesOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	w.connect("fills", channel.FeedFills)
	w.connect("orders", channel.FeedFilledOrders)
	for _, id := range []string{"fills", "orders"} {
		must.Do(t, w.table.AddAddresses(t.Context(), w.message(id), []string{alice}, connections.Limits{}, connections.Reply{Frame: []byte(`{"type":"subscribe"}`)}))
	}
	w.eventually("both follow", func() bool {
		return f.hub.Watched(string(channel.FeedFills)+" "+alice) && f.hub.Watched(string(channel.FeedFilledOrders)+" "+alice)
	})
	other := fill(1, time.Now(), "BTC")
	other.Address = bob
	filled := market.OrderStatus{Address: alice, Time: time.Now().UnixMilli(), Status: "filled", Coin: "BTC", Side: "B", LimitPx: "1.0", Sz: "0.0", OrigSz: "2.0",
		Oid: 7, Timestamp: 8, TriggerCondition: "N/A", TriggerPx: "0.0", OrderType: "Limit", Tif: "Gtc"}
	foreign, open, old := filled, filled, filled
	foreign.Address, foreign.Oid = bob, 4
	open.Status, open.Oid = "open", 5
	old.Time, old.Oid = filled.Time-freshFor.Milliseconds()-1, 6
	f.publish(&market.Events{
		Fills:  []market.Fill{other, fill(2, time.UnixMilli(time.Now().UnixMilli()), "BTC")},
		Orders: []market.OrderStatus{foreign, open, old, filled, filled},
	})
	wants(t, w.sent("fills", 2)[1], `{"type":"data","data":{"address":"`+alice+`","time":`, `,"coin":"BTC","px":"100.5","sz":"2.0","side":"B","startPosition":"0.0","dir":"Open Long",`+
		`"closedPnl":"0.0","hash":"0x01","oid":1002,"crossed":true,"fee":"0.1","tid":2,"feeToken":"USDC","twapId":null}}`)
	if got, want := w.sent("orders", 2)[1], `{"type":"data","data":{"ts":`+strconv.FormatInt(filled.Time, 10)+`,"address":"`+alice+`","hash":null,"builder":null,"builderF":null,"status":"filled","coin":"BTC","side":"B",`+
		`"limitPx":"1.0","sz":"0.0","oid":7,"placeTs":8,"trigger":"N/A","isTrigger":false,"triggerPx":"0.0","children":[],"positionTpsl":false,"reduceOnly":false,`+
		`"orderType":"Limit","origSz":"2.0","tif":"Gtc","cloid":null}}`; got != want {
		t.Errorf("a filled order is\n%s, want\n%s", got, want)
	}
	must.Do(t, w.table.AskStat(t.Context(), w.message("fills")))
	wants(t, w.sent("fills", 3)[2], `{"type":"stat","data":{"addressCount":1,"duration":"`, `","sentMsgCount":2,"msgPerSecond":`, `,"discardedCount":0,"queueLen":0}}`)
	must.Do(t, w.table.AskStat(t.Context(), w.message("orders")))
	wants(t, w.sent("orders", 3)[2], `"sentMsgCount":2,`) // the reply and one order
	must.Do(t, w.table.RemoveAddresses(t.Context(), w.message("fills"), []string{alice}))
	w.eventually("nobody follows", func() bool { return !f.hub.Watched(string(channel.FeedFills) + " " + alice) })
}

func TestAnAccountIsPolledWhileSomebodyFollowsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	began := time.Now()
	w.set(began)
	f, _ := w.run()
	w.caughtUp(f)
	w.connect("one", channel.FeedChannels)
	w.connect("two", channel.FeedClearinghouseState)
	w.subscribe("one", channel.Subscription{Type: channel.AccountState, User: alice})
	w.subscribe("one", channel.Subscription{Type: channel.OpenOrders, User: alice})
	w.subscribe("one", channel.Subscription{Type: channel.UserNonFundingLedgerUpdates, User: alice})
	all := strings.Join(w.sent("one", 6), "\n")
	wants(t, all, `{"channel":"clearinghouseState","data":{"dex":"","user":"`+alice+`","clearinghouseState":{"withdrawable":"1.0","time":1}}}`)
	wants(t, all, `{"channel":"openOrders","data":{"dex":"","user":"`+alice+`","orders":[{"oid":2},{"oid":1}]}}`)
	wants(t, all, `{"channel":"userNonFundingLedgerUpdates","data":{"isSnapshot":true,"user":"`+alice+`","nonFundingLedgerUpdates":[{"time":5,"hash":"0x01","delta":{"type":"deposit","usdc":"7.0"}}]}}`)

	// Who comes later is shown what is known, without another look.
	must.Do(t, w.table.AddAddresses(t.Context(), w.message("two"), []string{alice}, connections.Limits{}, connections.Reply{Frame: []byte(`{"type":"subscribe"}`)}))
	if got, want := w.sent("two", 2)[1], `{"channel":"clearinghouseState","data":{"address":"`+alice+`","state":{"withdrawable":"1.0","time":1}}}`; got != want {
		t.Errorf("the state is %s, want %s", got, want)
	}
	f.publish(&market.Events{Ledgers: []market.Ledger{{Address: alice, Time: 5, Hash: "0x01", Delta: []byte(`{"type":"deposit","usdc":"7.0"}`)}, {Address: alice, Time: 6, Hash: "0x02", Delta: []byte(`{"type":"withdraw"}`)}}})
	wants(t, w.sent("one", 7)[6], `{"user":"`+alice+`","nonFundingLedgerUpdates":[{"time":6,"hash":"0x02","delta":{"type":"withdraw"}}]}}`)

	w.set(began.Add(accountEvery))
	wants(t, w.sent("two", 3)[2], `"withdrawable":"2.0"`)
	for _, id := range []string{"one", "two"} {
		must.Get(w.table.Remove(t.Context(), id))(t)
	}
	w.eventually("nobody follows", func() bool {
		return !f.hub.Watched(string(channel.AccountState)+" "+alice+" ") && !f.hub.Watched(string(channel.FeedClearinghouseState)+" "+alice+" ")
	})
	w.set(began.Add(accountEvery + 3*accountRest))
	w.eventually("the account is forgotten", func() bool {
		f.accounts.mu.Lock()
		defer f.accounts.mu.Unlock()
		return len(f.accounts.polled) == 0 && f.accounts.answered.taken == 0 && f.accounts.answered.order.Len() == 0
	})
}

func TestAnswersAboutAccountsStayWithinTheirRoom(t *testing.T) {
	t.Parallel()
	as := newAccounts(&Config{Now: time.Now}, nobody{})
	as.answered.most = 1000
	accounts := make([]account, 100)
	for round := range 3 {
		for i := range accounts {
			as.keep(&accounts[i], make([]byte, 90+round))
			if as.answered.taken > as.answered.most || accounts[i].last == nil {
				t.Fatalf("%d bytes are kept; the newest among them: %t", as.answered.taken, accounts[i].last != nil)
			}
		}
	}
	if as.answered.order.Len() != 10 || accounts[90].last == nil || accounts[89].last != nil {
		t.Errorf("%d answers are kept", as.answered.order.Len())
	}
	if as.keep(&accounts[0], make([]byte, as.answered.most+1)); as.answered.taken != 0 {
		t.Errorf("%d bytes are kept of an answer beyond the room", as.answered.taken)
	}
}

func TestSlowAnswersHoldUpTheirOwnAccountsOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	began := time.Now()
	w.set(began)
	w.slow = map[string]int{}
	for n := range accountPolls - 1 {
		w.slow[fmt.Sprintf("0x%040d", n)] = 0
	}
	slow := slices.Collect(maps.Keys(w.slow))
	f, _ := w.run()
	w.caughtUp(f)
	w.connect("one", channel.FeedClearinghouseState)
	must.Do(t, w.table.AddAddresses(t.Context(), w.message("one"), slow, connections.Limits{}, connections.Reply{Frame: []byte(`{"type":"subscribe"}`)}))
	allAsked := func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return !slices.ContainsFunc(slow, func(a string) bool { return w.slow[a] != 1 })
	}
	w.eventually("every slow account is asked for", allAsked)
	w.connect("two", channel.FeedClearinghouseState)
	must.Do(t, w.table.AddAddresses(t.Context(), w.message("two"), []string{alice}, connections.Limits{}, connections.Reply{Frame: []byte(`{"type":"subscribe"}`)}))
	wants(t, w.sent("two", 2)[1], `"withdrawable":"1.0"`)
	w.set(began.Add(accountEvery))
	wants(t, w.sent("two", 3)[2], `"withdrawable":"2.0"`)
	if !allAsked() {
		t.Error("an account is asked for again while its answer is awaited")
	}
}

func TestAnAccountThatWaitsForTheBudgetIsForgottenWithItsFollowers(t *testing.T) {
	t.Parallel()
	p := newPoller()
	k := ordersOf("0x", 0)
	p.budget.TrySpend(accountWeight)
	p.follow("one", "0x", 1)
	if start := p.startable(); len(start) != 0 || p.polled[k] == nil {
		t.Fatalf("%v may start without a budget", start)
	}
	p.hub.Disconnect("one")
	if start := p.startable(); len(start) != 0 || p.polled[k] == nil {
		t.Errorf("%v may start, and what is known of it is %v", start, p.polled[k])
	}
	p.now = p.now.Add(accountRest + time.Second) // enough comes back
	if start := p.startable(); len(start) != 0 || p.polled[k] != nil {
		t.Errorf("%v may start, which nobody follows", start)
	}
}

// poller polls accounts that clients of distributors follow, by a clock of its own.
type poller struct {
	*accounts
	hub   *hub.Hub
	now   time.Time
	polls map[accountKey][]time.Time
}

func newPoller() *poller {
	p := &poller{now: time.Unix(1_800_000_000, 0), polls: map[accountKey][]time.Time{}}
	p.accounts = newAccounts(&Config{Venue: struct{ Venue }{}, Now: func() time.Time { return p.now }}, nil)
	p.hub = hub.New(hub.Config{Topic: func(name string) hub.Topic {
		view, about, _ := strings.Cut(name, " ")
		i := slices.IndexFunc(p.views, func(v *accountView) bool { return v.name == view })
		return p.views[i].topic(about)
	}})
	p.accounts.hub = p.hub
	newOpenOrders(base{Config: p.Config, name: string(channel.OpenOrders), hub: p.hub, accounts: p.accounts})
	return p
}

// follow has a client of a distributor follow the open orders of n accounts.
func (p *poller) follow(distributor, prefix string, n int) {
	p.hub.Connect(hub.Conn{ID: distributor, Of: distributor})
	for i := range n {
		_ = p.hub.Subscribe(distributor, p.views[0].topicOf(ordersOf(prefix, i)), nil)
	}
}

func ordersOf(prefix string, i int) accountKey {
	return accountKey{orders: true, address: fmt.Sprint(prefix, i)}
}

// run polls for a while; an answer comes within half a second.
func (p *poller) run(d time.Duration) {
	for end := p.now.Add(d); p.now.Before(end); p.now = p.now.Add(500 * time.Millisecond) {
		for _, k := range p.startable() {
			p.polls[k] = append(p.polls[k], p.now)
			p.ended(p.polled[k])
		}
	}
}

// TestNobodysAccountsAreKeptFromBeingPolled: a distributor's client follows one account from
// the second minute on, while one of another follows any number.
func TestNobodysAccountsAreKeptFromBeingPolled(t *testing.T) {
	t.Parallel()
	for _, loud := range []int{0, 100, 1000} {
		p := newPoller()
		p.follow("loud", "0xloud", loud)
		p.run(time.Minute)
		began := p.now
		p.follow("quiet", "0xquiet", 1)
		p.follow("also quiet", "0xloud", min(loud, 1)) // the same as the loud one
		p.run(9 * time.Minute)
		polls, n := p.polls[ordersOf("0xquiet", 0)], 0
		for i := range loud {
			n += len(p.polls[ordersOf("0xloud", i)])
		}
		// Of 45 polls a minute a third, but never more than there can be; none is left unspent.
		least, all := 130, 9*accountWeight/20
		if loud == 0 {
			least, all = 270, 270
		}
		if len(polls) < least || n+len(polls) < all {
			t.Errorf("beside %d accounts one is polled %d times in 9 minutes, want %d; all %d times, want %d", loud, len(polls), least, n+len(polls), all)
			continue
		}
		if wait := polls[0].Sub(began); wait > 5*time.Second {
			t.Errorf("beside %d accounts one waits for %s", loud, wait)
		}
		if shared := len(p.polls[ordersOf("0xloud", 0)]); loud > 0 && shared < least {
			t.Errorf("beside %d accounts one that another follows too is polled %d times", loud, shared)
		}
		if waiting, longest := p.waits(); loud >= 1000 && (waiting < loud-100 || longest < 9*time.Minute) || loud == 0 && (waiting > 0 || longest > 0) {
			t.Errorf("beside %d accounts %d wait, for %s at most", loud, waiting, longest)
		}
		if list := p.addresses(); loud == 1000 && (len(list) != 3 || len(list[1].Things) != loud || !slices.Equal(list[2].Things, []string{"0xquiet0"})) {
			t.Errorf("followed are %v", list)
		}
	}
}

// read has a client of a distributor wait for a read of a ledger; read is closed when it may.
func (p *poller) read(t *testing.T, distributor string, unless <-chan struct{}) (read <-chan struct{}) {
	t.Helper()
	began := make(chan struct{})
	before := p.waitingReads(distributor)
	go func() {
		defer close(began)
		if _, err := p.readTurn(t.Context(), distributor, unless); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	}()
	testenv.Until(t, "the read waits", func() bool { return p.waitingReads(distributor) > before })
	return began
}

func (p *poller) waitingReads(distributor string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.reads[distributor])
}

// TestNobodysLedgersAreKeptFromBeingRead: reads of ledgers are paid as polls are, in turns of
// their distributors.
func TestNobodysLedgersAreKeptFromBeingRead(t *testing.T) {
	t.Parallel()
	p := newPoller()
	never, ended := make(chan struct{}), make(chan struct{})
	close(ended)
	p.follow("loud", "0xloud", 300)
	for range 40 {
		p.read(t, "loud", never)
	}
	p.run(time.Minute)
	left := p.waitingReads("loud")
	// Of the budget and what comes back in a minute, about a half.
	if n := 40 - left; n < 10 || n > 15 {
		t.Errorf("%d ledgers are read in the first minute", n)
	}
	p.follow("quiet", "0xquiet", 1)
	quiet := p.read(t, "quiet", never)
	p.run(30 * time.Second)
	<-quiet
	if n := len(p.polls[ordersOf("0xquiet", 0)]); n < 5 {
		t.Errorf("beside reads of another, one account is polled %d times in half a minute", n)
	}
	for range readsMost - p.waitingReads("loud") {
		p.mu.Lock()
		p.reads["loud"] = append(p.reads["loud"], &ticket{ended: true})
		p.mu.Unlock()
	}
	if _, err := p.readTurn(t.Context(), "loud", never); !errors.Is(err, errReads) {
		t.Errorf("one more than may wait: %v", err)
	}
	<-p.read(t, "quiet", ended)
	p.run(10 * time.Minute)
	if n := p.waitingReads("loud"); n > 0 {
		t.Errorf("%d wait after what nobody needs any longer", n)
	}
}

// askedWithoutLock is a hub that is asked who follows something while nothing holds up snapshots and
// what is published.
type askedWithoutLock struct {
	*hub.Hub
	t     *testing.T
	lock  *sync.Mutex
	asked int
}

func (h *askedWithoutLock) Followers(topics ...string) []string {
	h.asked++
	if !h.lock.TryLock() {
		h.t.Errorf("while it is seen who follows %s, snapshots wait", topics)
		return nil
	}
	defer h.lock.Unlock()
	return h.Hub.Followers(topics...)
}

func TestNoSnapshotWaitsUntilItIsSeenWhoFollowsAllAccounts(t *testing.T) {
	t.Parallel()
	p := newPoller()
	asked := &askedWithoutLock{Hub: p.hub, t: t, lock: &p.mu}
	p.accounts.hub = asked
	p.follow("one", "0xone", 5)
	if n := len(p.startable()); n != 5 {
		t.Errorf("%d accounts are polled", n)
	}
	if list := p.addresses(); len(list) != 1 || len(list[0].Things) != 5 || asked.asked == 0 {
		t.Errorf("followed are %v", list)
	}
}

// TestALookAtAccountsCostsWhatItStarts counts allocations, of which a look makes some for each
// account that it goes through.
func TestALookAtAccountsCostsWhatItStarts(t *testing.T) { //nolint:paralleltest // allocations are counted
	const accounts, most = 30_000, 500
	p := newPoller()
	p.follow("loud", "0xloud", accounts)
	p.run(time.Minute)
	polls := len(p.polls)
	look := func() { p.run(500 * time.Millisecond) }
	if n := testing.AllocsPerRun(100, look); n > most {
		t.Errorf("a look at %d accounts makes %v allocations, want %d at most", accounts, n, most)
	}
	if n := len(p.polls) - polls; n < 30 {
		t.Errorf("%d polls were started meanwhile", n)
	}
	if waiting, _ := p.waits(); waiting < accounts/2 {
		t.Errorf("%d accounts wait", waiting)
	}
}

func TestALookNotesSomeOfWhatEachDistributorBeginsToFollow(t *testing.T) {
	t.Parallel()
	p := newPoller()
	p.follow("loud", "0xloud", 5*changesAtOnce)
	p.follow("quiet", "0xquiet", 2)
	polled := p.startable()
	for i := range 2 {
		if k := ordersOf("0xquiet", i); !slices.Contains(polled, k) {
			t.Errorf("%v is not polled", k)
		}
	}
	if n := len(p.polled); n > changesAtOnce+2 {
		t.Errorf("a look notes %d accounts, want %d at most", n, changesAtOnce+2)
	}
	for range 9 {
		p.startable()
	}
	if n := len(p.polled); n != 5*changesAtOnce+2 || len(p.changes) > 0 {
		t.Errorf("%d accounts are known after ten looks, and %d distributors wait", n, len(p.changes))
	}
}

// TestAccountsArePolledForThoseWhoFollowThem has clients of distributors begin and end to follow
// accounts in two views, by chance, while polls end late.
func TestAccountsArePolledForThoseWhoFollowThem(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := newPoller()
		newOpenOrders(base{Config: p.Config, name: "otherView", hub: p.hub, accounts: p.accounts})
		distributors, under := []string{"a", "b", "c"}, map[accountKey]bool{}
		for _, d := range distributors {
			p.hub.Connect(hub.Conn{ID: d, Of: d})
		}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			d, k := rapid.SampledFrom(distributors).Draw(t, "distributor"), ordersOf("0x", rapid.IntRange(0, 5).Draw(t, "account"))
			topic := p.views[rapid.IntRange(0, 1).Draw(t, "view")].topicOf(k)
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0, 1:
				_ = p.hub.Subscribe(d, topic, nil)
			case 2:
				p.hub.Unsubscribe(d, topic)
			case 3:
				if under[k] {
					delete(under, k)
					p.ended(p.polled[k])
				}
			case 4:
				p.now = p.now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
			default:
				for _, k := range p.startable() {
					if last := p.polls[k]; under[k] || len(last) > 0 && p.now.Sub(last[len(last)-1]) < accountEvery {
						t.Fatalf("%v is polled at %v, and was at %v", k, p.now, last)
					}
					under[k] = true
					p.polls[k] = append(p.polls[k], p.now)
				}
				p.check(t, under)
			}
		}
		for _, d := range distributors {
			p.hub.Disconnect(d)
		}
		p.startable()
		for k := range under {
			p.ended(p.polled[k])
		}
		p.now = p.now.Add(accountRest + time.Second)
		if p.startable(); len(p.polled)+len(p.due)+len(p.sleeping)+len(p.left)+p.waiting+p.polling > 0 {
			t.Fatalf("after all left, %d accounts are known", len(p.polled))
		}
	})
}

// check compares what is known of accounts with who follows them.
func (p *poller) check(t *rapid.T, under map[accountKey]bool) {
	t.Helper()
	want, have, waiting := map[line]int{}, map[line]int{}, 0
	for i := range 6 {
		k := ordersOf("0x", i)
		followers := p.followers(k)
		a := p.polled[k]
		if a == nil {
			if len(followers) > 0 {
				t.Fatalf("%v is not known, which %v follow", k, followers)
			}
			continue
		}
		if due := len(followers) > 0 && !under[k] && !p.now.Before(a.next); due != a.due || under[k] != a.polling {
			t.Fatalf("%v is due: %t, want %t; polled: %t, want %t", k, a.due, due, a.polling, under[k])
		}
		if sleeps := len(followers) > 0 && !a.due && !a.polling; sleeps != (a.at >= 0) || sleeps && p.sleeping[a.at] != a {
			t.Fatalf("%v sleeps: %t, want %t", k, a.at >= 0, sleeps)
		}
		if a.due {
			waiting++
			for _, of := range followers {
				want[line{of, k.address}]++
			}
		}
	}
	for of, list := range p.due {
		for e := list.Front(); e != nil; e = e.Next() {
			have[line{of, e.Value.(*follow).address}]++
		}
	}
	if !maps.Equal(want, have) || waiting != p.waiting {
		t.Fatalf("in lines are %v, want %v; %d wait, want %d", have, want, p.waiting, waiting)
	}
}

// TestALookAtAccountsTakesATwentiethOfTheTimeAtMost has looks take 100 ms, by a clock of its own.
func TestALookAtAccountsTakesATwentiethOfTheTimeAtMost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const look = 100 * time.Millisecond
		looks := -1 // the first time is that of the budget
		as := newAccounts(&Config{Venue: struct{ Venue }{}, Now: func() time.Time {
			if looks++; looks > 0 {
				time.Sleep(look)
			}
			return time.Now()
		}}, nil)
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		must.Do(t, as.run(ctx))
		if most := int(time.Minute/look/lookShare) + 1; looks < most-5 || looks > most {
			t.Errorf("%d looks in a minute, want up to %d", looks, most)
		}
	})
}

// BenchmarkLook is one look at accounts of which nearly all wait to be polled.
func BenchmarkLook(b *testing.B) {
	for _, accounts := range []int{1000, 30_000} {
		b.Run(strconv.Itoa(accounts), func(b *testing.B) {
			p := newPoller()
			p.follow("loud", "0xloud", accounts)
			p.run(time.Second)
			for b.Loop() {
				p.run(500 * time.Millisecond)
			}
		})
	}
}
