// Package apitest calls a family of endpoints as a client does through the
// gateway: signed with a real key, checked by the real gate over a real engine,
// bound, counted and answered by the real family. Only the gateway's own hop is
// missing.
package apitest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/admission"
	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/keys"
	"quotary/shared/signature"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/usage"
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

	mu    sync.Mutex
	now   time.Time
	calls int
}

// Start is the moment at which a world's clock stands until it is moved.
var Start = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// New opens a world for the named function. The caller registers the handlers
// on its Family.
func New(t testing.TB, function string) *World {
	t.Helper()
	db := storetest.DynamoDB(t)
	w := &World{DB: db, Prefix: storetest.Tables(t, db), Logs: new(bytes.Buffer), now: Start}
	ring, err := keys.OpenRing(t.Context(), func(context.Context) (keys.DataKeys, error) {
		return keys.DataKeys{Current: "test", Keys: map[string][]byte{"test": bytes.Repeat([]byte{7}, 32)}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	table := w.Prefix + store.UsageTable
	w.Keys = keys.New(db, w.Prefix+store.KeysTable, ring, w.Now)
	w.Counters = usage.NewCounters(db, table, w.Now)
	w.Gate = &admission.Gate{Keys: w.Keys, Nonces: usage.NewNonces(db, table, w.Now), Counters: w.Counters, Clock: w.Now}
	w.Family = api.New(function, w.Gate, slog.New(slog.NewJSONHandler(&syncWriter{w: w.Logs}, nil)))
	w.Primary = w.Register(t, keys.Preset{Name: "Acme", Level: "all", MaxSubKeys: 100})
	level := catalog.Level{Permissions: []catalog.Permission{{ResourceType: keys.ResourceType, Actions: catalog.Actions()}}}
	if err := w.Keys.PutLevel(t.Context(), w.Primary.AccessKey, "all", level); err != nil {
		t.Fatal(err)
	}
	quota := int64(1_000_000)
	w.SubKey = w.Issue(t, w.Primary, keys.NewSubKey{Name: "sub", MonthlyQuota: &quota})
	return w
}

// Register invites and registers a distributor.
func (w *World) Register(t testing.TB, preset keys.Preset) Key {
	t.Helper()
	token, _, err := w.Keys.CreateInvite(t.Context(), preset, 0)
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Keys.Register(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	return Key{r.AccessKey, string(r.Secret)}
}

// Issue creates a sub-key of a distributor.
func (w *World) Issue(t testing.TB, distributor Key, in keys.NewSubKey) Key {
	t.Helper()
	k, secret, err := w.Keys.CreateSubKey(t.Context(), distributor.AccessKey, in)
	if err != nil {
		t.Fatal(err)
	}
	return Key{k.AccessKey, string(secret)}
}

// Now is the world's time.
func (w *World) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// Move moves the world's time.
func (w *World) Move(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// Sign returns the four signature parameters under a nonce that was not used.
func (w *World) Sign(key Key) signature.Params {
	w.mu.Lock()
	w.calls++
	nonce, timestamp := strconv.Itoa(w.calls), strconv.FormatInt(w.now.Unix(), 10)
	w.mu.Unlock()
	return signature.Params{
		AccessKeyID: key.AccessKey, Nonce: nonce, Timestamp: timestamp,
		Signature: signature.Compute([]byte(key.Secret), key.AccessKey, nonce, timestamp),
	}
}

// Answer is what a call came to.
type Answer struct {
	Status int
	Header map[string]string
	Body   []byte
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

// Send calls with signature parameters as they are.
func (w *World) Send(t testing.TB, params signature.Params, method, target string, body any) Answer {
	t.Helper()
	event := Event(t, method, target, body)
	if refused := w.authorize(t, params, &event); refused != nil {
		return *refused
	}
	out := w.answer(t, event)
	return Answer{Status: out.StatusCode, Header: out.Headers, Body: []byte(out.Body)}
}

// answer has the family answer the event in the gateway's JSON. A query that is
// no UTF-8, which JSON cannot carry, is handed over as it is.
func (w *World) answer(t testing.TB, event events.APIGatewayProxyRequest) (out events.APIGatewayProxyResponse) {
	t.Helper()
	for _, values := range event.MultiValueQueryStringParameters {
		if slices.ContainsFunc(values, func(value string) bool { return !utf8.ValidString(value) }) {
			return w.Family.Answer(t.Context(), event)
		}
	}
	payload, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := w.Family.Invoke(t.Context(), payload)
	if err != nil {
		t.Fatalf("%s %s: %v", event.HTTPMethod, event.Path, err)
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		t.Fatalf("%s %s: %v in %s", event.HTTPMethod, event.Path, err, answer)
	}
	return out
}

// authorize does what the authorizer function does and puts its context into
// the event. A request that the gateway itself refuses is answered at once.
func (w *World) authorize(t testing.TB, params signature.Params, event *events.APIGatewayProxyRequest) *Answer {
	t.Helper()
	endpoint := find(event.HTTPMethod, event.Resource)
	if endpoint == nil || !endpoint.Authorized() {
		return nil
	}
	if params.Empty() && event.HTTPMethod == http.MethodPost {
		event.RequestContext.Authorizer = admission.BodyContext()
		return nil
	}
	caller, err := w.Gate.Check(t.Context(), params, endpoint.Access)
	var refusal *admission.Refusal
	switch {
	case err == nil:
		event.RequestContext.Authorizer = caller.Context()
		return nil
	case errors.As(err, &refusal):
		body := fmt.Sprintf(`{"success":false,"error":%q}`, refusal.Message)
		return &Answer{Status: refusal.Status, Body: []byte(body)}
	}
	t.Fatal(err)
	return nil
}

// Event returns the gateway's event for a call.
func Event(t testing.TB, method, target string, body any) events.APIGatewayProxyRequest {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	event := events.APIGatewayProxyRequest{
		HTTPMethod: method, Path: u.Path, Resource: "/unknown",
		MultiValueQueryStringParameters: u.Query(),
		QueryStringParameters:           make(map[string]string),
	}
	for name, values := range u.Query() {
		event.QueryStringParameters[name] = values[len(values)-1]
	}
	event.RequestContext.RequestID = "test-request"
	event.Resource, event.PathParameters = match(method, u.EscapedPath())
	switch body := body.(type) {
	case nil:
	case string:
		event.Body = body
	case []byte:
		event.Body = string(body)
	default:
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		event.Body = string(text)
	}
	if !utf8.ValidString(event.Body) { // the gateway hands on in base64 what is no text
		event.Body, event.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte(event.Body)), true
	}
	return event
}

func find(method, resource string) *catalog.Endpoint {
	for _, e := range catalog.All() {
		if e.Method == method && e.Path == resource {
			return e
		}
	}
	return nil
}

// match finds the resource of a path: literal segments before parameters.
func match(method, path string) (resource string, parameters map[string]string) {
	segments := strings.Split(path, "/")
	best := -1
	for _, e := range catalog.All() {
		pattern := strings.Split(e.Path, "/")
		if e.Method != method || len(pattern) != len(segments) {
			continue
		}
		literal, values := 0, make(map[string]string)
		for i, segment := range pattern {
			if name, ok := strings.CutPrefix(segment, "{"); ok {
				value, err := url.PathUnescape(segments[i])
				if err != nil {
					value = segments[i]
				}
				values[strings.TrimSuffix(name, "}")] = value
			} else if segment == segments[i] {
				literal++
			} else {
				literal = -1
				break
			}
		}
		if literal > best {
			best, resource, parameters = literal, e.Path, values
		}
	}
	return resource, parameters
}

// Golden compares an indented answer body with testdata/<name>.golden.json and
// rewrites it when update is set.
func Golden(t testing.TB, update bool, name string, body []byte) {
	t.Helper()
	var indented bytes.Buffer
	if err := json.Indent(&indented, body, "", "  "); err != nil {
		t.Fatalf("%s is not JSON: %v: %.200s", name, err, body)
	}
	indented.WriteByte('\n')
	path := filepath.Join("testdata", name+".golden.json")
	if update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, indented.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, indented.Bytes()) {
		t.Errorf("%s differs from its golden file (run with -update to accept):\ngot  %s\nwant %s", name, indented.Bytes(), want)
	}
}

// Data decodes the data of an answer's envelope and requires status 200.
func Data[T any](t testing.TB, a Answer) T {
	t.Helper()
	if a.Status != http.StatusOK {
		t.Fatalf("status %d: %s", a.Status, a.Body)
	}
	var envelope struct {
		Data T `json:"data"`
	}
	if err := json.Unmarshal(a.Body, &envelope); err != nil {
		t.Fatalf("%v: %s", err, a.Body)
	}
	return envelope.Data
}

// Message returns the error text of a failed answer.
func Message(t testing.TB, a Answer) string {
	t.Helper()
	var body struct {
		Error string `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil {
		t.Fatalf("%v: %s", err, a.Body)
	}
	return body.Error
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
