package feeds

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/functions/ingester/source/hyperliquid"
	filldata "quotary/shared/data/fills"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// publicly is the public trade behind a fill of Alice.
func publicly(t testing.TB, f market.Fill) market.Trade {
	t.Helper()
	trade, ok := f.Trade()
	if !ok {
		t.Fatalf("%+v is no trade that Alice took", f)
	}
	trade.Users[1] = bob
	return trade
}

// TestPublicTradesAreFillsAtOnceAndComeOnce: a client sees each as a provisional fill, what only the venue's hour
// has when that comes, and nothing twice: neither there, nor resumed before, between and after the hour.
func TestPublicTradesAreFillsAtOnceAndComeOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	follow := func(id string, from channel.Resume) {
		t.Helper()
		w.connect(id, channel.FeedFills)
		must.Do(t, w.table.AddAddresses(t.Context(), w.message(id), []string{alice}, connections.Limits{}, connections.Reply{Frame: []byte(subscribeReply), From: from}))
		w.sent(id, 1)
	}
	follow("one", channel.Resume{})
	w.connect("venue", channel.FeedChannels)
	w.subscribe("venue", ofAlice[0])
	w.sent("venue", 2)

	at := time.Now()
	live := f.Tap(func(_ context.Context, d hyperliquid.Delivery) error {
		for i := range d.Events.Provisional {
			if one := &d.Events.Provisional[i]; one.Arrived.At == 0 {
				t.Errorf("%+v has no place: whoever begins meanwhile may miss it", one)
			}
		}
		storetest.PutLog(t, f.Log, filldata.Name, filldata.AppendRows, d.Events.Provisional...)
		f.arriving.stored(&d.Events)
		return nil
	}, false)
	trades := []market.Trade{publicly(t, fill(1, at, "BTC")), publicly(t, fill(2, at.Add(time.Millisecond), "BTC"))}
	for range 2 { // a connection that was lost brings the last ones again
		must.Do(t, live(t.Context(), hyperliquid.Delivery{Events: market.Events{Trades: trades, Provisional: market.AppendProvisional(nil, trades)}}))
	}
	w.eventually("both are sent", func() bool { return len(w.tids("one")) == 2 })
	wants(t, w.frames("one")[len(w.frames("one"))-1], `"side":"B","startPosition":null,"dir":null,"closedPnl":null,"hash":"0x01","oid":null,"crossed":true,"fee":null,"tid":2,"feeToken":null,"twapId":null,"provisional":true}`)
	wants(t, w.sent("venue", 3)[2], `"tid":1,"feeToken":null,"twapId":null}`, `"tid":2,"feeToken":null,"twapId":null}]`)
	w.mu.Lock()
	between := w.cursors["one"][len(w.cursors["one"])-1]
	w.mu.Unlock()

	follow("two", channel.Resume{}) // later than what the hour tells of, which nobody knew then
	hour := market.Events{Fills: []market.Fill{fill(1, at, "BTC"), fill(2, at.Add(time.Millisecond), "BTC"), fill(3, at.Add(2*time.Millisecond), "ETH")}}
	must.Do(t, f.Hour(t.Context(), &hour, false))
	storetest.PutLog(t, f.Log, filldata.Name, filldata.AppendRows, hour.Fills...)
	f.arriving.stored(&hour)
	w.eventually("what only the hour has is sent", func() bool { return len(w.tids("one")) == 3 })
	if last := w.frames("one")[len(w.frames("one"))-1]; strings.Contains(last, "provisional") || !strings.Contains(last, `"oid":1003`) {
		t.Errorf("it is sent as %s", last)
	}
	wants(t, w.sent("venue", 4)[3], `"tid":3`)
	w.eventually("to who came later too", func() bool { return slices.Equal(w.tids("two"), []int64{3}) })

	w.connect("later", channel.FeedChannels) // a snapshot has what is known now
	w.subscribe("later", ofAlice[0])
	wants(t, w.sent("later", 2)[1], `"oid":1003`, `"oid":1002`, `"oid":1001`)

	w.mu.Lock()
	after := w.cursors["one"][len(w.cursors["one"])-1]
	w.mu.Unlock()
	for name, c := range map[string]struct {
		from channel.Resume
		want []int64
	}{
		"from before":                 {channel.Resume{Since: at.Add(-time.Minute).UnixMilli()}, []int64{1, 2, 3}},
		"between the trades and hour": {channel.Resume{Cursor: between}, []int64{3}},
		"after the hour":              {channel.Resume{Cursor: after}, nil},
	} {
		id := fmt.Sprint("resumed ", name)
		follow(id, c.from)
		w.eventually(id, func() bool { return len(w.tids(id)) >= len(c.want) })
		next := publicly(t, fill(int64(10+len(c.want)), time.Now(), "BTC"))
		must.Do(t, live(t.Context(), hyperliquid.Delivery{Events: market.Events{Provisional: market.AppendProvisional(nil, []market.Trade{next})}}))
		w.eventually(id+" goes on", func() bool { return slices.Contains(w.tids(id), next.Tid) })
		got := slices.DeleteFunc(w.tids(id), func(tid int64) bool { return tid >= 10 })
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Who looked whether an event is stored already knows more than the feeds.
func TestAPlaceKeepsThatAnEventMayBeStored(t *testing.T) {
	t.Parallel()
	now := time.Now()
	a := &arriving{now: func() time.Time { return now }, begun: now.Add(-time.Hour).UnixMilli()}
	for name, again := range map[string]bool{"looked for": true, "just traded": false} {
		f := fill(1, now.Add(-2*time.Minute), name)
		for range 2 {
			f.Arrived = market.Arrived{Again: again}
			e := market.Events{Provisional: []market.Fill{f}}
			a.arrive(&e, 0)
			if got := e.Provisional[0].Arrived; got.At == 0 || got.Again != again {
				t.Errorf("%s: it has arrived %+v", name, got)
			}
		}
	}
}

// Until an hour is stored the stores have provisional fills, which are not kept for who asks for them then.
func TestAListThatIsReadWhileItsHourIsStoredIsWhole(t *testing.T) {
	t.Parallel()
	for name, old := range map[string]bool{"an hour of now": false, "one of long ago": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			f, _ := w.run()
			w.caughtUp(f)
			one := fill(1, time.Now().Add(-time.Hour), "BTC")
			storetest.PutLog(t, f.Log, filldata.Name, filldata.AppendRows, market.AppendProvisional(nil, []market.Trade{publicly(t, one)})...)
			must.Do(t, f.Hour(t.Context(), &market.Events{Fills: []market.Fill{one}}, old))
			w.connect("one", channel.FeedChannels)
			w.subscribe("one", ofAlice[0])
			wants(t, w.sent("one", 2)[1], `"fills":[{"coin":"BTC"`, `"oid":1001`, `]`)
		})
	}
}
