package feeds

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
	"golang.org/x/sync/errgroup"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/perp"
	"quotary/shared/catalog"
	"quotary/shared/data/arrivals"
	"quotary/shared/data/fills"
	"quotary/shared/data/whales"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/testing/must"
)

// recorder is a client that comes back, with the cursor of the last frame that it got, and what
// it has of the events of one channel.
type recorder struct {
	*world
	name    string
	feed    channel.Feed
	about   channel.Subscription // of /ws
	conn    string
	lives   int
	cursor  string
	since   int64
	got     []string // ids of events, in order
	partial int      // frames that are incomplete
}

func (w *world) recorders(since int64) []*recorder {
	return []*recorder{
		{world: w, name: "fills", feed: channel.FeedFills, since: since},
		{world: w, name: "filled-orders", feed: channel.FeedFilledOrders, since: since},
		{world: w, name: "trades", feed: channel.FeedChannels, about: channel.Subscription{Type: channel.Trades, Coin: "BTC"}, since: since},
		{world: w, name: "userFills", feed: channel.FeedChannels, about: channel.Subscription{Type: channel.UserFills, User: alice}, since: since},
		{world: w, name: "liquidations", feed: channel.FeedChannels, about: channel.Subscription{Type: channel.Liquidations, MinValue: "100"}, since: since},
		{world: w, name: "whales", feed: channel.FeedChannels, about: channel.Subscription{Type: channel.WhaleEvents}, since: since},
		{world: w, name: "ledgers", feed: channel.FeedChannels, about: channel.Subscription{Type: channel.UserNonFundingLedgerUpdates, User: alice}, since: since},
	}
}

// from is where the client goes on.
func (r *recorder) from() channel.Resume {
	if r.cursor != "" {
		return channel.Resume{Cursor: r.cursor}
	}
	return channel.Resume{Since: r.since}
}

func (r *recorder) begin() {
	r.t.Helper()
	r.lives++
	r.conn = fmt.Sprint(r.name, r.lives)
	r.connect(r.conn, r.feed)
	reply := connections.Reply{Frame: []byte(`{"type":"subscribe"}`), From: r.from()}
	if r.feed == channel.FeedChannels {
		must.Get(r.table.Subscribe(r.t.Context(), r.message(r.conn), r.about, connections.Limits{}, reply))(r.t)
		return
	}
	must.Do(r.t, r.table.AddAddresses(r.t.Context(), r.message(r.conn), []string{alice, bob}, connections.Limits{}, reply))
}

// kill ends the client: what it was sent until now it has.
func (r *recorder) kill() {
	r.t.Helper()
	r.take()
	must.Get(r.table.Remove(r.t.Context(), r.conn))(r.t)
}

// take takes what the client was sent since it connected, or since it was looked at.
func (r *recorder) take() {
	r.t.Helper()
	r.mu.Lock()
	frames, cursors := r.inbox[r.conn], r.cursors[r.conn]
	r.inbox[r.conn], r.cursors[r.conn] = nil, nil
	r.mu.Unlock()
	if len(cursors) > 0 {
		r.cursor = cursors[len(cursors)-1]
	}
	for _, frame := range frames {
		if strings.Contains(frame, `"incomplete":true`) {
			r.partial++
		}
		if strings.Contains(frame, `"isSnapshot":true`) {
			continue
		}
		r.got = append(r.got, r.ids(frame)...)
	}
}

// ids are those of the events of a frame.
func (r *recorder) ids(frame string) (ids []string) {
	r.t.Helper()
	type event struct {
		Tid, Oid         int64
		Hash, CreateTime string
	}
	var m struct {
		Type, Channel string
		Data          json.RawMessage
	}
	must.Do(r.t, json.Unmarshal([]byte(frame), &m))
	var list []event
	switch m.Channel {
	case "trades", "liquidations", "whaleEvents":
		must.Do(r.t, json.Unmarshal(m.Data, &list))
	case "userFills":
		var d struct{ Fills []event }
		must.Do(r.t, json.Unmarshal(m.Data, &d))
		list = d.Fills
	case "userNonFundingLedgerUpdates":
		var d struct{ NonFundingLedgerUpdates []event }
		must.Do(r.t, json.Unmarshal(m.Data, &d))
		list = d.NonFundingLedgerUpdates
	default:
		if m.Type == "data" {
			var one event
			must.Do(r.t, json.Unmarshal(m.Data, &one))
			list = []event{one}
		}
	}
	for _, e := range list {
		switch {
		case r.name == "ledgers":
			ids = append(ids, e.Hash)
		case r.name == "whales":
			if e.CreateTime >= catalog.Timestamp(time.UnixMilli(r.since)) { // all that is late is one event
				ids = append(ids, e.CreateTime)
			}
		case r.name == "filled-orders", r.name == "liquidations":
			ids = append(ids, fmt.Sprint(e.Oid-1000))
		default:
			ids = append(ids, fmt.Sprint(e.Tid))
		}
	}
	return ids
}

// late writes a fill of Alice that happened long ago, and its order, behind what was written.
func (n *node) late(tid int64, at time.Time) {
	n.t.Helper()
	now := time.Now()
	n.write("node_fills", now, fmt.Sprintf(`["%s",{"coin":"BTC","px":"100.5","sz":"1.25","side":"B","time":%d,"startPosition":"0.0","dir":"Buy","closedPnl":"0.0","hash":"0x0","oid":%d,"crossed":true,"fee":"0.0","tid":%[4]d,"liquidation":{"liquidatedUser":%[1]q,"markPx":"100.0","method":"market"},"feeToken":"USDC","twapId":null}]`,
		alice, at.UnixMilli(), 1000+tid, tid))
	n.write("node_order_statuses", now, fmt.Sprintf(`{"time":"%s","user":"%s","status":"filled","order":{"coin":"BTC","side":"B","limitPx":"100.5","sz":"0.0","oid":%d,"timestamp":%d,"triggerCondition":"N/A","triggerPx":"0.0","orderType":"Limit","origSz":"1.25","tif":"Gtc"}}`,
		at.UTC().Format("2006-01-02T15:04:05.000000000"), alice, 1000+tid, at.UnixMilli()))
}

func (n *node) ledgerUpdate(id int, at time.Time) {
	n.t.Helper()
	n.write("misc_events", time.Now(), fmt.Sprintf(`{"time":"%s","hash":"0x%02x","inner":{"LedgerUpdate":{"users":["%s"],"delta":{"type":"deposit","usdc":"7.0"}}}}`,
		at.UTC().Format("2006-01-02T15:04:05.000000000"), id, alice))
}

// later is now, in another millisecond than a time before.
func later(before time.Time) time.Time {
	now := time.Now()
	if next := before.Truncate(time.Millisecond).Add(time.Millisecond); now.Before(next) {
		return next
	}
	return now
}

// watched has Alice trade until what whales do is kept: of the past of the first start it is not. Where
// ingesters are to end, a next one must go on from a checkpoint, and not begin once more.
func (w *world) watched(restarts bool, trade func()) {
	w.t.Helper()
	events, series := whales.EventsOnly.Open(w.views(), time.Now), store.NewSeries(w.db, w.prefix+schema.SeriesTable)
	traded := time.Time{}
	w.eventually("it is kept what whales do", func() bool {
		if time.Since(traded) > 2*time.Second {
			trade()
			traded = time.Now()
		}
		newest, err := events.Get(w.t.Context())
		at, none := series.Checkpoint(w.t.Context(), engine.Checkpoint(perp.Name, "node_fills", ""))
		return err == nil && len(newest.Coins()) > 0 && (!restarts || none == nil && at != nil)
	})
}

// TestAClientThatComesBackHasEachEventOnce kills clients at random while the venue trades, also
// with what is late by half an hour, and lets them come back with their last cursor. Where the
// ingester ends too, and all clients with it, events of its last moments may come twice, and none
// is missing.
func TestAClientThatComesBackHasEachEventOnce(t *testing.T) {
	t.Parallel()
	for name, restarts := range map[string]bool{"with one ingester": false, "with ingesters that end": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			n := &node{t, t.TempDir()}
			began := time.Now().Add(-time.Second)
			var truth, moves, hashes []string
			at := began
			trade := func(late bool) {
				tid := len(truth) + 1
				if truth = append(truth, fmt.Sprint(tid)); late {
					n.late(int64(tid), began.Add(-30*time.Minute))
				} else {
					at = later(at)
					n.trade(int64(tid), at)
					moves = append(moves, catalog.Timestamp(at))
				}
				if tid%3 == 0 {
					at := time.Now()
					if late {
						at = began.Add(-30 * time.Minute)
					}
					n.ledgerUpdate(len(hashes)+1, at)
					hashes = append(hashes, fmt.Sprintf("0x%02x", len(hashes)+1))
				}
			}
			trade(false)
			stop := w.ingest(n)
			w.watched(restarts, func() { trade(false) })
			moves, at = nil, later(at)
			clients := w.recorders(began.Add(-45 * time.Minute).UnixMilli())
			for _, c := range clients {
				if c.name == "whales" {
					c.since = at.UnixMilli()
				}
				c.begin()
			}
			random := rand.New(rand.NewPCG(1, 2))
			for round := range 40 {
				for range 1 + random.IntN(4) {
					trade(random.IntN(4) == 0)
				}
				c := clients[random.IntN(len(clients))]
				if random.IntN(2) == 0 { // else it is killed before it was sent anything more, or while it is
					w.eventually("frames", func() bool { return len(w.frames(c.conn)) > 0 })
				}
				c.kill()
				if !restarts || round%15 != 7 {
					c.begin()
					continue
				}
				for _, other := range clients {
					if other != c {
						other.kill()
					}
				}
				stop()
				trade(true)
				stop = w.ingest(n)
				for _, one := range clients {
					one.begin()
				}
			}
			trade(false)
			for _, c := range clients {
				want := truth
				switch c.name {
				case "ledgers":
					want = hashes
				case "whales":
					want = moves
				}
				var missing []string
				t.Cleanup(func() {
					if len(missing) > 0 {
						t.Errorf("%s misses %v of %d, and has %v", c.name, missing, len(want), c.got)
					}
				})
				w.eventually(c.name+" has all", func() bool {
					c.take()
					missing = slices.DeleteFunc(slices.Clone(want), func(id string) bool { return slices.Contains(c.got, id) })
					return len(missing) == 0
				})
				twice := len(c.got) - len(want)
				if !restarts && twice != 0 {
					t.Errorf("%s: %d events come again: %v", c.name, twice, c.got)
				}
				if c.partial > 0 && !restarts {
					t.Errorf("%s: %d frames are incomplete", c.name, c.partial)
				}
			}
		})
	}
}

// TestAQuietSubscriptionIsResumedFromWhatItWasTold ends clients that have seen no event, with the
// cursor of a reply, of a snapshot or of a pong.
func TestAQuietSubscriptionIsResumedFromWhatItWasTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n := &node{t, t.TempDir()}
	began := time.Now()
	n.trade(1, began.Add(-time.Second))
	n.ledgerUpdate(1, began.Add(-time.Second))
	w.ingest(n)
	w.watched(false, func() { n.trade(1, time.Now()) })
	for _, c := range w.recorders(began.Add(-time.Minute).UnixMilli()) {
		c.lives = 100 // whose names are not those of the others
		c.begin()
		w.eventually(c.name+" have come", func() bool { c.take(); return len(c.got) > 0 })
	}
	meter := connections.NewMeter(w.table, connections.Budget{})
	clients := w.recorders(0)
	for _, c := range clients {
		c.begin()
		w.eventually("the past is known", func() bool { c.take(); return c.cursor != "" })
		if c.name == "fills" {
			must.Do(t, meter.Ping(t.Context(), c.conn, 17))
			before := c.cursor
			w.eventually("a pong", func() bool { c.take(); return c.cursor != before })
		}
		c.kill()
		c.got = nil
	}
	second := time.Now()
	n.trade(2, second)
	n.ledgerUpdate(2, second)
	for _, c := range clients {
		c.begin()
		w.eventually(c.name+" has what came meanwhile", func() bool { c.take(); return len(c.got) > 0 })
		want := "2"
		switch c.name {
		case "ledgers":
			want = "0x02"
		case "whales":
			want = catalog.Timestamp(second)
		}
		if !slices.Equal(c.got, []string{want}) || c.partial != 0 {
			t.Errorf("%s: got %v, with %d frames that are incomplete", c.name, c.got, c.partial)
		}
	}
}

// TestClientsThatComeBackTogetherShareWhatIsRead lets a thousand resume the trades of one coin
// after an ingester has ended.
func TestClientsThatComeBackTogetherShareWhatIsRead(t *testing.T) {
	t.Parallel()
	const clients, traded = 1000, 300
	w := newWorld(t)
	n := &node{t, t.TempDir()}
	began := time.Now()
	n.trade(1, began)
	stop := w.ingest(n)
	first := w.recorders(began.Add(-time.Minute).UnixMilli())[2]
	first.begin()
	w.eventually("the first trade", func() bool { first.take(); return len(first.got) == 1 })
	for tid := int64(2); tid <= traded; tid++ {
		n.trade(tid, began.Add(time.Duration(tid)*time.Millisecond))
	}
	w.eventually("all trades", func() bool { first.take(); return len(first.got) == traded })
	stop()

	all := make([]*recorder, clients)
	for i := range all {
		one := *first
		one.conn, one.got, one.cursor = fmt.Sprint("client", i), nil, ""
		all[i] = &one
	}
	var group errgroup.Group
	group.SetLimit(8)
	for _, c := range all {
		group.Go(func() error {
			ctx := t.Context()
			message := c.message(c.conn)
			err := c.table.Connect(ctx, connections.Connection{ID: c.conn, Key: "key", Distributor: "acme", Feed: c.feed, Endpoint: "http://127.0.0.1/api"}, connections.Limits{})
			if err == nil {
				_, err = c.table.Subscribe(ctx, message, c.about, connections.Limits{}, connections.Reply{Frame: []byte(`{}`), From: c.from()})
			}
			return err
		})
	}
	must.Do(t, group.Wait())
	var queries atomic.Int64
	options := w.db.Options()
	options.APIOptions = append(slices.Clone(options.APIOptions), func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("count", func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
			if q, ok := in.Parameters.(*dynamodb.QueryInput); ok && strings.Contains(fmt.Sprint(q.ExpressionAttributeValues[":p"].(*types.AttributeValueMemberS).Value), "klines#BTC#1s") {
				queries.Add(1)
			}
			return next.HandleInitialize(ctx, in)
		}), middleware.Before)
	})
	w.db = dynamodb.New(options)
	w.ingest(n)
	for _, c := range all {
		w.eventually(c.conn+" has all", func() bool { c.take(); return len(c.got) >= traded })
		if len(c.got) != traded || c.partial > 0 {
			t.Fatalf("%s: %d trades of %d, %d frames that are incomplete", c.conn, len(c.got), traded, c.partial)
		}
	}
	if got := queries.Load(); got > 10 {
		t.Errorf("the trades were read %d times for %d clients", got, clients)
	}
}

// TestACursorThatIsTooOldIsSaidToBeIncomplete has nothing to show behind it.
func TestASubscriptionBehindACursorThatIsTooOldIsIncomplete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n := &node{t, t.TempDir()}
	n.trade(1, time.Now())
	w.ingest(n)
	old := market.CursorAt("", market.ArrivalAt(time.Now().Add(-48*time.Hour)))
	for _, c := range w.recorders(0) {
		c.cursor = old.Text()
		c.begin()
		w.eventually(c.name+" is told", func() bool { c.take(); return c.partial == 1 })
	}
}

// countedReads counts how often something is read to be shown again.
type countedReads struct {
	replayer
	reads atomic.Int64
}

func (c *countedReads) replayed(ctx context.Context, about string, from time.Time) iter.Seq2[replayed, error] {
	c.reads.Add(1)
	return c.replayer.replayed(ctx, about, from)
}

// Whoever subscribes and unsubscribes all the time has nothing read of what has ended.
func TestWhatHasEndedIsNotRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	w.connect("one", channel.FeedChannels)
	w.eventually("the client", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.clients["one"] != nil
	})
	const times = 500
	counted := &countedReads{replayer: f.publishers[string(channel.UserFills)].(replayer)}
	var looked atomic.Int64
	f.mu.Lock()
	for n := range times {
		r := newReplay(string(channel.UserFills), f.publishers[string(channel.UserFills)], channel.Resume{Since: 1}, []string{alice})
		r.replayer = counted
		f.resume(t.Context(), f.clients["one"], r, nil, nil, func(*client) []string {
			if looked.Add(1); n == times-1 {
				return []string{"the last"}
			}
			return nil
		})
	}
	f.mu.Unlock()
	w.eventually("all turns", func() bool {
		f.resumes.mu.Lock()
		defer f.resumes.mu.Unlock()
		return looked.Load() > times && f.resumes.under == 0
	})
	if n := counted.reads.Load(); n != 1 {
		t.Errorf("%d reads, want one", n)
	}
}

// Of many addresses no more is read than is shown, and a little of each.
func TestWhatIsNotShownIsNotRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	const addresses, each = 200, 1000
	now := f.Now()
	busy := &busyAccounts{replayer: f.publishers[string(channel.FeedFills)].(replayer), newest: now.UnixMilli(), each: each}
	names := make([]string, addresses)
	for i := range names {
		names[i] = fmt.Sprint("address ", i)
	}
	r := newReplay(string(channel.FeedFills), busy.replayer, channel.Resume{Since: now.Add(-time.Hour).UnixMilli()}, names)
	r.replayer = busy
	must.Do(t, r.read(t.Context(), f))
	if len(r.events) != addressReplayMost || !r.incomplete || r.events[0].ms < busy.newest-2*addressReplayMost/addresses*1000 {
		t.Errorf("%d events from %d on, incomplete %t", len(r.events), r.events[0].ms-busy.newest, r.incomplete)
	}
	if n := busy.read.Load(); n > addresses*each/4 {
		t.Errorf("%d events were read, of %d", n, addresses*each)
	}
}

// A cursor that a client has made up may have all of a day looked through for what is late.
func TestWhatIsLookedThroughForWhatIsLateIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	now := f.Now()
	long := now.Add(-23 * time.Hour)
	notes := arrivals.Late{Series: f.Series}
	must.Do(t, notes.Add(t.Context(), fills.Name, market.ArrivalAt(now.Add(-time.Hour))|1, long.UnixMilli()))
	cursor := market.CursorBetween("", market.ArrivalAt(now), market.ArrivalAt(long))
	for name, addresses := range map[string]int{string(channel.UserFills): 1, string(channel.FeedFills): 100} {
		busy := &busyAccounts{replayer: f.publishers[name].(replayer), newest: now.Add(-time.Minute).UnixMilli(), each: 50_000}
		names := make([]string, addresses)
		for i := range names {
			names[i] = fmt.Sprint("address ", i)
		}
		r := newReplay(name, busy.replayer, channel.Resume{Cursor: cursor.Text()}, names)
		r.replayer = busy
		must.Do(t, r.read(t.Context(), f))
		if n := busy.read.Load(); n > replayPassed+int64(addresses) || len(r.events) > 0 || !r.incomplete {
			t.Errorf("%s: %d events were read, %d are shown, incomplete %t", name, n, len(r.events), r.incomplete)
		}
	}
}

// busyAccounts have an event a second each.
type busyAccounts struct {
	replayer
	newest int64 // ms
	each   int
	read   atomic.Int64
}

func (b *busyAccounts) replayed(_ context.Context, about string, _ time.Time) iter.Seq2[replayed, error] {
	return func(yield func(replayed, error) bool) {
		for i := range b.each {
			ms := b.newest - int64(i)*1000
			if b.read.Add(1); !yield(replayed{about: about, key: fmt.Sprint(about, ms), ms: ms}, nil) {
				return
			}
		}
	}
}
