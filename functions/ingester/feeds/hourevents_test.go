package feeds

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/shared/data/datatest"
	filldata "quotary/shared/data/fills"
	ledgerdata "quotary/shared/data/ledgers"
	"quotary/shared/data/payments"
	"quotary/shared/gate/channel"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// hourEvents are what only an hour has, of one time: a liquidation, a ledger update and a payment.
func hourEvents(n int64, at time.Time) market.Events {
	return market.Events{
		Fills:    []market.Fill{liquidation(alice, "BTC", n, n, at.UnixMilli(), "2.0", "4.0")},
		Ledgers:  []market.Ledger{{Address: alice, Time: at.UnixMilli(), Hash: fmt.Sprintf("0x%02d", n), Type: "deposit", Delta: json.RawMessage(`{"type":"deposit","usdc":"7.0"}`)}},
		Payments: []market.FundingPayment{{Address: alice, Coin: fmt.Sprint("C", n), Time: at.UnixMilli(), USDC: "-1.5", Szi: "2.0", Rate: "0.0001"}},
	}
}

// marksOf are what frames have of such events, by channel.
func marksOf(n int64) map[channel.Name]string {
	return map[channel.Name]string{
		channel.Liquidations:                fmt.Sprintf(`"oid":%d,"liqPrice"`, n),
		channel.UserNonFundingLedgerUpdates: fmt.Sprintf(`"hash":"0x%02d","delta"`, n),
		channel.UserFundings:                fmt.Sprintf(`"coin":"C%d","usdc":"-1.5"`, n),
	}
}

// storeEvents stores events as the pipeline does.
func (w *world) storeEvents(f *Feeds, e *market.Events) {
	w.t.Helper()
	storetest.PutLog(w.t, f.Log, filldata.Name, filldata.AppendRows, e.Fills...)
	storetest.PutLog(w.t, f.Log, ledgerdata.Name, ledgerdata.AppendRows, e.Ledgers...)
	storetest.PutLog(w.t, f.Log, payments.Name, payments.AppendRows, e.Payments...)
	datatest.PutLiquidations(w.t, f.Series, e.Fills...)
	f.arriving.stored(e)
}

// pushed is how often a client was sent a text on a channel, but for snapshots.
func (w *world) pushed(id string, on channel.Name, text string) (n int) {
	for _, frame := range w.frames(id) {
		if strings.HasPrefix(frame, string(inChannel(on))) && !strings.Contains(frame, `"isSnapshot"`) {
			n += strings.Count(frame, text)
		}
	}
	return n
}

// ofAliceByHour are the channels of what only hours have.
var ofAliceByHour = []channel.Subscription{
	{Type: channel.Liquidations}, {Type: channel.UserNonFundingLedgerUpdates, User: alice}, {Type: channel.UserFundings, User: alice},
}

// TestWhatOnlyAnHourHasIsPushedOnceAndFoundByAResume: its liquidations, whose fills were there as provisional ones,
// ledger updates and payments reach who follows them by then, whatever is read again: neither twice, nor where they
// resume before, between and after the hour, nor after a restart; of an old hour nothing is pushed.
func TestWhatOnlyAnHourHasIsPushedOnceAndFoundByAResume(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config = func(c *Config) { c.Hours, c.Idle = true, time.Hour }
	f, stop := w.run()
	w.caughtUp(f)
	at := w.clock().Add(-90 * time.Minute)
	hour, old := hourEvents(1, at), hourEvents(2, at.Add(-6*time.Hour))
	trade := market.AppendTrades(nil, hour.Fills)[0]
	trade.Users = [2]string{bob, alice}
	provisional := market.AppendProvisional(nil, []market.Trade{trade})
	for i := range provisional {
		provisional[i].Arrived.At = market.ArrivalAt(at)
	}
	storetest.PutLog(t, f.Log, filldata.Name, filldata.AppendRows, provisional...)

	var ids []string
	follow := func(id string, from ...channel.Resume) {
		t.Helper()
		ids = append(ids, id)
		w.connect(id, channel.FeedChannels)
		for _, s := range ofAliceByHour {
			w.subscribe(id, s, from...)
		}
		w.eventually(id+" follows payments, which have no cursors", func() bool {
			return strings.Contains(strings.Join(w.frames(id), ""), string(inChannel(channel.UserFundings))+`{"isSnapshot"`)
		})
	}
	lastCursor := func(id string) string {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.cursors[id][len(w.cursors[id])-1]
	}
	// goesOn has something happen on each channel now, so that what came before has been sent.
	marker := int64(10)
	goesOn := func(ids ...string) {
		t.Helper()
		marker++
		now := hourEvents(marker, w.clock())
		f.publish(&now)
		for _, id := range ids {
			for name, mark := range marksOf(marker) {
				w.eventually(fmt.Sprint(id, " goes on with ", name), func() bool { return w.pushed(id, name, mark) == 1 })
			}
		}
	}
	wantPushed := func(id string, n int64, times map[channel.Name]int) {
		t.Helper()
		for name, mark := range marksOf(n) {
			if got := w.pushed(id, name, mark); got != times[name] {
				t.Errorf("%s was sent events %d of %s %d times, want %d:\n%s", id, n, name, got, times[name], strings.Join(w.frames(id), "\n"))
			}
		}
	}
	once, never := map[channel.Name]int{channel.Liquidations: 1, channel.UserNonFundingLedgerUpdates: 1, channel.UserFundings: 1}, map[channel.Name]int{}

	follow("one")
	w.sent("one", 6)
	w.subscribe("one", channel.Subscription{Type: channel.UserEvents, User: alice})
	w.sent("one", 7)
	between := lastCursor("one")
	read := func(e market.Events, isOld bool) market.Events {
		e.Fills, e.Ledgers, e.Payments = slices.Clone(e.Fills), slices.Clone(e.Ledgers), slices.Clone(e.Payments)
		must.Do(t, f.Hour(t.Context(), &e, isOld))
		return e
	}
	read(old, true)
	read(hour, false)
	again := read(hour, false) // its source began again before it was stored
	if whole := again.Fills[0].Arrived; whole.At != market.ArrivalAt(at) || !whole.Whole.Late() {
		t.Errorf("the fill arrived %+v: its place is that of the trade, and that of the liquidation the hour's", whole)
	}
	w.storeEvents(f, &again)
	read(hour, false)
	goesOn("one")
	wantPushed("one", 1, once)
	wantPushed("one", 2, never)
	if n := w.pushed("one", userEvents, `{"funding":{"time":`+fmt.Sprint(at.UnixMilli())); n != 1 {
		t.Errorf("the payment of the hour was sent on userEvents %d times", n)
	}
	follow("snapshot") // which has the old ones too
	for name, mark := range marksOf(2) {
		w.eventually(fmt.Sprint("the snapshot of ", name), func() bool { return strings.Contains(strings.Join(w.frames("snapshot"), ""), mark) })
	}
	if all := strings.Join(w.frames("snapshot"), ""); strings.Contains(all, `"time":5,`) {
		t.Errorf("the venue was asked, which tells what an hour is to bring yet: %s", all)
	}
	after := lastCursor("one")

	resumes := func(life string) {
		t.Helper()
		for name, c := range map[string]struct {
			from channel.Resume
			want int
		}{
			"before":  {channel.Resume{Since: at.Add(-time.Minute).UnixMilli()}, 1},
			"between": {channel.Resume{Cursor: between}, 1},
			"after":   {channel.Resume{Cursor: after}, 0},
		} {
			id := life + " " + name
			follow(id, c.from)
			goesOn(id)
			wantPushed(id, 1, map[channel.Name]int{channel.Liquidations: c.want, channel.UserNonFundingLedgerUpdates: c.want}) // there is no resume of payments
			wantPushed(id, 2, never)
		}
	}
	resumes("at once")
	stop()
	w.set(time.Now().Add(5 * time.Minute)) // what arrived lately is no help any more
	f, stop = w.run()
	w.caughtUp(f)
	read(hour, false)
	resumes("after a restart")
	wantPushed("one", 1, once)

	stop()
	for _, id := range ids {
		must.Get(w.table.Remove(t.Context(), id))(t)
	}
	f, _ = w.run()
	w.caughtUp(f)
	if got := read(hour, false).Fills[0].Arrived; got != again.Fills[0].Arrived {
		t.Errorf("where nobody follows it has arrived %+v, not %+v", got, again.Fills[0].Arrived)
	}
}

// Whoever's list was let go of is still shown each payment of an hour once.
func TestPaymentsOfAnHourAreKnownAgainWhereTheListIsShed(t *testing.T) {
	t.Parallel()
	for name, hours := range map[string]bool{"hours": true, "a node": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Now()
			b := base{Config: &Config{Hours: hours, Now: func() time.Time { return now }}}
			l := &fundingList{since: b.comesSince}
			one := hourEvents(1, now.Add(-3*time.Hour)).Payments[0]
			first := l.add(&one)
			l.shed()
			if again := l.add(&one); !first || again {
				t.Errorf("it is new: %t, again: %t", first, again)
			}
			if kept := len(l.payments) == 1; kept != hours {
				t.Errorf("it is kept: %t", kept)
			}
		})
	}
}
