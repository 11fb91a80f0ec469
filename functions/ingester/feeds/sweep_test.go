package feeds

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/gate/connections/connectionstest"
	"quotary/shared/gate/keys"
	"quotary/shared/market"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

func (w *world) isClosed(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed[id]
}

func TestAClientThatIsGoneFreesItsSlotsWithoutADisconnectEvent(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(*Feeds){
		"found by a probe": func(*Feeds) {},
		"found by a push":  func(f *Feeds) { f.publish(&market.Events{Books: []market.Book{book("BTC", 1, "105056.0")}}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			f, _ := w.run()
			w.caughtUp(f)
			w.connect("here", channel.FeedChannels)
			w.connect("gone", channel.FeedChannels)
			w.subscribe("gone", channel.Subscription{Type: channel.L2Book, Coin: "BTC"})
			w.sent("gone", 1)
			w.mu.Lock()
			w.gone["gone"] = true
			w.mu.Unlock()
			began := time.Now()
			act(f)
			w.eventually("the slots are free", func() bool { return w.usage() == connectionstest.Usage{Connections: 1} })
			if took := time.Since(began); name == "found by a push" && took > probeSoon {
				t.Errorf("noticed after %s", took)
			}
			if w.isClosed("here") {
				t.Error("the other connection was closed")
			}
		})
	}
}

func TestAClientThatAsksToBeClosedGetsTheRepliesToWhatItSentBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	w.connect("one", channel.FeedFills)
	must.Do(t, w.table.AddAddresses(t.Context(), w.message("one"), []string{alice}, connections.Limits{}, connections.Reply{Frame: []byte(`{"type":"subscribe"}`)}))
	must.Do(t, w.table.AskClose(t.Context(), w.message("one")))
	w.eventually("it is closed and free", func() bool { return w.isClosed("one") && w.usage() == connectionstest.Usage{} })
	if got := w.frames("one"); len(got) != 1 || got[0] != `{"type":"subscribe"}` {
		t.Errorf("it was sent %q", got)
	}
}

func TestConnectionsOfAKeyThatMayNotConnectAreClosed(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *keys.Status){
		"disabled":             func(p *keys.Status) { p.Disabled = true },
		"distributor disabled": func(p *keys.Status) { p.DistributorDisabled = true },
		"expired":              func(p *keys.Status) { p.ExpiresAt = time.Now() },
		"not permitted":        func(p *keys.Status) { p.Level = keys.NewLevel("HL_TICKERS") },
		"without its level":    func(p *keys.Status) { p.Level = nil },
		"another secret":       func(p *keys.Status) { p.Generation = 1 },
		"deleted":              nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			f, _ := w.run()
			w.caughtUp(f)
			w.connect("one", channel.FeedChannels)
			w.connect("two", channel.FeedFills)
			w.mu.Lock()
			if p := w.keys["key"]; end == nil {
				delete(w.keys, "key")
			} else {
				end(&p)
				w.keys["key"] = p
			}
			w.mu.Unlock()
			w.eventually("both are closed and free", func() bool { return w.isClosed("one") && w.isClosed("two") && w.usage() == connectionstest.Usage{} })
		})
	}
}

func TestAConnectionOfTheNewSecretStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	w.connect("old", channel.FeedChannels)
	// The reset comes between a handshake and the first look at its key.
	w.mu.Lock()
	s := w.keys["key"]
	s.Generation = 1
	w.keys["key"] = s
	w.mu.Unlock()
	owner := connections.Connection{ID: "new", Key: "key", Distributor: "acme", Feed: channel.FeedChannels, Endpoint: "http://127.0.0.1/api", Generation: 1}
	must.Do(t, w.table.Connect(t.Context(), owner, connections.Limits{Key: 1}))
	w.eventually("the old one is closed", func() bool { return w.isClosed("old") && w.usage() == connectionstest.Usage{Connections: 1} })
	if w.isClosed("new") {
		t.Error("the owner was closed, too")
	}
	connectionstest.Look(t, w.db, w.prefix+schema.ConnectionsTable).Balanced(t)
}

func TestWhatWasOpenBeforeALimitIsCountedFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	w.connect("one", channel.FeedChannels)
	w.connect("two", channel.FeedFills)
	w.subscribe("one", channel.Subscription{Type: channel.BBO, Coin: "BTC"})
	connect := func(id string, limits connections.Limits) error {
		return w.table.Connect(t.Context(), connections.Connection{ID: id, Key: "key", Distributor: "acme", Feed: channel.FeedChannels, Endpoint: "http://127.0.0.1/api"}, limits)
	}
	began := time.Now()
	set := connections.Limits{Key: 2, KeySince: began.UnixMilli()}
	var over *connections.LimitError
	if err := connect("three", set); !errors.As(err, &over) || over.Current != 2 {
		t.Errorf("a third connection under a limit of two: %v", err)
	}
	t.Logf("after %s", time.Since(began))
	wide := connections.Limits{Distributor: 3, DistributorSince: began.UnixMilli()}
	if err := connect("three", wide); err != nil {
		t.Error(err)
	}
	if err := connect("four", wide); !errors.As(err, &over) || over.Current != 3 {
		t.Errorf("a fourth connection under a distributor's limit of three: %v", err)
	}
	if _, err := w.table.Subscribe(t.Context(), w.message("one"), channel.Subscription{Type: channel.BBO, Coin: "ETH"}, connections.Limits{Key: 1, KeySince: began.UnixMilli()}, connections.Reply{}); !errors.As(err, &over) || over.Current != 1 {
		t.Errorf("a second subscription under a limit of one: %v", err)
	}
	connectionstest.Look(t, w.db, w.prefix+schema.ConnectionsTable).Balanced(t)
}

// A connection of another distributor stays uncounted, as no answer about it comes.
func TestACountThatGetsNoAnswerHoldsUpNoNeighbour(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	answer, held := make(chan struct{}), make(chan struct{})
	holds := sync.OnceFunc(func() { close(held) })
	db := storetest.Intercept(w.db, func(in any, send func() (any, error)) (any, error) {
		if q, ok := in.(*dynamodb.QueryInput); ok {
			if pk, ok := q.ExpressionAttributeValues[":pk"].(*types.AttributeValueMemberS); ok && pk.Value == "c#loud" {
				holds()
				<-answer
			}
		}
		return send()
	})
	w.config = func(c *Config) { c.Connections = connections.New(db, w.prefix+schema.ConnectionsTable, w.clock) }
	w.keys["other"], w.owners = w.keys["key"], map[string]string{"other": "other"}
	f, _ := w.run()
	release := sync.OnceFunc(func() { close(answer) })
	t.Cleanup(release) // before the feeds end
	w.caughtUp(f)
	connect := func(id, key, distributor string, limits connections.Limits) error {
		return w.table.Connect(t.Context(), connections.Connection{ID: id, Key: key, Distributor: distributor, Feed: channel.FeedChannels, Endpoint: "http://127.0.0.1/api"}, limits)
	}
	must.Do(t, connect("loud", "other", "other", connections.Limits{}))
	w.connect("quiet", channel.FeedChannels)
	limits := connections.Limits{Key: 2, KeySince: w.clock().Add(-time.Minute).UnixMilli()}
	counted := make(chan error, 1)
	go func() { counted <- connect("loud two", "other", "other", limits) }()
	<-held
	if err := connect("quiet two", "key", "acme", limits); err != nil {
		t.Errorf("a neighbour under a limit that was set: %v", err)
	}
	release()
	<-counted // which may have taken too long
	w.eventually("the other is counted", func() bool { return connect("loud two", "other", "other", limits) == nil })
	connectionstest.Look(t, w.db, w.prefix+schema.ConnectionsTable).Balanced(t)
}

func TestAnActionThatIsRemovedClosesItsFeedAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, _ := w.run()
	w.caughtUp(f)
	w.connect("one", channel.FeedChannels)
	w.connect("two", channel.FeedFills)
	began := time.Now()
	w.mu.Lock()
	w.keys["key"] = keys.Status{Level: keys.NewLevel(channel.FeedFills.Action())}
	w.mu.Unlock()
	w.eventually("the feed that is not permitted is closed", func() bool { return w.isClosed("one") })
	t.Logf("after %s", time.Since(began))
	if w.isClosed("two") || w.usage() != (connectionstest.Usage{Connections: 1}) {
		t.Errorf("the other was closed, too: %+v", w.usage())
	}
}

func TestOnlyAMessageKeepsAConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	began := time.Now().Truncate(time.Millisecond)
	w.set(began)
	f, _ := w.run()
	w.caughtUp(f)
	w.connect("speaks", channel.FeedChannels)
	w.connect("idle", channel.FeedChannels)
	w.subscribe("idle", channel.Subscription{Type: channel.BBO, Coin: "BTC"})
	closed := f.Idle + connections.SeenEvery
	w.set(began.Add(closed - time.Second))
	must.Do(t, connections.NewMeter(w.table, connections.Budget{}).Message(t.Context(), "speaks", 10))
	f.publish(&market.Events{Books: []market.Book{book("BTC", 1, "105056.0")}})
	w.sent("idle", 2)
	w.eventually("the message is known", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.clients["speaks"] != nil && f.clients["speaks"].Seen.After(began)
	})
	if w.isClosed("idle") {
		t.Error("closed before its time")
	}
	w.set(began.Add(closed + 2*time.Second))
	w.eventually("the idle client is closed", func() bool { return w.isClosed("idle") })
	if w.isClosed("speaks") {
		t.Error("a client that spoke was closed")
	}
}

func TestARestartBringsSnapshotsButNoReplyTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, stop := w.run()
	w.caughtUp(f)
	w.connect("one", channel.FeedChannels)
	w.subscribe("one", channel.Subscription{Type: channel.Trades, Coin: "BTC"})
	w.sent("one", 2)
	w.eventually("the reply is noted", func() bool {
		body, err := f.Series.Checkpoint(t.Context(), repliesSource)
		at, _ := strconv.ParseInt(string(body), 10, 64)
		return err == nil && at >= f.replied.Load()
	})
	stop()
	w.subscribe("one", channel.Subscription{Type: channel.Trades, Coin: "ETH"}) // while nothing runs
	g, _ := w.run()
	w.caughtUp(g)
	got := w.sent("one", 5)
	if n := strings.Count(strings.Join(got, ""), `"reply"`); n != 2 || len(got) != 5 {
		t.Errorf("%d replies: %v", n, got)
	}
	wants(t, strings.Join(got[2:], "\n"), `{"reply":{"of":"trades","activeCount":2}}`, `{"channel":"trades","data":[]}`)
}

// Each look takes those of whom nothing was heard for the longest time.
func TestProbesAreFewerTheMoreConnectionsAreQuiet(t *testing.T) {
	t.Parallel()
	const quiet, rate = 30, 100 // of which five a second are probes
	w := newWorld(t)
	f := New(Config{Gateway: w, Rate: rate, Now: w.clock, ProbeAfter: probeAfter})
	start := time.Now().Truncate(time.Second)
	w.set(start)
	for i := range quiet {
		c := connections.Connection{ID: strconv.Itoa(i), At: start.Add(-time.Minute)}
		f.clients[c.ID] = &client{Connection: c, alive: start.Add(-time.Duration(i) * time.Second)}
		f.hub.Connect(hub.Conn{ID: c.ID, At: c.At})
	}
	for look := range 4 {
		w.set(start.Add(probeAfter + time.Duration(look)*time.Second))
		f.sweepGone(t.Context())
		if got, want := len(w.probed()), 5*(look+1); got != want {
			t.Fatalf("%d probes after %d looks, want %d", got, look+1, want)
		}
	}
	for i, id := range w.probed() {
		if n, _ := strconv.Atoi(id); n < quiet-5*(i/5+1) || n >= quiet-5*(i/5) {
			t.Errorf("probe %d was of client %s: others were unheard of for longer", i, id)
		}
	}
}

func TestNobodysQuietConnectionsKeepThoseOfAnotherFromBeingProbed(t *testing.T) {
	t.Parallel()
	const rate = 100 // of which five a second are probes
	w := newWorld(t)
	f := New(Config{Gateway: w, Rate: rate, Now: w.clock, ProbeAfter: probeAfter})
	start := time.Now().Truncate(time.Second)
	w.set(start)
	add := func(distributor string, n int, unheard time.Duration) {
		for i := range n {
			c := connections.Connection{ID: fmt.Sprint(distributor, " ", i), Distributor: distributor, At: start.Add(-time.Hour)}
			f.clients[c.ID] = &client{Connection: c, alive: start.Add(-unheard)}
			f.hub.Connect(hub.Conn{ID: c.ID, At: c.At, Of: distributor})
		}
	}
	add("loud", 100, time.Minute)
	add("neighbour", 3, probeAfter)
	f.sweepGone(t.Context())
	f.sweepGone(t.Context())
	of := map[string]int{}
	for _, id := range w.probed() {
		of[strings.Fields(id)[0]]++
	}
	if of["neighbour"] != 3 || of["loud"] != 7 {
		t.Errorf("the first ten probes are %v", of)
	}
}
