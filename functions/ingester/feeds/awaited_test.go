package feeds

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	filldata "quotary/shared/data/fills"
	"quotary/shared/gate/connections"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// What clients of accounts lack while the past is read comes in a snapshot, or is shown again: a
// client that ends before that, with the newest cursor that it was sent, has it when it comes back.
func TestNoCursorIsAheadOfWhatASnapshotIsToShow(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		waits bool // for the past: else the snapshot is incomplete
		again bool // it has come back once more by then
	}{
		"with a new snapshot that waits":         {waits: true},
		"with an incomplete snapshot":            {},
		"that has come back and waits":           {waits: true, again: true},
		"that has come back to what is not read": {again: true},
	} {
		t.Run("a client "+name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.readingPast(time.Hour)()
			f, stop := w.run()
			w.caughtUp(f)
			clients := slices.DeleteFunc(w.recorders(0), func(r *recorder) bool { return r.about.User == "" })
			for _, c := range clients {
				c.begin()
				w.eventually(c.name+" has a snapshot", func() bool { return len(w.frames(c.conn)) == 2 })
			}
			stop()

			most := time.Millisecond
			if test.waits {
				most = time.Hour
			}
			read := w.readingPast(most)
			f, _ = w.run()
			w.caughtUp(f)
			began := time.Now().UnixMilli()
			if test.again {
				for _, c := range clients {
					c.kill()
					c.begin()
				}
			}
			show := func(tid int64) {
				f.publish(&market.Events{Fills: []market.Fill{fill(tid, time.Now(), "BTC")}, Ledgers: []market.Ledger{ledgerUpdate(fmt.Sprintf("0x%02x", tid), time.Now())}})
			}
			if test.waits {
				w.eventually("all wait", func() bool { return waiting(f) == len(clients) })
			} else {
				show(3)
				for i, c := range clients {
					w.eventually(c.name+" has begun all the same", func() bool {
						return strings.Contains(strings.Join(w.frames(c.conn), ""), []string{`"tid":3`, `"0x03"`}[i])
					})
				}
			}
			f.Past(t.Context(), &market.Events{Fills: []market.Fill{fill(1, time.Now().Add(-time.Hour), "BTC")},
				Ledgers: []market.Ledger{ledgerUpdate("0x01", time.Now().Add(-time.Hour))}}, began)
			show(2)
			meter := connections.NewMeter(w.table, connections.Budget{})
			for _, c := range clients {
				must.Do(t, meter.Ping(t.Context(), c.conn, 17))
				w.eventually("a pong", func() bool { return slices.Contains(w.frames(c.conn), `{"channel":"pong"}`) })
				c.kill()
			}
			read()
			for i, c := range clients {
				c.begin()
				has := func(tid int) bool {
					return slices.Contains(c.got, []string{fmt.Sprint(tid), fmt.Sprintf("0x%02x", tid)}[i])
				}
				w.eventually(c.name+" has both", func() bool { c.take(); return has(1) && has(2) })
				before := c.cursor
				w.eventually("pongs have cursors again", func() bool {
					must.Do(t, meter.Ping(t.Context(), c.conn, 17))
					c.take()
					return c.cursor != before
				})
			}
		})
	}
}

// An ingester may end while it shows again what came behind a cursor: the next one shows it once
// more to who stayed, unless that was long before.
func TestWhatMayNotHaveBeenShownAgainIsShownByTheNextRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := time.Now()
	w.set(now)
	w.config = func(c *Config) { c.Venue, c.Idle = nil, 24*time.Hour }
	f, stop := w.run()
	w.caughtUp(f)
	storetest.PutLog(t, f.Log, filldata.Name, filldata.AppendRows, fill(1, now.Add(-time.Hour), "BTC"))
	clients := []*recorder{w.recorders(now.Add(-2 * time.Hour).UnixMilli())[0], w.recorders(now.Add(-2 * time.Hour).UnixMilli())[3]}
	has := func(c *recorder, times int) {
		t.Helper()
		w.eventually(fmt.Sprint(c.name, " has it ", times, " times"), func() bool {
			c.take()
			return slices.Equal(c.got, slices.Repeat([]string{"1"}, times))
		})
	}
	meter := connections.NewMeter(w.table, connections.Budget{})
	replied := func(f *Feeds, c *recorder) {
		t.Helper()
		w.eventually("a reply is noted", func() bool {
			must.Do(t, meter.Ping(t.Context(), c.conn, 17))
			body := must.Get(f.Series.Checkpoint(t.Context(), repliesSource))(t)
			ms, err := strconv.ParseInt(string(body), 10, 64)
			return err == nil && ms >= w.clock().Add(-saveEvery).UnixMilli()
		})
	}
	for _, c := range clients {
		c.begin()
		has(c, 1)
	}
	w.set(now.Add(time.Second))
	replied(f, clients[0])
	stop()

	f, stop = w.run()
	for _, c := range clients {
		has(c, 2)
	}
	w.set(now.Add(6 * time.Minute))
	replied(f, clients[0])
	stop()

	f, _ = w.run()
	w.caughtUp(f)
	for _, c := range clients {
		before := c.cursor
		w.eventually("a cursor", func() bool {
			must.Do(t, meter.Ping(t.Context(), c.conn, 17))
			c.take()
			return c.cursor != before
		})
		has(c, 2)
	}
}
