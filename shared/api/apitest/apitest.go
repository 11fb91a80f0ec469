// Package apitest is the harness of tests of a family of endpoints. It calls them
// as a client does through the gateway: signed with a real key, checked by the
// real gate over a real engine, bound, counted and answered by the real family
// behind the adapter to Lambda. Only the gateway's own hop is missing.
//
// A test opens a [World], fills its stores, calls ([World.Get], [World.Call]) and
// compares what comes back: with a golden file ([Answer.Golden], rewritten by
// go test -update), as typed data ([Data]) or as a refusal ([Answer.Refused]).
package apitest

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/api"
	"quotary/shared/aws/readunits"
	"quotary/shared/catalog"
	"quotary/shared/data/delivered"
	"quotary/shared/gate/admission"
	"quotary/shared/gate/keys"
	"quotary/shared/gate/signature"
	"quotary/shared/gate/usage"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testclock"
)

// Key is an access key with its secret.
type Key struct{ AccessKey, Secret string }

// World is a deployment of one family with one distributor, whose level "all"
// lists every action, and one sub-key without limits.
type World struct {
	DB       *dynamodb.Client
	Prefix   string // of the tables
	Keys     *keys.Store
	Counters *usage.Counters
	Gate     *admission.Gate
	Family   *api.Family
	Primary  Key
	SubKey   Key
	Logs     *bytes.Buffer // what the family logged

	log   *slog.Logger
	clock *testclock.Clock
	calls atomic.Int64
}

// Start is the moment at which a world's clock stands until it is moved.
var Start = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// Open opens a world for a family, whose handlers register ties to its endpoints.
func Open(t testing.TB, family catalog.Family, register func(w *World)) *World {
	t.Helper()
	w := New(t, string(family))
	register(w)
	must.Do(t, w.Family.Complete())
	return w
}

// New opens a world for the named function. The caller registers the handlers
// on its Family.
func New(t testing.TB, function string) *World {
	t.Helper()
	db := storetest.DynamoDB(t)
	db = dynamodb.New(db.Options(), readunits.Meter) // as functions have it
	w := &World{DB: db, Prefix: storetest.Tables(t, db), Logs: new(bytes.Buffer), clock: testclock.At(Start)}
	ring := must.Get(keys.OpenRing(t.Context(), func(context.Context) (keys.DataKeys, error) {
		return keys.DataKeys{Current: "test", Keys: map[string][]byte{"test": bytes.Repeat([]byte{7}, 32)}}, nil
	}))(t)
	table := w.Prefix + schema.UsageTable
	w.Keys = keys.New(db, w.Prefix+schema.KeysTable, ring, w.Now)
	w.Counters = usage.NewCounters(db, table, w.Now)
	w.Gate = &admission.Gate{Keys: w.Keys, Nonces: usage.NewNonces(db, table, w.Now), Counters: w.Counters, Clock: w.Now}
	w.log = slog.New(slog.NewJSONHandler(&syncWriter{w: w.Logs}, nil))
	w.Family = api.New(function, w.Gate, w.log)
	w.Deliver(t, catalog.Datasets()...)
	w.Primary = w.Register(t, keys.Preset{Name: "Acme", Level: "all", MaxSubKeys: 100})
	level := keys.Allow(catalog.Actions()...)
	must.Do(t, w.Keys.PutLevel(t.Context(), w.Primary.AccessKey, "all", level))
	quota := int64(1_000_000)
	w.SubKey = w.Issue(t, w.Primary, keys.NewSubKey{Name: "sub", MonthlyQuota: &quota})
	return w
}

// Deliver has sources spoken of these datasets and of no other, and none configured that
// would: of all of them in a new world.
func (w *World) Deliver(t testing.TB, datasets ...*catalog.Dataset) {
	t.Helper()
	views := w.Views(t)
	Deliver(t, views, datasets...)
	w.Family.Delivered = delivered.Open(views, w.Now)
}

// Deliver records in views that sources have spoken of these datasets and of no other.
func Deliver(t testing.TB, views *store.Views, datasets ...*catalog.Dataset) {
	t.Helper()
	all := map[string]delivered.View{}
	for _, d := range catalog.Datasets() {
		if all[d.Domain.Name] == nil {
			all[d.Domain.Name] = delivered.View{}
		}
		if slices.Contains(datasets, d) {
			all[d.Domain.Name][d.Name] = delivered.State{Since: Start.UnixMilli(), Sources: []string{"test"}}
		}
	}
	for domain, v := range all {
		storetest.Publish(t, views, delivered.Published(domain), v)
	}
}

// Log returns the table of logs.
func (w *World) Log() *store.Log { return store.NewLog(w.DB, w.Prefix+schema.LogTable) }

// Series returns the table of series.
func (w *World) Series() *store.Series { return store.NewSeries(w.DB, w.Prefix+schema.SeriesTable) }

// Documents returns the documents of a kind in the world.
func (w *World) Documents(kind string, limits store.DocumentLimits) *store.Documents {
	return store.NewDocuments(w.DB, w.Prefix+schema.DocumentsTable, kind, limits)
}

// Views returns views in a bucket that is empty at first and another one at each
// call.
func (w *World) Views(t testing.TB) *store.Views {
	t.Helper()
	client, bucket := storetest.S3(t)
	return store.NewViews(client, bucket)
}

// ReadUnits is what the handler of the last request has read of DynamoDB, in read units.
func (w *World) ReadUnits(t testing.TB) float64 {
	t.Helper()
	lines := bytes.Split(bytes.TrimSpace(w.Logs.Bytes()), []byte("\n"))
	var last struct {
		ReadUnits *float64 `json:"read_units"`
	}
	if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil || last.ReadUnits == nil {
		t.Fatalf("the last line of the log names no read units (%v): %s", err, lines[len(lines)-1])
	}
	return *last.ReadUnits
}

// Register invites and registers a distributor.
func (w *World) Register(t testing.TB, preset keys.Preset) Key {
	t.Helper()
	token, _ := must.Get2(w.Keys.CreateInvite(t.Context(), preset, 0))(t)
	r := must.Get(w.Keys.Register(t.Context(), token))(t)
	return Key{r.AccessKey, string(r.Secret)}
}

// Issue creates a sub-key of a distributor.
func (w *World) Issue(t testing.TB, distributor Key, in keys.NewSubKey) Key {
	t.Helper()
	k, secret := must.Get2(w.Keys.CreateSubKey(t.Context(), distributor.AccessKey, in))(t)
	return Key{k.AccessKey, string(secret)}
}

// Now is the world's time.
func (w *World) Now() time.Time { return w.clock.Now() }

// Move moves the world's time.
func (w *World) Move(d time.Duration) { w.clock.Move(d) }

// Sign returns the four signature parameters under a nonce that was not used.
func (w *World) Sign(key Key) signature.Params {
	nonce, timestamp := strconv.FormatInt(w.calls.Add(1), 10), strconv.FormatInt(w.Now().Unix(), 10)
	return signature.Params{
		AccessKeyID: key.AccessKey, Nonce: nonce, Timestamp: timestamp,
		Signature: signature.Compute([]byte(key.Secret), key.AccessKey, nonce, timestamp),
	}
}

// Get calls a path with its query signed by key: "/upgrade/v2/hl/tickers?x=1".
func (w *World) Get(t testing.TB, key Key, target string) Answer {
	t.Helper()
	return w.Call(t, key, http.MethodGet, target, nil)
}

// Call calls a path with the signature in the query; body is sent as it is when
// it is a string or bytes, else as JSON. The zero Key sends no signature.
func (w *World) Call(t testing.TB, key Key, method, target string, body any) Answer {
	t.Helper()
	var params signature.Params
	if key.AccessKey != "" {
		params = w.Sign(key)
	}
	return w.Send(t, params, method, target, body)
}

type syncWriter struct {
	mu sync.Mutex
	w  *bytes.Buffer
}

func (s *syncWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}
