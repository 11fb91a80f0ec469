package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/gate/admission"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/gate/connections/connectionstest"
)

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
