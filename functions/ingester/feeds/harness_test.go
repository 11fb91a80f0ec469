package feeds

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"go.uber.org/goleak"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/catalog"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/gate/connections/connectionstest"
	"quotary/shared/gate/keys"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }

// world is a deployment's tables, and clients that note what they are sent.
type world struct {
	t      *testing.T
	db     *dynamodb.Client
	prefix string
	table  *connections.Store

	streams *dynamodbstreams.Client
	config  func(*Config) // changes what the feeds run on; nil for nothing
	objects *s3.Client    // what ingesters keep in bucket, one after the other
	bucket  string

	mu       sync.Mutex
	now      time.Time           // moved by the test; zero is the time of the day
	inbox    map[string][]string // frames, without their cursors
	cursors  map[string][]string // of those that have one
	gone     map[string]bool     // clients that are not there any longer
	closed   map[string]bool
	probes   []string // clients that were probed, in order
	keys     map[string]keys.Status
	owners   map[string]string // of keys that are not acme's
	messages int               // of clients
	last     int64             // time of the last of them, ms
	asked    int               // looks at accounts
	slow     map[string]int    // accounts whose state the venue never answers, and how often it was asked for
}

// probeSoon is how long a client of a test may be silent until it is probed.
const probeSoon = 2 * time.Second

func newWorld(t *testing.T) *world {
	t.Helper()
	db := storetest.DynamoDB(t)
	w := &world{t: t, db: db, prefix: storetest.Tables(t, db), inbox: map[string][]string{}, cursors: map[string][]string{}, gone: map[string]bool{},
		closed: map[string]bool{}, keys: map[string]keys.Status{"key": {Level: keys.NewLevel(catalog.Actions()...)}}}
	w.table = connections.New(db, w.prefix+schema.ConnectionsTable, w.clock)
	endpoint := storetest.Endpoint(t)
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	t.Cleanup(transport.CloseIdleConnections)
	w.streams = dynamodbstreams.New(dynamodbstreams.Options{BaseEndpoint: &endpoint, Region: "eu-west-1",
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""), HTTPClient: &http.Client{Transport: transport}})
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now.IsZero() {
		return time.Now()
	}
	return w.now
}

func (w *world) set(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = now
}

// Post, Disconnect and Probe make the world a [Gateway].
func (w *world) Post(_ context.Context, c hub.Conn, frame []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone[c.ID] {
		return hub.ErrGone
	}
	text := string(frame)
	if plain, rest, ok := strings.Cut(text, `,"cursor":"`); ok {
		text = plain + "}"
		w.cursors[c.ID] = append(w.cursors[c.ID], strings.TrimSuffix(rest, `"}`))
	}
	w.inbox[c.ID] = append(w.inbox[c.ID], text)
	return nil
}

func (w *world) Disconnect(_ context.Context, c hub.Conn) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed[c.ID] = true
	return nil
}

func (w *world) Probe(_ context.Context, c hub.Conn) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.probes = append(w.probes, c.ID)
	if w.gone[c.ID] {
		return hub.ErrGone
	}
	return nil
}

func (w *world) probed() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.probes)
}

// Statuses makes it [Keys].
func (w *world) Statuses(_ context.Context, distributor string, accessKeys []string) (map[string]keys.Status, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := map[string]keys.Status{}
	for _, key := range accessKeys {
		if s, ok := w.keys[key]; ok && distributor == cmp.Or(w.owners[key], "acme") {
			all[key] = s
		}
	}
	return all, nil
}

// ClearinghouseState, OpenOrders and LedgerUpdates make it a [Venue].
func (w *world) ClearinghouseState(ctx context.Context, user, dex string) (json.RawMessage, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, slow := w.slow[user]; slow {
		w.slow[user]++
		w.mu.Unlock()
		if _, ok := ctx.Deadline(); !ok {
			w.t.Errorf("the venue is asked for %s without a deadline", user)
		}
		<-ctx.Done()
		w.mu.Lock()
		return nil, ctx.Err()
	}
	w.asked++
	return json.RawMessage(fmt.Sprintf(`{"withdrawable":"%d.0","time":1}`, w.asked)), nil
}

func (w *world) OpenOrders(context.Context, string, string) ([]json.RawMessage, error) {
	return []json.RawMessage{json.RawMessage(`{"oid":2}`), json.RawMessage(`{"oid":1}`)}, nil
}

func (w *world) LedgerUpdates(context.Context, string, time.Time) ([]json.RawMessage, error) {
	return []json.RawMessage{json.RawMessage(`{"time":5,"hash":"0x01","delta":{"type":"deposit","usdc":"7.0"}}`)}, nil
}

// run starts feeds; they end with the test or by the returned function.
func (w *world) run() (f *Feeds, stop func()) {
	w.t.Helper()
	config := Config{
		Connections: w.table, Follower: connections.NewFollower(w.table, w.db, w.streams), Gateway: w, Keys: w,
		Log: store.NewLog(w.db, w.prefix+schema.LogTable), Series: store.NewSeries(w.db, w.prefix+schema.SeriesTable),
		Venue: w, Logger: slog.New(slog.DiscardHandler), Now: w.clock, ProbeAfter: probeSoon,
	}
	if w.config != nil {
		w.config(&config)
	}
	f = New(config)
	f.waitUntil = time.Now().Add(time.Hour) // a busy machine takes long to read who is connected
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Errorf("the feeds ended with %v", err)
		}
	})
	w.t.Cleanup(stop)
	return f, stop
}

func (w *world) connect(id string, of channel.Feed) {
	w.t.Helper()
	c := connections.Connection{ID: id, Key: "key", Distributor: "acme", Feed: of, Endpoint: "http://127.0.0.1/api"}
	must.Do(w.t, w.table.Connect(w.t.Context(), c, connections.Limits{}))
}

// subscribe begins a subscription, where one is given behind a cursor or at a time.
func (w *world) subscribe(id string, s channel.Subscription, from ...channel.Resume) {
	w.t.Helper()
	reply := connections.Reply{Frame: fmt.Appendf(nil, `{"reply":{"of":%q}}`, s.Type), Count: s.Type}
	if len(from) > 0 {
		reply.From = from[0]
	}
	must.Get(w.table.Subscribe(w.t.Context(), w.message(id), s, connections.Limits{}, reply))(w.t)
}

// message is the next message of a client: none has the time of another.
func (w *world) message(id string) connections.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.messages++
	now := w.now
	if now.IsZero() {
		now = time.Now()
	}
	w.last = max(w.last+1, now.UnixMilli())
	return connections.Message{Connection: id, Key: "key", Distributor: "acme", At: time.UnixMilli(w.last), ID: fmt.Sprint("m", w.messages)}
}

// frames is what a client was sent so far.
func (w *world) frames(id string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.inbox[id])
}

// eventually waits for a condition.
func (w *world) eventually(what string, ok func() bool) {
	w.t.Helper()
	defer func() {
		if w.t.Failed() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.t.Logf("sent were %v", w.inbox)
		}
	}()
	testenv.Until(w.t, what, ok)
}

// sent waits until a client was sent as many frames, and returns them.
func (w *world) sent(id string, n int) []string {
	w.t.Helper()
	w.eventually(fmt.Sprintf("%d frames to %s", n, id), func() bool { return len(w.frames(id)) >= n })
	return w.frames(id)
}

// caughtUp waits until the connections that are there are known.
func (w *world) caughtUp(f *Feeds) {
	w.t.Helper()
	w.eventually("the table is read", f.caughtUp.Load)
}

// usage is what the key holds.
func (w *world) usage() connectionstest.Usage {
	w.t.Helper()
	return connectionstest.UsageOf(w.t, w.db, w.prefix+schema.ConnectionsTable, "key")
}

const alice, bob = "0x00000000000000000000000000000000000000aa", "0x00000000000000000000000000000000000000bb"

// fill is Alice's part of a trade that she took.
func fill(tid int64, at time.Time, coin string) market.Fill {
	return market.Fill{Address: alice, Coin: coin, Px: "100.5", Sz: "2.0", Side: market.Buy, Time: at.UnixMilli(), StartPosition: "0.0",
		Dir: "Open Long", ClosedPnl: "0.0", Hash: "0x01", Oid: 1000 + tid, Crossed: true, Fee: "0.1", Tid: tid, FeeToken: "USDC", Seq: tid}
}

func book(coin string, ms int64, bid string) market.Book {
	return market.Book{Coin: coin, Time: ms, Bids: []market.Level{{Px: bid, Sz: "1.5", N: 2}}, Asks: []market.Level{{Px: "105057.0", Sz: "0.25", N: 1}}}
}

// wants requires parts of a text, in order.
func wants(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, ok := strings.Cut(rest, part)
		if !ok {
			t.Errorf("no %s at its place in %s", part, text)
			return
		}
		rest = after
	}
}
