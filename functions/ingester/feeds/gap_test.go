package feeds

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/lease"
	"quotary/functions/ingester/perp"
	"quotary/shared/data/contexts"
	"quotary/shared/data/meta"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// node is the folder that a node writes to, a line an event.
type node struct {
	t   *testing.T
	dir string
}

func (n *node) write(stream string, at time.Time, line string) {
	n.t.Helper()
	at = at.UTC()
	path := filepath.Join(n.dir, stream, "hourly", at.Format("20060102"), fmt.Sprint(at.Hour()))
	must.Do(n.t, os.MkdirAll(filepath.Dir(path), 0o700))
	file := must.Get(os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))(n.t)
	defer file.Close()
	must.Get(file.WriteString(line + "\n"))(n.t)
}

// trade writes a fill of Alice, by which she was liquidated, and the order that it filled.
func (n *node) trade(tid int64, at time.Time) {
	n.t.Helper()
	n.write("node_fills", at, fmt.Sprintf(`["%s",{"coin":"BTC","px":"100.5","sz":"1.25","side":"B","time":%d,"startPosition":"0.0","dir":"Buy","closedPnl":"0.0","hash":"0x0","oid":%d,"crossed":true,"fee":"0.0","tid":%[4]d,"liquidation":{"liquidatedUser":%[1]q,"markPx":"100.0","method":"market"},"feeToken":"USDC","twapId":null}]`,
		alice, at.UnixMilli(), 1000+tid, tid))
	n.write("node_order_statuses", at, fmt.Sprintf(`{"time":"%s","user":"%s","status":"filled","order":{"coin":"BTC","side":"B","limitPx":"100.5","sz":"0.0","oid":%d,"timestamp":%d,"triggerCondition":"N/A","triggerPx":"0.0","orderType":"Limit","origSz":"1.25","tif":"Gtc"}}`,
		at.UTC().Format("2006-01-02T15:04:05.000000000"), alice, 1000+tid, at.UnixMilli()))
}

// views are those of the ingesters of the world, with what the venue says of BTC: at its price Alice
// is a whale.
func (w *world) views() *store.Views {
	w.t.Helper()
	if w.objects != nil {
		return store.NewViews(w.objects, w.bucket)
	}
	w.objects, w.bucket = storetest.S3(w.t)
	views := store.NewViews(w.objects, w.bucket)
	storetest.Publish(w.t, views, meta.Published, meta.View{
		Time:  1,
		Perps: map[string]json.RawMessage{"": json.RawMessage(`{"universe":[{"szDecimals":5,"name":"BTC","maxLeverage":40,"marginTableId":56}],"marginTables":[],"collateralToken":0}`)},
		Spot:  json.RawMessage(`{"universe":[],"tokens":[{"name":"USDC","index":0}]}`),
	})
	storetest.Publish(w.t, views, contexts.Published, contexts.View{Time: 1, Marks: map[string]string{"BTC": "1000000.0"}})
	return views
}

// ingest runs the domain on a node's files, with feeds, until the returned function is
// called.
func (w *world) ingest(n *node) (stop func()) {
	w.t.Helper()
	views := w.views()
	quiet := slog.New(slog.DiscardHandler)
	config := perp.Config{
		NodeDir: n.dir, NodeBehind: time.Hour,
		Feeds: func(_ context.Context, stores engine.Stores, _ *lease.Term, pastRead <-chan struct{}) (*perp.Feeds, error) {
			f := New(Config{
				Connections: w.table, Follower: connections.NewFollower(w.table, w.db, w.streams), Gateway: w, Keys: w,
				Log: stores.Log, Series: stores.Series, PastRead: pastRead, PastMost: time.Hour, Logger: quiet, Now: w.clock, Idle: 24 * time.Hour,
			})
			return &perp.Feeds{Tap: f.Tap, Past: f.Past, Applied: func(e *market.Events, folded *perp.Folded) { f.Applied(e, folded) }, Run: f.Run,
				Figures: func() []engine.Figure { return nil }}, nil
		},
	}
	domain := config.Domain(engine.Host{Logger: quiet, Stores: engine.Stores{
		Log: store.NewLog(w.db, w.prefix+schema.LogTable), Series: store.NewSeries(w.db, w.prefix+schema.SeriesTable),
		Views: views, Quarantine: engine.Quarantine{Objects: w.objects, Bucket: w.bucket},
	}})
	begin := domain.Begin
	domain.Begin = func(ctx context.Context, term *lease.Term) (engine.Work, error) {
		work, err := begin(ctx, term)
		if p, ok := work.(*engine.Pipeline[*perp.Batch]); ok {
			p.StopWithin = 5 * time.Minute // on a busy machine
		}
		return work, err
	}
	runner := &engine.Runner{Domain: domain, Logger: quiet,
		Lease: &lease.Lease{DB: w.db, Table: w.prefix + schema.SeriesTable, Name: engine.LeaseName(domain.Name), Owner: "one", Timing: lease.Standard, Log: quiet, Rank: domain.Rank}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Errorf("the ingester ended with %v", err)
		}
	})
	w.t.Cleanup(stop)
	return stop
}

// oids are the orders that a client of an address feed was sent, as the ids of their
// trades, in order.
func (w *world) oids(id string) (tids []int64) {
	w.t.Helper()
	for _, frame := range w.frames(id) {
		var m struct {
			Type string
			Data struct{ Oid int64 }
		}
		must.Do(w.t, json.Unmarshal([]byte(frame), &m))
		if m.Type == "data" {
			tids = append(tids, m.Data.Oid-1000)
		}
	}
	return tids
}

func (w *world) follow(id string, of channel.Feed) {
	w.t.Helper()
	w.connect(id, of)
	must.Do(w.t, w.table.AddAddresses(w.t.Context(), w.message(id), []string{alice}, connections.Limits{}, connections.Reply{Frame: []byte(`{"type":"subscribe"}`)}))
}

// TestWhatHappenedInALongOutageReachesWhoStayedConnected stops the ingester for half an
// hour, of which it reads the events beside what happens then.
func TestWhatHappenedInALongOutageReachesWhoStayedConnected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n := &node{t, t.TempDir()}
	began := time.Now().Add(-2 * time.Hour).Truncate(time.Second)
	w.set(began)
	w.follow("fills", channel.FeedFills)
	w.follow("orders", channel.FeedFilledOrders)
	n.trade(1, began.Add(time.Second))
	stop := w.ingest(n)
	w.eventually("the first is sent", func() bool { return len(w.oids("fills")) == 1 && len(w.oids("orders")) == 1 })
	stop()

	// Half an hour without an ingester.
	for tid := int64(2); tid <= 91; tid++ {
		n.trade(tid, began.Add(time.Duration(tid)*20*time.Second))
	}
	w.set(began.Add(32 * time.Minute))
	w.follow("later", channel.FeedFills)
	w.ingest(n)
	n.trade(92, began.Add(32*time.Minute))
	n.trade(93, began.Add(32*time.Minute+time.Second))
	for _, id := range []string{"fills", "orders"} {
		w.eventually("all are sent", func() bool { return len(w.oids(id)) >= 93 })
		got := w.oids(id)
		missed := slices.DeleteFunc(slices.Clone(got), func(tid int64) bool { return tid > 91 })
		if !slices.IsSorted(missed) {
			t.Errorf("%s: what was missed is not in the order of its time: %v", id, missed)
		}
		slices.Sort(got)
		// The first was sent right before the ingester stopped: such events may come again.
		if len(got) > 1 && got[1] == 1 {
			got = got[1:]
		}
		if len(got) != 93 || len(slices.Compact(got)) != 93 {
			t.Errorf("%s: %d of 93 are sent: %v", id, len(got), got)
		}
	}
	w.eventually("who came later is sent what happens now", func() bool { return slices.Contains(w.oids("later"), 93) })
	if got := w.oids("later"); !slices.Equal(got, []int64{92, 93}) {
		t.Errorf("who connected after the outage is sent %v", got)
	}
}

// TestALedgerUpdateOfANodeIsPublishedAndStored has no venue to ask for snapshots.
func TestALedgerUpdateOfANodeIsPublishedAndStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n := &node{t, t.TempDir()}
	update := func(at time.Time, hash string) {
		n.write("misc_events", at, fmt.Sprintf(`{"time":"%s","hash":"%s","inner":{"LedgerUpdate":{"users":["%s"],"delta":{"type":"deposit","usdc":"7.0"}}}}`,
			at.UTC().Format("2006-01-02T15:04:05.000000000"), hash, alice))
	}
	now := time.Now()
	update(now.Add(-time.Hour), "0x01")
	stop := w.ingest(n)
	w.connect("one", channel.FeedChannels)
	w.subscribe("one", ofAlice[1])
	wants(t, w.sent("one", 2)[1], `"data":{"isSnapshot":true,"user":"`+alice+`","nonFundingLedgerUpdates":[{"time":`, `"hash":"0x01"`, `]}}`)
	update(now, "0x02")
	wants(t, w.sent("one", 3)[2], `"data":{"user":"`+alice+`","nonFundingLedgerUpdates":[{"time":`, `"hash":"0x02"`, `]}}`)
	stop()
	w.ingest(n)
	last := func() string { all := w.frames("one"); return all[len(all)-1] }
	w.eventually("a new snapshot", func() bool {
		return strings.Contains(last(), `"isSnapshot":true,"user"`) && strings.Contains(last(), `"hash":"0x02"`)
	})
	update(now.Add(time.Second), "0x03")
	w.eventually("the next update", func() bool {
		return strings.Contains(last(), `"data":{"user"`) && strings.Contains(last(), `"hash":"0x03"`)
	})
}

// TestWhatWasMissedGoesOnBehindACrash ends feeds while what was missed is being read.
func TestWhatWasMissedGoesOnBehindACrash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := time.Now()
	began := now.Add(-time.Hour)
	w.set(began)
	w.follow("one", channel.FeedFills)
	w.set(time.Time{})
	read := make(chan struct{})
	pending := func(c *Config) { c.Idle, c.PastRead = 24*time.Hour, read }
	missed := func(tids ...int64) *market.Events {
		var e market.Events
		for _, tid := range tids {
			e.Fills = append(e.Fills, fill(tid, began.Add(time.Duration(tid)*time.Minute), "BTC"))
		}
		return &e
	}
	until := now.UnixMilli()
	saved := func(f *Feeds, name string) int64 {
		body, err := f.Series.Checkpoint(t.Context(), positionSource)
		var p positions
		if err != nil || json.Unmarshal(body, &p) != nil {
			return 0
		}
		return p[name]
	}
	feed := string(channel.FeedFills)

	w.config = pending
	f, stop := w.run()
	w.caughtUp(f)
	f.publish(&market.Events{Fills: []market.Fill{fill(50, now, "BTC")}}) // while what was missed waits
	f.Past(t.Context(), missed(1, 2), until)
	w.eventually("both are noted", func() bool {
		return saved(f, feed) == now.UnixMilli() && saved(f, missedOf(feed)) == began.Add(2*time.Minute).UnixMilli()
	})
	w.eventually("three are sent", func() bool { return len(w.tids("one")) == 3 })
	stop()

	g, _ := w.run()
	w.caughtUp(g)
	g.Past(t.Context(), missed(1, 2, 3, 4), until)
	g.Past(t.Context(), missed(45, 59), began.Add(40*time.Minute).UnixMilli()) // which the other source has too
	w.eventually("the rest is sent", func() bool { return slices.Contains(w.tids("one"), 4) })
	close(read)
	g.publish(&market.Events{Fills: []market.Fill{fill(51, now.Add(time.Second), "BTC")}})
	w.eventually("nothing is left to be noted", func() bool {
		return slices.Contains(w.tids("one"), 51) && saved(g, feed) > now.UnixMilli() && saved(g, missedOf(feed)) == 0
	})
	got := w.tids("one")
	slices.Sort(got)
	// 2 is sent again: of the events of the moment that was noted others may be left. 59, which
	// is not late, was published by the earlier run, by its time.
	if !slices.Equal(got, []int64{1, 2, 2, 3, 4, 45, 50, 51}) {
		t.Errorf("sent %v", got)
	}
}

// TestLateEventsReachWhoWasConnectedThen has a source that lags by more than what counts
// as now, as a node that stood still.
func TestLateEventsReachWhoWasConnectedThen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := time.Now()
	then := now.Add(-2 * freshFor)
	w.config = func(c *Config) { c.Idle = 24 * time.Hour }
	w.set(then.Add(-time.Minute))
	w.follow("fills", channel.FeedFills)
	w.follow("orders", channel.FeedFilledOrders)
	w.connect("channels", channel.FeedChannels)
	w.set(now)
	w.follow("later", channel.FeedFills)
	f, _ := w.run()
	w.caughtUp(f)
	w.subscribe("channels", ofAlice[0])
	w.subscribe("channels", channel.Subscription{Type: channel.Trades, Coin: "BTC"})
	w.sent("channels", 4) // two replies, and what there is of each
	late, order := fill(1, then, "BTC"), market.OrderStatus{Address: alice, Time: then.UnixMilli(), Status: "filled", Coin: "BTC", Oid: 1001}
	for range 2 { // two streams
		f.publish(&market.Events{Fills: []market.Fill{late, fill(2, now, "BTC")}, Orders: []market.OrderStatus{order}})
	}
	w.eventually("both are sent", func() bool {
		return len(w.oids("fills")) == 2 && len(w.oids("orders")) == 1 && len(w.oids("later")) == 1
	})
	// On /ws the account's fills have both, the trades what happens now.
	fills, trades := 0, 0
	w.eventually("the channels have theirs", func() bool {
		fills, trades = 0, 0
		for _, frame := range w.frames("channels")[4:] {
			if strings.Contains(frame, `"channel":"trades"`) {
				trades += strings.Count(frame, `"tid"`)
			} else {
				fills += strings.Count(frame, `"tid"`)
			}
		}
		return fills >= 2 && trades >= 1
	})
	if fills != 2 || trades != 1 {
		t.Errorf("%d fills and %d trades, want 2 and 1", fills, trades)
	}
	if got := w.oids("fills"); !slices.Equal(got, []int64{1, 2}) && !slices.Equal(got, []int64{2, 1}) {
		t.Errorf("sent %v", got)
	}
	w.connect("next", channel.FeedChannels)
	w.subscribe("next", ofAlice[0])
	wants(t, w.sent("next", 2)[1], `"tid":2`, `"tid":1`)
}
