package feeds

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"quotary/shared/data/fills"
	"quotary/shared/data/ledgers"
	"quotary/shared/gate/channel"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// TestSnapshotsThatWereShownMakeRoomForOthers: an account whose snapshot was shed is still told
// what is new, once, and who asks for it next is shown all of it.
func TestSnapshotsThatWereShownMakeRoomForOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config = func(c *Config) { c.Venue = nil } // ledger updates are those that are stored
	f, _ := w.run()
	w.caughtUp(f)
	fs := f.publishers[string(channel.UserFills)].(*userFills)
	ls := f.publishers[string(channel.UserNonFundingLedgerUpdates)].(*ledgerUpdates)
	fs.cache.whole.most, ls.cache.whole.most = 1, 1
	now := time.Now()
	old, recent := fill(1, now.Add(-time.Hour), "BTC"), fill(2, now.Add(-time.Minute), "BTC")
	oldUpdate, recentUpdate := ledgerUpdate("0x01", now.Add(-time.Hour)), ledgerUpdate("0x02", now.Add(-time.Minute))
	storetest.PutLog(t, f.Log, fills.Name, fills.AppendRows, old, recent)
	storetest.PutLog(t, f.Log, ledgers.Name, ledgers.AppendRows, oldUpdate, recentUpdate)
	w.connect("one", channel.FeedChannels)
	w.subscribe("one", ofAlice[0])
	wants(t, w.sent("one", 2)[1], `"isSnapshot":true,"user"`, `"tid":2`, `"tid":1`)
	w.subscribe("one", ofAlice[1])
	wants(t, w.sent("one", 4)[3], `"isSnapshot":true,"user"`, `"hash":"0x01"`, `"hash":"0x02"`)
	w.connect("other", channel.FeedChannels)
	for i, s := range ofAlice { // what was kept of Alice is shed for Bob's
		s.User = bob
		w.subscribe("other", s)
		w.sent("other", 2+2*i)
	}

	f.publish(&market.Events{Fills: []market.Fill{recent}, Ledgers: []market.Ledger{recentUpdate}})
	f.publish(&market.Events{Fills: []market.Fill{fill(3, now, "ETH")}, Ledgers: []market.Ledger{ledgerUpdate("0x03", now)}})
	all := strings.Join(w.sent("one", 6)[4:], "\n")
	wants(t, all, `{"user":"`+alice+`","fills":[`, `"tid":3`)
	wants(t, all, `{"user":"`+alice+`","nonFundingLedgerUpdates":[`, `"hash":"0x03"`)
	if strings.Contains(all, `"tid":2`) || strings.Contains(all, `"hash":"0x02"`) {
		t.Errorf("what a snapshot had comes again: %s", all)
	}

	w.connect("two", channel.FeedChannels)
	w.subscribe("two", ofAlice[0])
	wants(t, w.sent("two", 2)[1], `"isSnapshot":true,"user"`, `"tid":3`, `"tid":2`, `"tid":1`)
	w.subscribe("two", ofAlice[1])
	wants(t, w.sent("two", 4)[3], `"isSnapshot":true,"user"`, `"hash":"0x01"`, `"hash":"0x02"`, `"hash":"0x03"`)
}

// TestSnapshotsOfManyAccountsStayWithinTheirRoom follows more accounts than there is room for, as
// one distributor may, and each of them trades on.
func TestSnapshotsOfManyAccountsStayWithinTheirRoom(t *testing.T) {
	t.Parallel()
	const many, room = 300, 4 << 20
	w := newWorld(t)
	f := New(Config{Connections: w.table, Gateway: w, Keys: w, Now: w.clock}) // it never runs
	fs := f.publishers[string(channel.UserFills)].(*userFills)
	fs.cache.whole.most = room
	now := time.Now()
	of := func(account int, tid int64, at time.Time) market.Fill {
		one := fill(tid, at, "BTC")
		one.Address = fmt.Sprintf("0x%040x", account)
		return one
	}
	whole := func(account int) bool {
		_, ok := fs.cache.shown(of(account, 0, now).Address)
		return ok && !fs.cache.incomplete(of(account, 0, now).Address)
	}
	for account := range many {
		address := of(account, 0, now).Address
		must.Do(t, fs.cache.acquire(t.Context(), "acme", address, func() *fillList { return fs.recentOf(address) }, func(_ context.Context, l *fillList) error {
			for tid := range int64(fillsKept) {
				one := of(account, tid, now.Add(-time.Hour))
				l.add(&one)
			}
			return nil
		}))
		if !whole(account) {
			t.Fatalf("account %d is shed before it was shown", account)
		}
		fs.cache.release(address)
	}
	for tid := range int64(2 * shedFillsKept) {
		for account := range many {
			fs.add(&market.Events{Fills: []market.Fill{of(account, fillsKept+tid, now)}})
		}
	}
	left, taken, keys := 0, 0, 0
	for account := range many {
		l, _ := fs.cache.get(of(account, 0, now).Address)
		if taken += l.size(); whole(account) {
			left++
		} else {
			keys = max(keys, len(l.fills), len(l.known))
		}
	}
	if fs.cache.whole.taken > room || left == 0 || left == many || keys != shedFillsKept || taken > room+many*shedFillsKept*fillSize {
		t.Errorf("%d accounts are whole; %d bytes counted, %d taken; of the others up to %d keys", left, fs.cache.whole.taken, taken, keys)
	}
	fs.hub = nobody{}
	if fs.prune(); fs.cache.whole.taken != 0 || fs.cache.whole.order.Len() != 0 || len(fs.cache.entries) != 0 {
		t.Errorf("%d bytes of %d accounts are left when nobody follows them", fs.cache.whole.taken, fs.cache.whole.order.Len())
	}
}

// nobody is a hub whose topics nobody follows.
type nobody struct{ subscribers }

func (nobody) Watched(string) bool { return false }

// TestAnAccountThatCannotBeLoadedIsToldWhatIsNew: the next who asks has it loaded.
func TestAnAccountThatCannotBeLoadedIsToldWhatIsNew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := New(Config{Connections: w.table, Gateway: w, Keys: w, Now: w.clock}) // it never runs
	fs := f.publishers[string(channel.UserFills)].(*userFills)
	away := errors.New("the store is away")
	acquire := func(load func(context.Context, *fillList) error) error {
		defer fs.cache.release(alice)
		return fs.cache.acquire(t.Context(), "acme", alice, func() *fillList { return fs.recentOf(alice) }, load)
	}
	if err := acquire(func(context.Context, *fillList) error { return away }); !errors.Is(err, away) {
		t.Errorf("%v", err)
	}
	one := fill(1, time.Now(), "BTC")
	l, ok := fs.cache.get(alice)
	if !ok || !fs.cache.incomplete(alice) {
		t.Fatal("it is forgotten, or taken for whole")
	}
	if _, isNew := l.add(&one); !isNew {
		t.Error("what is new is not told")
	}
	loads := 0
	for range 2 {
		must.Do(t, acquire(func(context.Context, *fillList) error { loads++; return nil }))
	}
	if loads != 1 || fs.cache.incomplete(alice) {
		t.Errorf("loaded %d times, incomplete %t", loads, fs.cache.incomplete(alice))
	}
}
