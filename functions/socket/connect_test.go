package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/gate/admission"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/gate/connections/connectionstest"
	"quotary/shared/gate/keys"
	"quotary/shared/store/schema"
	"quotary/shared/testing/must"
)

func TestTheConnectionOverTheLimitIsRefusedOnEveryFeed(t *testing.T) {
	t.Parallel()
	w := open(t)
	key := w.limited(4, 0)
	var peers []*peer
	feeds := []channel.Feed{channel.FeedChannels, channel.FeedFills, channel.FeedFilledOrders, channel.FeedClearinghouseState}
	for _, feed := range feeds {
		peers = append(peers, w.connect(key, feed))
	}
	for _, feed := range feeds {
		if _, status, message := w.dial(key, feed, ""); status != http.StatusTooManyRequests || message != "ws connection limit exceeded for sub key" {
			t.Errorf("%s: %d %s", feed, status, message)
		}
	}
	peers[1].disconnect()
	peers[1].disconnect() // the gateway may repeat it
	if _, status, message := w.dial(key, channel.FeedChannels, ""); status != http.StatusOK {
		t.Errorf("after a disconnect: %d %s", status, message)
	}
	if _, status, _ := w.dial(key, channel.FeedChannels, ""); status != http.StatusTooManyRequests {
		t.Errorf("one slot let two connect: %d", status)
	}
	w.connect(w.SubKey, channel.FeedChannels) // without limits
}

func TestTheDistributorsLimitHoldsForAllItsKeys(t *testing.T) {
	t.Parallel()
	w := open(t)
	d := w.Register(t, keys.Preset{Name: "Small", Level: "all", MaxSubKeys: 5, WSConnLimit: 2})
	must.Do(t, w.Keys.PutLevel(t.Context(), d.AccessKey, "all", allowed()))
	quota := int64(1)
	one := w.Issue(t, d, keys.NewSubKey{Name: "one", MonthlyQuota: &quota})
	two := w.Issue(t, d, keys.NewSubKey{Name: "two", MonthlyQuota: &quota})
	w.connect(one, channel.FeedChannels)
	w.connect(two, channel.FeedChannels)
	for _, key := range []apitest.Key{one, two} {
		if _, status, message := w.dial(key, channel.FeedFills, ""); status != http.StatusTooManyRequests {
			t.Errorf("%d %s", status, message)
		}
	}
}

// The ingester counts, and there is none.
func TestWhileWhatWasOpenBeforeALimitIsNotCountedNothingGetsIn(t *testing.T) {
	t.Parallel()
	w := open(t)
	key := w.limited(0, 0)
	p := w.connect(key, channel.FeedChannels)
	limit := int64(3)
	must.Do(t, w.Keys.UpdateSubKey(t.Context(), w.Primary.AccessKey, keys.SubKeyChange{AccessKey: key.AccessKey, WSConnLimit: &limit, WSSubLimit: &limit}))
	const counting = "what was open before the limit was set is being counted: try again in a few seconds"
	var handshake sync.WaitGroup
	handshake.Go(func() {
		if _, status, message := w.dial(key, channel.FeedChannels, ""); status != http.StatusServiceUnavailable || message != counting {
			t.Errorf("%d %s", status, message)
		}
	})
	p.errs(subscribeTo(`{"type":"trades","coin":"BTC"}`), counting)
	handshake.Wait()
	if used := w.used(key); used != (connectionstest.Usage{Connections: 1}) {
		t.Errorf("used %+v", used)
	}
}

func TestAConnectionIsRecorded(t *testing.T) {
	t.Parallel()
	w := open(t)
	p, status, message := w.dial(w.SubKey, channel.FeedClearinghouseState, "dex=xyz&AccessKeyId=x")
	if status != http.StatusOK {
		t.Fatal(status, message)
	}
	list, err := w.conns.List(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	want := connections.Connection{
		ID: p.id, Key: w.SubKey.AccessKey, Distributor: w.Primary.AccessKey, Feed: channel.FeedClearinghouseState,
		Dex: "xyz", Endpoint: w.url, At: apitest.Start, Seen: apitest.Start,
	}
	if list[0] != want {
		t.Errorf("recorded %+v, want %+v", list[0], want)
	}
}

func TestHandshakesThatAreRefused(t *testing.T) {
	t.Parallel()
	w := open(t)
	for name, tt := range map[string]struct {
		change func(*peer)
		query  string
		feed   channel.Feed
		status int
		reason catalog.Reason
		says   string
	}{
		"no authorizer":       {change: func(p *peer) { p.context = nil }, status: 401, reason: catalog.ReasonSignatureMissing, says: "did not pass the authorizer"},
		"signature in a body": {change: func(p *peer) { p.context = admission.BodyContext() }, status: 401, reason: catalog.ReasonSignatureMissing, says: "in the query"},
		"replay": {change: func(p *peer) {
			p.context = admission.RefusedContext(&admission.Refusal{Reason: catalog.ReasonNonceUsed, Message: "nonce already used"})
		}, status: 401, reason: catalog.ReasonNonceUsed, says: "nonce already used"},
		"a lost limit":  {change: func(p *peer) { delete(p.context, "wsConnLimit") }, status: 401, reason: catalog.ReasonSignatureMissing, says: "authorizer"},
		"malformed dex": {feed: channel.FeedClearinghouseState, query: "dex=a%2Fb", status: 400, reason: catalog.ReasonBadParameter, says: "dex must be"},
		"overlong dex":  {feed: channel.FeedClearinghouseState, query: "dex=" + strings.Repeat("a", 33), status: 400, reason: catalog.ReasonBadParameter, says: "dex must be"},
		"two dexes":     {feed: channel.FeedClearinghouseState, query: "dex=a&dex=b", status: 400, reason: catalog.ReasonBadParameter, says: "more than once"},
	} {
		if tt.feed == "" {
			tt.feed = channel.FeedChannels
		}
		p := w.peer(w.SubKey, tt.feed)
		if tt.change != nil {
			tt.change(p)
		}
		event := p.event("$connect", "", nil)
		if tt.query != "" {
			event.MultiValueQueryStringParameters = map[string][]string{}
			for pair := range strings.SplitSeq(tt.query, "&") {
				_, value, _ := strings.Cut(pair, "=")
				value = strings.ReplaceAll(value, "%2F", "/")
				event.MultiValueQueryStringParameters["dex"] = append(event.MultiValueQueryStringParameters["dex"], value)
			}
		}
		w.logs.Reset()
		status, body := p.invoke(event)
		if !strings.Contains(w.logs.String(), fmt.Sprintf(`"reason":%q`, tt.reason)) {
			t.Errorf("%s: the log line has another reason than %s: %s", name, tt.reason, w.logs)
		}
		if status != tt.status || !strings.Contains(body, tt.says) || !strings.Contains(body, `"success":false`) || !strings.Contains(body, "test-request") {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	if list, err := w.conns.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("a refused handshake left %v, %v", list, err)
	}
}

func TestAFaultOfTheTableIsA500WithoutDetails(t *testing.T) {
	t.Parallel()
	w := open(t)
	p := w.peer(w.SubKey, channel.FeedChannels)
	w.socket.store = connections.New(w.DB, "no-such-table", w.Now)
	w.socket.meter = connections.NewMeter(w.socket.store, budget)
	status, body := p.invoke(p.event("$connect", "", nil))
	if status != http.StatusInternalServerError || strings.Contains(body, "table") || !strings.Contains(body, "internal error") {
		t.Errorf("%d %s", status, body)
	}
	if !strings.Contains(w.logs.String(), `"level":"ERROR"`) {
		t.Error("the fault is not in the log")
	}
	if got := p.send(`{"method":"ping"}`); !strings.Contains(got, `"error":"internal error`) || strings.Contains(got, "table") {
		t.Errorf("a message: %s", got)
	}
	if status, _ := p.invoke(p.event("$disconnect", "", nil)); status != http.StatusInternalServerError {
		t.Errorf("a disconnect: %d", status)
	}
}

func TestAnAPIWithoutAFeedIsAFault(t *testing.T) {
	t.Parallel()
	w := open(t)
	p := w.peer(w.SubKey, "prices")
	for _, route := range []string{"$connect", "$default", "$disconnect"} {
		if status, body := p.invoke(p.event(route, "", nil)); status != http.StatusInternalServerError || body != "" {
			t.Errorf("%s: %d %s", route, status, body)
		}
	}
}

func TestTheManagementAPIIsFoundWithoutItsVariable(t *testing.T) {
	t.Parallel()
	w := open(t)
	event := w.peer(w.SubKey, channel.FeedChannels).event("$connect", "", nil)
	delete(event.StageVariables, "management")
	if got := endpoint(&event); got != "https://example.com/api" {
		t.Errorf("endpoint %s", got)
	}
}

func TestADisconnectFreesEverything(t *testing.T) {
	t.Parallel()
	w := open(t)
	p := w.connect(w.SubKey, channel.FeedFills)
	p.says(`{"type":"subscribe","address":["`+alice+`"]}`, `{"type":"subscribe"}`)
	if used := w.used(w.SubKey); used != (connectionstest.Usage{Connections: 1, Subscriptions: 1}) {
		t.Errorf("used %+v", used)
	}
	p.disconnect()
	if used := w.used(w.SubKey); used != (connectionstest.Usage{}) {
		t.Errorf("used %+v", used)
	}
}

func TestEveryMessageKeepsTheConnection(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"method":"ping"}`, `nonsense`, `{"method":"subscribe","subscription":{"type":"bbo","coin":"BTC"}}`,
		`{"method":"subscribe","subscription":{"type":"bbo","coin":"ETH"}}`, `{"method":"unsubscribe","subscription":{"type":"trades","coin":"BTC"}}`,
	} {
		w := open(t)
		p := w.connect(w.limited(0, 1), channel.FeedChannels)
		if body == `{"method":"subscribe","subscription":{"type":"bbo","coin":"ETH"}}` { // over the limit
			p.send(`{"method":"subscribe","subscription":{"type":"bbo","coin":"BTC"}}`)
		}
		w.Move(30 * time.Second)
		p.send(body)
		list, err := w.conns.List(t.Context())
		if err != nil || len(list) != 1 || !list[0].Seen.Equal(apitest.Start.Add(30*time.Second)) {
			t.Errorf("%s: %+v, %v", body, list, err)
		}
	}
}

// stalled is a network that never answers.
type stalled struct{}

func (stalled) Do(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestAStalledStoreIsAnsweredAndLoggedBeforeTheInvocationEnds(t *testing.T) {
	t.Parallel()
	w := open(t)
	p := w.peer(w.SubKey, channel.FeedChannels)
	options := w.DB.Options()
	options.HTTPClient = stalled{}
	w.socket.store = connections.New(dynamodb.New(options), w.Prefix+schema.ConnectionsTable, w.Now)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	res, err := w.socket.Invoke(ctx, p.event("$connect", "", nil))
	if err != nil || res.StatusCode != http.StatusInternalServerError {
		t.Errorf("%d %s, %v", res.StatusCode, res.Body, err)
	}
	if ctx.Err() != nil {
		t.Error("nothing was left of the invocation's time")
	}
	if !strings.Contains(w.logs.String(), `"status":500`) {
		t.Errorf("the log says %s", w.logs)
	}
}
