package feeds

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

// tids are the trade ids that a client of /ws/fills was sent, in order.
func (w *world) tids(id string) (tids []int64) {
	w.t.Helper()
	for _, frame := range w.frames(id) {
		var m struct {
			Type string
			Data struct{ Tid int64 }
		}
		must.Do(w.t, json.Unmarshal([]byte(frame), &m))
		if m.Type == "data" {
			tids = append(tids, m.Data.Tid)
		}
	}
	return tids
}

// What a source repeats when another process takes over goes to who follows the
// account, from where the one before stopped: nothing is lost for being published before
// it is known who is there.
func TestTheFeedsOfAddressesGoOnWhereTheRunBeforeStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	began := time.Now()
	show := func(f *Feeds, tids ...int64) {
		t.Helper()
		var d hyperliquid.Delivery
		for _, tid := range tids {
			d.Events.Fills = append(d.Events.Fills, fill(tid, began.Add(time.Duration(tid)*time.Millisecond), "BTC"))
		}
		sink := f.Tap(func(context.Context, hyperliquid.Delivery) error { return nil }, true)
		if err := sink(t.Context(), d); err != nil {
			t.Error(err)
		}
	}
	f, stop := w.run()
	w.caughtUp(f)
	w.connect("one", channel.FeedFills)
	must.Do(t, w.table.AddAddresses(t.Context(), w.message("one"), []string{alice}, connections.Limits{}, connections.Reply{Frame: nil}))
	w.eventually("it follows", func() bool { return f.hub.Watched(string(channel.FeedFills) + " " + alice) })
	show(f, 1, 2, 3)
	w.eventually("three are sent", func() bool { return len(w.tids("one")) == 3 })
	w.eventually("that is noted", func() bool { return noted(t, f) == began.Add(3*time.Millisecond).UnixMilli() })
	stop()
	for run := range 3 {
		g, end := w.run()
		show(g, 1, 2, 3, 4+int64(run)) // at once, before anybody is known
		w.eventually("the new one is sent", func() bool { return slices.Contains(w.tids("one"), 4+int64(run)) })
		if run < 2 {
			w.eventually("that is noted", func() bool { return noted(t, g) == began.Add(time.Duration(4+run)*time.Millisecond).UnixMilli() })
		}
		end()
	}
	// 3 is sent again: of the events of the moment that was noted others may be left.
	if got := w.tids("one"); !slices.Equal(got, []int64{1, 2, 3, 3, 4, 5, 6}) {
		t.Errorf("sent %v", got)
	}
}

// noted is up to when fills are noted to be pushed, ms; 0 where nothing is.
func noted(t *testing.T, f *Feeds) int64 {
	t.Helper()
	body, err := f.Series.Checkpoint(t.Context(), positionSource)
	var n positions
	if err != nil || json.Unmarshal(body, &n) != nil {
		return 0
	}
	return n[string(channel.FeedFills)]
}

// Where the table of connections cannot be read, events are stored all the same.
func TestEventsWaitForConnectionsOnlySoLong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := New(Config{Connections: w.table, Gateway: w, Keys: w, Now: w.clock}) // it never runs
	f.waitUntil = time.Now().Add(50 * time.Millisecond)
	stored := 0
	sink := f.Tap(func(context.Context, hyperliquid.Delivery) error { stored++; return nil }, true)
	for range 2 {
		must.Do(t, sink(t.Context(), hyperliquid.Delivery{Events: market.Events{Fills: []market.Fill{fill(1, time.Now(), "BTC")}}}))
	}
	if stored != 2 {
		t.Errorf("%d deliveries are passed on", stored)
	}
}
