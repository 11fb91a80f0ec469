package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"quotary/shared/api/apitest"
	"quotary/shared/aws/attr"
	"quotary/shared/catalog"
	"quotary/shared/data/delivered"
	"quotary/shared/data/listed"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/gate/connections/connectionstest"
	"quotary/shared/gate/keys"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// world is the function over a real engine, with a gateway of which only the
// management API is there: it notes what is closed.
type world struct {
	*apitest.World
	t      *testing.T
	socket *socket
	conns  *connections.Store
	views  *store.Views // empty at first
	url    string       // of the management API
	logs   *bytes.Buffer

	mu     sync.Mutex
	made   int
	closed []string
	fails  int // status of the management API, 0 = it works
}

func open(t *testing.T) *world {
	t.Helper()
	w := &world{World: apitest.New(t, catalog.FunctionSocket), t: t, logs: new(bytes.Buffer)}
	server := httptest.NewServer(http.HandlerFunc(w.manage))
	t.Cleanup(server.Close)
	w.url = server.URL + "/api"
	w.views = w.Views(t)
	w.conns = connections.New(w.DB, w.Prefix+schema.ConnectionsTable, w.Now)
	options := w.DB.Options()
	options.Retryer = aws.NopRetryer{}
	w.socket = &socket{
		store: w.conns, meter: connections.NewMeter(w.conns, budget), spending: &connections.Spending{Key: keySpending, Distributor: distributorSpending, Store: w.conns}, keys: keys.New(w.DB, w.Prefix+schema.KeysTable, nil, w.Now), coins: listed.Open(w.views, w.Now), delivered: delivered.Open(w.views, w.Now), management: newManagement(options),
		log: slog.New(slog.NewJSONHandler(w.logs, nil)), clock: w.Now, readUnits: catalog.MostReadUnits,
	}
	return w
}

// manage answers as the management API does.
func (w *world) manage(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id, ok := strings.CutPrefix(r.URL.Path, "/api/@connections/")
	if !ok || r.Method != http.MethodDelete || !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ") {
		w.t.Errorf("the management API was asked for %s %s", r.Method, r.URL)
	}
	status := http.StatusNoContent
	if w.fails != 0 {
		status = w.fails
	}
	if status == http.StatusGone {
		rw.Header().Set("X-Amzn-ErrorType", "GoneException")
	}
	rw.WriteHeader(status)
	w.closed = append(w.closed, id)
}

// peer is a client on one connection.
type peer struct {
	*world
	id      string
	feed    channel.Feed
	context map[string]any  // of the authorizer
	sent    int             // messages
	seen    map[string]bool // replies that were seen, by their items
}

// event makes an event as the gateway does.
func (p *peer) event(route, body string, query url.Values) events.APIGatewayWebsocketProxyRequest {
	p.t.Helper()
	kind := map[string]string{"$connect": "CONNECT", "$disconnect": "DISCONNECT"}[route]
	if kind == "" {
		kind = "MESSAGE"
	}
	text := must.Get(json.Marshal(map[string]any{
		"multiValueQueryStringParameters": query,
		"stageVariables":                  map[string]string{"feed": string(p.feed), "management": p.url},
		"body":                            body,
		"isBase64Encoded":                 false,
		"requestContext": map[string]any{
			"routeKey": route, "eventType": kind, "connectionId": p.id, "requestId": p.request(route), "requestTimeEpoch": p.Now().UnixMilli() + int64(p.sent),
			"stage": "api", "domainName": "example.com", "authorizer": p.context,
		},
	}))(p.t)
	var event events.APIGatewayWebsocketProxyRequest
	must.Do(p.t, json.Unmarshal(text, &event))
	return event
}

func (p *peer) invoke(event events.APIGatewayWebsocketProxyRequest) (int, string) {
	p.t.Helper()
	res := must.Get(p.socket.Invoke(p.t.Context(), event))(p.t)
	return res.StatusCode, res.Body
}

// dial connects and returns the status of the handshake with its error.
func (w *world) dial(key apitest.Key, feed channel.Feed, query string) (p *peer, status int, message string) {
	w.t.Helper()
	values := must.Get(url.ParseQuery(query))(w.t)
	p = w.peer(key, feed)
	status, body := p.invoke(p.event("$connect", "", values))
	if status == http.StatusOK {
		return p, status, ""
	}
	return p, status, apitest.Message(w.t, apitest.Answer{Status: status, Body: []byte(body)})
}

// peer is a client that the authorizer has let in.
func (w *world) peer(key apitest.Key, feed channel.Feed) *peer {
	w.t.Helper()
	caller := must.Get(w.Gate.Check(w.t.Context(), w.Sign(key), "", catalog.Access{Kind: catalog.AnyLevel}))(w.t)
	w.mu.Lock()
	w.made++
	id := fmt.Sprintf("conn%d=", w.made)
	w.mu.Unlock()
	return &peer{world: w, id: id, feed: feed, context: caller.Context()}
}

// connect connects a client, or fails the test.
func (w *world) connect(key apitest.Key, feed channel.Feed) *peer {
	w.t.Helper()
	p, status, message := w.dial(key, feed, "")
	if status != http.StatusOK {
		w.t.Fatalf("connecting: %d %s", status, message)
	}
	return p
}

// send sends a message and returns the reply, or where it stands in the table
// what the ingester will send.
func (p *peer) send(body string) string {
	p.t.Helper()
	return p.sendEvent(p.event("$default", body, nil))
}

func (p *peer) sendEvent(event events.APIGatewayWebsocketProxyRequest) string {
	p.t.Helper()
	status, reply := p.invoke(event)
	if status != http.StatusOK {
		p.t.Errorf("%s: status %d", event.Body, status)
	}
	return reply + p.left()
}

// request names the next request.
func (p *peer) request(route string) string {
	if route != "$default" {
		return "test-request"
	}
	p.sent++
	return fmt.Sprint("request-", p.sent)
}

// left is the reply that was left in the table since it was last asked for, as the
// ingester sends it.
func (p *peer) left() (reply string) {
	p.t.Helper()
	table := p.Prefix + schema.ConnectionsTable
	out := must.Get(p.DB.Query(p.t.Context(), &dynamodb.QueryInput{
		TableName: &table, ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("pk = :pk"),
		ExpressionAttributeValues: attr.Item{":pk": attr.S("c#" + p.id)},
	}))(p.t)
	active := map[string]int{}
	for _, item := range out.Items {
		if key, ok := strings.CutPrefix(attr.Text(item, "sk"), "s#"); ok && item["off"] == nil {
			name, _, _ := strings.Cut(key, "#")
			active[name]++
		}
	}
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	for _, item := range out.Items {
		text, of := attr.Text(item, "reply"), attr.Text(item, "sk")+" "+attr.Text(item, "by")
		if item["ping"] != nil { // the messages of a minute are counted with it
			text, of = p.pong(), fmt.Sprintf("ping %v %v", item["min"], item["msgs"])
		}
		if text == "" || p.seen[of] {
			continue
		}
		p.seen[of] = true
		if reply != "" {
			p.t.Errorf("two replies were left: %s and %s", reply, text)
		}
		count := attr.Text(item, "count")
		reply = string(connections.Reply{Frame: []byte(text), Count: channel.Name(count)}.Counting(active[count]))
	}
	return reply
}

// pong is what the ingester answers a ping with, but for the cursor.
func (p *peer) pong() string {
	if p.feed == channel.FeedChannels {
		return `{"channel":"pong"}`
	}
	return `{"type":"pong"}`
}

// says sends a message and fails the test when something else comes back.
func (p *peer) says(body, want string) {
	p.t.Helper()
	if got := p.send(body); got != want {
		p.t.Errorf("%s\ngot  %s\nwant %s", body, got, want)
	}
}

func (p *peer) disconnect() {
	p.t.Helper()
	if status, body := p.invoke(p.event("$disconnect", "", nil)); status != http.StatusOK || body != "" {
		p.t.Errorf("disconnecting: %d %s", status, body)
	}
}

// limited makes a sub-key with limits of connections and subscriptions.
func (w *world) limited(conns, subs int64) apitest.Key {
	w.t.Helper()
	quota := int64(1)
	return w.Issue(w.t, w.Primary, keys.NewSubKey{Name: "limited", MonthlyQuota: &quota, WSConnLimit: conns, WSSubLimit: subs})
}

func (w *world) used(key apitest.Key) connectionstest.Usage {
	w.t.Helper()
	return connectionstest.UsageOf(w.t, w.DB, w.Prefix+schema.ConnectionsTable, key.AccessKey)
}

// events returns what an ingester that starts now receives.
func (w *world) events() (events []connections.Event) {
	w.t.Helper()
	options := w.DB.Options()
	endpoint := storetest.Endpoint(w.t)
	streams := dynamodbstreams.New(dynamodbstreams.Options{
		BaseEndpoint: &endpoint, Region: options.Region, Credentials: options.Credentials, HTTPClient: options.HTTPClient,
	})
	for e := range must.All(w.t, connections.NewFollower(w.conns, w.DB, streams).Follow(w.t.Context())) {
		if _, ok := e.(connections.Live); ok {
			return events
		}
		events = append(events, e)
	}
	return events
}
