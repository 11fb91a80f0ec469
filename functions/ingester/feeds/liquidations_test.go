package feeds

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/data/datatest"
	liquidated "quotary/shared/data/liquidations"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/keys"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/testing/must"
)

// liquidation is a fill by which a long was liquidated.
func liquidation(address, coin string, oid, tid, ms int64, sz, start string) market.Fill {
	return market.Fill{
		Address: address, Coin: coin, Px: "100.5", Sz: sz, Side: market.Sell, Time: ms, StartPosition: start, Dir: "Close Long", ClosedPnl: "-1.5",
		Hash: "0x0", Oid: oid, Crossed: true, Fee: "0.1", Tid: tid, FeeToken: "USDC",
		Liquidation: &market.Liquidation{LiquidatedUser: address, MarkPx: "100.0", Method: "market"},
	}
}

func row(address, coin string, oid, ms int64, val, pnl, start, end, sz string) string {
	return fmt.Sprintf(`{"time":%d,"address":%q,"coin":%q,"direction":"long","oid":%d,"liqPrice":"100.5","liquidatedVal":%q,"pnl":%q,"startPosition":%q,"endPosition":%q,"sz":%q,"markPx":"100.0","method":"market"}`,
		ms, address, coin, oid, val, pnl, start, end, sz)
}

func TestLiquidationsStartWithTheLastAndAreShownOnceAnOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	now := w.clock().UnixMilli()
	stored := liquidation(bob, "ETH", 1, 1, now-60_000, "2.0", "3.0")
	datatest.PutLiquidations(t, f.Series, stored)
	w.connect("one", channel.FeedChannels)
	w.subscribe("one", channel.Subscription{Type: channel.Liquidations})
	w.sent("one", 2)
	w.subscribe("one", channel.Subscription{Type: channel.Liquidations, Coin: "BTC"})
	w.sent("one", 4)
	w.subscribe("one", channel.Subscription{Type: channel.Liquidations, MinValue: "150"})
	w.sent("one", 6)
	// An order of Alice that meets two, one of Bob in another coin, and the other side of each.
	first, second, small := liquidation(alice, "BTC", 7, 10, now, "1.0", "4.0"), liquidation(alice, "BTC", 7, 11, now, "2.0", "3.0"), liquidation(bob, "xyz:GOLD", 8, 12, now, "0.5", "0.5")
	events := market.Events{Fills: []market.Fill{first, second, small}}
	for _, mine := range events.Fills {
		mine.Address, mine.Side, mine.Crossed, mine.Oid = "0xc000000000000000000000000000000000000003", market.Buy, false, mine.Oid+100
		events.Fills = append(events.Fills, mine)
	}
	for range 2 { // as two sources do
		f.publish(&events)
	}
	old, whole, gold := row(bob, "ETH", 1, now-60_000, "201.0", "-1.5", "3.0", "1.0", "2.0"), row(alice, "BTC", 7, now, "301.5", "-3.0", "4.0", "1.0", "3.0"), row(bob, "xyz:GOLD", 8, now, "50.25", "-1.5", "0.5", "0.0", "0.5")
	got := w.sent("one", 9)
	wants(t, strings.Join(got[:6], "\n"),
		`{"reply":{"of":"liquidations","activeCount":1}}`, `{"channel":"liquidations","data":[`+old+`],"isSnapshot":true}`,
		`{"reply":{"of":"liquidations","activeCount":2}}`, `{"channel":"liquidations","data":[],"isSnapshot":true}`,
		`{"reply":{"of":"liquidations","activeCount":3}}`, `{"channel":"liquidations","data":[`+old+`],"isSnapshot":true}`)
	all := strings.Join(got[6:], "\n")
	for frame, times := range map[string]int{
		`{"channel":"liquidations","data":[` + whole + `,` + gold + `]}`: 1, // all
		`{"channel":"liquidations","data":[` + whole + `]}`:              2, // of BTC, and of 150 dollars
	} {
		if n := strings.Count(all, frame); n != times {
			t.Errorf("%d times %s in\n%s", n, frame, all)
		}
	}
	if len(w.frames("one")) != 9 {
		t.Errorf("more frames: %v", w.frames("one")[9:])
	}
	w.connect("two", channel.FeedChannels)
	w.subscribe("two", channel.Subscription{Type: channel.Liquidations})
	wants(t, strings.Join(w.sent("two", 2), "\n"), `{"reply":{"of":"liquidations","activeCount":1}}`, `{"channel":"liquidations","data":[`+old+`,`+whole+`,`+gold+`],"isSnapshot":true}`)
}

// Who follows what nobody else does is no reason to keep it.
func TestFiltersThatNobodyFollowsAreForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	ls := f.publishers[string(channel.Liquidations)].(*liquidations)
	w.connect("one", channel.FeedChannels)
	w.subscribe("one", channel.Subscription{Type: channel.Liquidations, Coin: "BTC"})
	w.sent("one", 2)
	for i := range 100 {
		ls.topic(fmt.Sprint("=", i+1))
	}
	ls.prune()
	ls.prune()
	ls.filtersMu.Lock()
	defer ls.filtersMu.Unlock()
	if len(ls.filters) != 1 || ls.filters["BTC"] == nil {
		t.Errorf("%d filters", len(ls.filters))
	}
}

// Whoever wants what is worth 1,001 dollars is shown the same as who wants 1,002, where nothing is
// worth that: both get one frame, which is made once.
func TestFiltersThatShowTheSameShareOneFrame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	ls := f.publishers[string(channel.Liquidations)].(*liquidations)
	w.connect("one", channel.FeedChannels)
	var events []market.LiquidationEvent
	for i, sz := range []string{"3.0", "1.0", "2.0", "2.0"} {
		fill := liquidation(alice, []string{"BTC", "ETH"}[i%2], int64(i), int64(i), w.clock().UnixMilli(), sz, "9.0")
		e, _ := market.LiquidationOf(&fill)
		events = append(events, e)
	}
	const most = 60
	for least := range most {
		for _, coin := range []string{"", "BTC", "SOL"} {
			w.subscribe("one", channel.Subscription{Type: channel.Liquidations, Coin: coin, MinValue: fmt.Sprint(1 + least*6)})
		}
	}
	w.sent("one", 2*3*most)
	frames, sent := map[*byte]bool{}, 0
	ls.publish(events, func(topic string, frame []byte, last *market.LiquidationEvent) {
		about := strings.TrimPrefix(topic, ls.topicName(""))
		var bodies [][]byte
		var want *market.LiquidationEvent
		for i := range events {
			if e := &events[i]; ls.filters[about].shows(e) {
				bodies, want = append(bodies, e.AppendJSON(nil)), e
			}
		}
		if string(frame) != string(liquidationsFrame(bodies)) || last != want {
			t.Errorf("%s is shown %s", about, frame)
		}
		frames[&frame[0]] = true
		sent++
	})
	// Of 301.5, 201.0 twice and 100.5 dollars in all coins, and of the first of 201.0 in BTC.
	if len(frames) != 5 || sent != 51+51 {
		t.Errorf("%d frames were made for %d topics", len(frames), sent)
	}
}

// counted is a gateway that counts.
type counted struct{ posts atomic.Int64 }

func (c *counted) Post(context.Context, hub.Conn, []byte) error { c.posts.Add(1); return nil }

// BenchmarkLiquidations measures a liquidation from its fills to 10,000 subscribers, who follow all,
// one of ten coins, or one of some least values, and of a block of twenty of many values to who
// wants any and to who all want another; for comparison a trade to those of its coin: one operation is
// one frame to one of them.
func BenchmarkLiquidations(b *testing.B) {
	const subscribers = 10_000
	for _, bench := range []struct {
		name  string
		share int // of the subscribers that an event is shown to, one in so many
		block int // events of a block
		of    func(i int) channel.Subscription
	}{
		{"all", 1, 1, func(int) channel.Subscription { return channel.Subscription{Type: channel.Liquidations} }},
		{"by coin", 10, 1, func(i int) channel.Subscription {
			return channel.Subscription{Type: channel.Liquidations, Coin: fmt.Sprint("COIN", i%10)}
		}},
		{"by value", 1, 1, func(i int) channel.Subscription {
			return channel.Subscription{Type: channel.Liquidations, MinValue: fmt.Sprint(1 + i%100)}
		}},
		{"by a value of each", 1, 1, func(i int) channel.Subscription {
			return channel.Subscription{Type: channel.Liquidations, MinValue: fmt.Sprint(1 + i)}
		}},
		{"blocks by one value", 1, 20, func(int) channel.Subscription {
			return channel.Subscription{Type: channel.Liquidations, MinValue: "1"}
		}},
		{"blocks by a value of each", 1, 20, func(i int) channel.Subscription {
			return channel.Subscription{Type: channel.Liquidations, MinValue: fmt.Sprint(1 + i)}
		}},
		{"trades of a coin", 10, 1, func(i int) channel.Subscription {
			return channel.Subscription{Type: channel.Trades, Coin: fmt.Sprint("COIN", i%10)}
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			gateway := &counted{}
			h := hub.New(hub.Config{Sink: gateway, Topic: func(string) hub.Topic { return hub.Topic{} }, Cursor: cursorText})
			name := string(bench.of(0).Type)
			shared := base{Config: &Config{Now: time.Now}, name: name, hub: h, arriving: &arriving{now: time.Now}}
			p := publishers[name](shared)
			for i := range subscribers {
				id, s := fmt.Sprint("conn", i), bench.of(i)
				h.Connect(hub.Conn{ID: id})
				p.topic(p.about(&s)) // which the hub would ask for
				must.Do(b, h.Subscribe(id, shared.topicName(p.about(&s)), nil))
			}
			ctx, stop := context.WithCancel(context.Background())
			var running sync.WaitGroup
			running.Go(func() { h.Run(ctx) })
			b.Cleanup(func() { stop(); running.Wait() })
			b.ReportAllocs()
			b.ResetTimer()
			sent := int64(0)
			for oid := int64(1); sent < int64(b.N); {
				var e market.Events
				for n := range bench.block { // the first is worth 10,050 dollars, the last 502.50
					e.Fills = append(e.Fills, liquidation(alice, fmt.Sprint("COIN", oid%10), oid, oid, time.Now().UnixMilli(), fmt.Sprint(100-5*n), "4000.0"))
					oid++
				}
				shared.arriving.mu.Lock()
				fresh, _ := shared.arriving.arrive(&e, 0)
				p.(consumer).consume(&fresh)
				shared.arriving.mu.Unlock()
				for sent += subscribers / int64(bench.share); gateway.posts.Load() < sent-64*subscribers/int64(bench.share); {
					runtime.Gosched()
				}
			}
			for gateway.posts.Load() < sent {
				runtime.Gosched()
			}
		})
	}
}

// A key that may not read the content any longer is disconnected, as one whose feed is taken away;
// one that follows other channels alone is not.
func TestAKeyThatMayNoLongerReadLiquidationsIsDisconnected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	w.connect("follows", channel.FeedChannels)
	w.connect("others", channel.FeedChannels)
	w.subscribe("follows", channel.Subscription{Type: channel.Liquidations})
	w.subscribe("others", channel.Subscription{Type: channel.Trades, Coin: "BTC"})
	w.sent("follows", 2)
	w.sent("others", 2)
	w.mu.Lock()
	w.keys["key"] = keys.Status{Level: keys.NewLevel(channel.FeedChannels.Action())}
	w.mu.Unlock()
	w.eventually("it is disconnected", func() bool { return w.isClosed("follows") })
	if w.isClosed("others") {
		t.Error("who follows trades alone is disconnected too")
	}
}

// All that was liquidated lies in one partition: however many come back to whatever part of it, and
// wherever they were, it is read a few times.
func TestWhoComesBackToLiquidationsSharesWhatIsRead(t *testing.T) {
	t.Parallel()
	const clients, events = 300, 50
	w := newWorld(t)
	now := w.clock()
	w.set(now)
	var rows []store.SeriesRow
	for i := range int64(events) {
		fill := liquidation(alice, "BTC", i, i, now.Add(-time.Duration(i)*20*time.Minute).UnixMilli(), "3.0", "9.0")
		e, _ := market.LiquidationOf(&fill)
		rows = append(rows, liquidated.EventsRow(liquidated.EventsAt(e.Time), []market.LiquidationEvent{e}))
	}
	var queries atomic.Int64
	options := w.db.Options()
	options.APIOptions = append(slices.Clone(options.APIOptions), func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("count", func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
			if _, ok := in.Parameters.(*dynamodb.QueryInput); ok {
				queries.Add(1)
			}
			return next.HandleInitialize(ctx, in)
		}), middleware.Before)
	})
	series := store.NewSeries(dynamodb.New(options), w.prefix+schema.SeriesTable)
	must.Do(t, series.Put(t.Context(), rows))
	w.config = func(c *Config) { c.Series = series }
	f, _ := w.run()
	w.caughtUp(f)
	ls := f.publishers[string(channel.Liquidations)].(*liquidations)
	queries.Store(0)
	back := func(client int) time.Duration { return time.Duration(client%24) * time.Hour }
	for client := range clients {
		shown, want := 0, 0
		for _, err := range ls.replayed(t.Context(), fmt.Sprint("BTC=", 1+client%2), now.Add(-back(client))) {
			must.Do(t, err)
			shown++
		}
		for i := range events {
			if time.Duration(i)*20*time.Minute <= back(client) {
				want++
			}
		}
		if shown != want {
			t.Fatalf("of %s %d are shown, want %d", back(client), shown, want)
		}
	}
	if n := queries.Load(); n > 4 {
		t.Errorf("%d queries for %d clients", n, clients)
	}
}
