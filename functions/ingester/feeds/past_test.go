package feeds

import (
	"context"
	"strings"
	"testing"
	"time"

	filldata "quotary/shared/data/fills"
	"quotary/shared/data/ledgers"
	"quotary/shared/gate/channel"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// readingPast makes the past of a world's feeds be read until the returned function is
// called, and snapshots wait for it for so long.
func (w *world) readingPast(most time.Duration) (read func()) {
	past := make(chan struct{})
	w.config = func(c *Config) { c.PastRead, c.PastMost, c.Venue = past, most, nil }
	return func() { close(past) }
}

func ledgerUpdate(hash string, at time.Time) market.Ledger {
	return market.Ledger{Address: alice, Time: at.UnixMilli(), Hash: hash, Type: "deposit", Funds: "deposit", USDC: "7.0", Delta: []byte(`{"type":"deposit","usdc":"7.0"}`)}
}

var ofAlice = []channel.Subscription{{Type: channel.UserFills, User: alice}, {Type: channel.UserNonFundingLedgerUpdates, User: alice}}

// waiting is how many subscriptions wait for the past.
func waiting(f *Feeds) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.clients {
		n += len(c.waiting)
	}
	return n
}

func TestSnapshotsOfAccountsWaitForThePast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	read := w.readingPast(time.Hour)
	f, _ := w.run()
	w.caughtUp(f)
	now := time.Now()
	for _, id := range []string{"one", "two", "three"} {
		w.connect(id, channel.FeedChannels)
		for _, s := range ofAlice {
			w.subscribe(id, s)
		}
	}
	w.eventually("all wait", func() bool { return waiting(f) == 6 })

	// What has no past waits for nothing, and who leaves waits no longer.
	w.subscribe("one", channel.Subscription{Type: channel.L2Book, Coin: "BTC"})
	w.sent("one", 3)
	f.publish(&market.Events{Books: []market.Book{book("BTC", now.UnixMilli(), "105056.0")}, Fills: []market.Fill{fill(3, now, "ETH")}})
	wants(t, w.sent("one", 4)[3], `{"channel":"l2Book"`)
	must.Get(w.table.Unsubscribe(t.Context(), w.message("two"), ofAlice[0]))(t)
	must.Get(w.table.Remove(t.Context(), "three"))(t)
	w.eventually("who left waits no longer", func() bool { return waiting(f) == 3 })

	storetest.PutLog(t, f.Log, filldata.Name, filldata.AppendRows, fill(1, now.Add(-time.Hour), "BTC"), fill(2, now.Add(-time.Minute), "BTC"))
	storetest.PutLog(t, f.Log, ledgers.Name, ledgers.AppendRows, ledgerUpdate("0x01", now.Add(-time.Hour)))
	if n := len(w.frames("one")); n != 4 {
		t.Errorf("%d frames while the past is read", n)
	}
	read()
	all := strings.Join(w.sent("one", 6)[4:], "\n")
	wants(t, all, `{"channel":"userFills","data":{"isSnapshot":true,"user":"`+alice+`","fills":[`, `"tid":3`, `"tid":2`, `"tid":1`)
	wants(t, all, `"data":{"isSnapshot":true,"user":"`+alice+`","nonFundingLedgerUpdates":[{"time":`, `"hash":"0x01"`)
	if got := strings.Join(w.sent("two", 3), "\n"); strings.Contains(got, `"userFills","data"`) || len(w.frames("three")) != 2 {
		t.Errorf("who left is sent a snapshot: %s, %v", got, w.frames("three"))
	}
}

func TestASnapshotSaysThatThePastIsStillRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	read := w.readingPast(time.Millisecond)
	f, _ := w.run()
	w.caughtUp(f)
	now := time.Now()
	storetest.PutLog(t, f.Log, filldata.Name, filldata.AppendRows, fill(1, now.Add(-3*time.Hour), "BTC"))
	w.connect("one", channel.FeedChannels)
	w.subscribe("one", ofAlice[0])
	wants(t, w.sent("one", 2)[1], `{"channel":"userFills","data":{"isSnapshot":true,"incomplete":true,"user":"`+alice+`","fills":[`, `"tid":1`)
	w.subscribe("one", ofAlice[1])
	wants(t, w.sent("one", 4)[3], `"data":{"isSnapshot":true,"incomplete":true,"user":"`+alice+`","nonFundingLedgerUpdates":[]`)

	// What happens now goes on; what happened before follows in new snapshots.
	f.publish(&market.Events{Fills: []market.Fill{fill(3, now, "ETH")}, Ledgers: []market.Ledger{ledgerUpdate("0x03", now)}})
	all := strings.Join(w.sent("one", 6)[4:], "\n")
	wants(t, all, `"data":{"user":"`+alice+`","fills":[`, `"tid":3`)
	wants(t, all, `"data":{"user":"`+alice+`","nonFundingLedgerUpdates":[{"time":`, `"hash":"0x03"`)
	storetest.PutLog(t, f.Log, filldata.Name, filldata.AppendRows, fill(2, now.Add(-time.Hour), "BTC"))
	storetest.PutLog(t, f.Log, ledgers.Name, ledgers.AppendRows, ledgerUpdate("0x02", now.Add(-time.Hour)))
	read()
	all = strings.Join(w.sent("one", 8)[6:], "\n")
	wants(t, all, `"data":{"isSnapshot":true,"user":"`+alice+`","fills":[`, `"tid":3`, `"tid":2`, `"tid":1`, `]}}`)
	wants(t, all, `"data":{"isSnapshot":true,"user":"`+alice+`","nonFundingLedgerUpdates":[`, `"hash":"0x02"`, `"hash":"0x03"`, `]}}`)
	if n := strings.Count(all, `"tid"`); n != 3 {
		t.Errorf("%d fills: %s", n, all)
	}

	// Who comes now has nothing to wait for.
	w.connect("two", channel.FeedChannels)
	w.subscribe("two", ofAlice[0])
	wants(t, w.sent("two", 2)[1], `{"channel":"userFills","data":{"isSnapshot":true,"user":"`+alice+`","fills":[`, `"tid":3`, `"tid":2`, `"tid":1`)
}

// A snapshot that is being loaded when the past is read is loaded once more.
func TestAValueIsLoadedAgainWhereThePastIsReadMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := New(Config{Connections: w.table, Gateway: w, Keys: w, Now: w.clock}) // it never runs
	fs := f.publishers[string(channel.UserFills)].(*userFills)
	isRead, loads := false, 0
	fs.cache.pastIsRead = func() bool { return isRead }
	err := fs.cache.acquire(t.Context(), "acme", alice, func() *fillList { return fs.recentOf(alice) }, func(_ context.Context, _ *fillList) error {
		loads++
		isRead = true
		return nil
	})
	if err != nil || loads != 2 || fs.cache.incomplete(alice) {
		t.Errorf("loaded %d times, incomplete %t, %v", loads, fs.cache.incomplete(alice), err)
	}
}
