package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/api/apitest"
	"quotary/shared/aws/attr"
	"quotary/shared/catalog"
	"quotary/shared/data/meta"
	"quotary/shared/data/mids"
	"quotary/shared/data/tickers"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/gate/connections/connectionstest"
	"quotary/shared/gate/keys"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
	"quotary/shared/text/strictjson"
)

const (
	alice = "0xa11ce00000000000000000000000000000000001"
	bob   = "0xb0b0000000000000000000000000000000000002"
)

func allowed() keys.LevelSettings {
	return keys.Allow(catalog.Actions()...)
}

func subscribeTo(subscription string) string {
	return `{"method":"subscribe","subscription":` + subscription + `}`
}

func unsubscribeFrom(subscription string) string {
	return `{"method":"unsubscribe","subscription":` + subscription + `}`
}

func response(method, subscription, status string, active int) string {
	return fmt.Sprintf(`{"channel":"subscriptionResponse","data":{"method":%q,"subscription":%s,"status":%q,"activeCount":%d}}`,
		method, subscription, status, active)
}

func TestHeartbeatsOfTheChannels(t *testing.T) {
	t.Parallel()
	w := open(t)
	p := w.connect(w.SubKey, channel.FeedChannels)
	p.says(`{"method":"ping"}`, `{"channel":"pong"}`)
	p.says(` {"method" : "ping"} `, `{"channel":"pong"}`)
}

// TestSubscriptionsMoveThroughTheirStates walks the state table of every
// channel of a market.
func TestSubscriptionsMoveThroughTheirStates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ one, other string }{
		{`{"type":"trades","coin":"BTC"}`, `{"type":"trades","coin":"xyz:GOLD"}`},
		{`{"type":"bbo","coin":"@107"}`, `{"type":"bbo","coin":"PURR/USDC"}`},
		{`{"type":"l2Book","coin":"BTC"}`, `{"type":"l2Book","coin":"BTC","nSigFigs":5}`},
		{`{"type":"l2Book","coin":"BTC","nSigFigs":5,"mantissa":2}`, `{"type":"l2Book","coin":"BTC","nSigFigs":5,"mantissa":5}`},
		{`{"type":"l2Book","coin":"BTC"}`, `{"type":"l2Book","coin":"BTC","fast":true}`},
		{`{"type":"candle","coin":"BTC","interval":"1m"}`, `{"type":"candle","coin":"BTC","interval":"15s"}`},
		{`{"type":"liquidations"}`, `{"type":"liquidations","coin":"BTC"}`},
		{`{"type":"liquidations","minValue":1000}`, `{"type":"liquidations","minValue":"1000.5","coin":"xyz:GOLD"}`},
	} {
		t.Run(tt.one, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			p := w.connect(w.SubKey, channel.FeedChannels)
			p.says(unsubscribeFrom(tt.one), response("unsubscribe", tt.one, "notSubscribed", 0))
			p.says(subscribeTo(tt.one), response("subscribe", tt.one, "subscribed", 1))
			p.says(subscribeTo(tt.one), response("subscribe", tt.one, "alreadySubscribed", 1))
			p.says(subscribeTo(tt.other), response("subscribe", tt.other, "subscribed", 2))
			p.says(subscribeTo(tt.other), response("subscribe", tt.other, "alreadySubscribed", 2))
			if used := w.used(w.SubKey); used.Subscriptions != 2 {
				t.Errorf("used %+v", used)
			}
			p.says(unsubscribeFrom(tt.one), response("unsubscribe", tt.one, "unsubscribed", 1))
			p.says(unsubscribeFrom(tt.one), response("unsubscribe", tt.one, "notSubscribed", 1))
			p.says(unsubscribeFrom(tt.other), response("unsubscribe", tt.other, "unsubscribed", 0))
			if used := w.used(w.SubKey); used.Subscriptions != 0 {
				t.Errorf("used %+v", used)
			}
		})
	}
}

func TestCountsAreOfTheChannelAndTheConnection(t *testing.T) {
	t.Parallel()
	w := open(t)
	p, q := w.connect(w.SubKey, channel.FeedChannels), w.connect(w.SubKey, channel.FeedChannels)
	p.send(subscribeTo(`{"type":"trades","coin":"BTC"}`))
	p.send(subscribeTo(`{"type":"bbo","coin":"BTC"}`))
	q.send(subscribeTo(`{"type":"bbo","coin":"ETH"}`))
	const sub = `{"type":"bbo","coin":"BTC"}`
	p.says(subscribeTo(sub), response("subscribe", sub, "alreadySubscribed", 1))
}

func TestASubscriptionIsEchoedAsItWasSent(t *testing.T) {
	t.Parallel()
	w := open(t)
	p := w.connect(w.SubKey, channel.FeedChannels)
	p.says(`{"subscription": {"coin": "BTC", "nSigFigs": null, "mantissa":null, "type": "l2Book"}, "method": "unsubscribe"}`,
		response("unsubscribe", `{"coin":"BTC","nSigFigs":null,"mantissa":null,"type":"l2Book"}`, "notSubscribed", 0))
}

// Clients of the venue and of services like this one send members that belong to others.
func TestUnknownMembersAreIgnored(t *testing.T) {
	t.Parallel()
	w := open(t)
	p := w.connect(w.SubKey, channel.FeedChannels)
	p.says(`{"method":"ping","id":7}`, `{"channel":"pong"}`)
	const first, second = `{"type":"trades","coin":"BTC"}`, `{"type":"bbo","coin":"BTC","fast":true,"user":{"a":[1]}}`
	p.says(`{"method":"subscribe","subscription":`+first+`,"id":7}`, response("subscribe", first, "subscribed", 1))
	p.says(`{"id":"x","method":"subscribe","subscription":`+second+`}`, response("subscribe", second, "subscribed", 1))
	const plain = `{"type":"bbo","coin":"BTC"}`
	p.says(subscribeTo(plain), response("subscribe", plain, "alreadySubscribed", 1))
	p.says(`{"method":"unsubscribe","subscription":`+first+`,"id":8}`, response("unsubscribe", first, "unsubscribed", 0))
}

// Replies repeat a subscription, whatever stands in it.
func TestASubscriptionIsAsLongAsRepliesCarry(t *testing.T) {
	t.Parallel()
	w := open(t)
	p := w.connect(w.SubKey, channel.FeedChannels)
	sub := func(n int) string {
		return `{"type":"bbo","coin":"BTC","id":"` + strings.Repeat("x", n-len(`{"type":"bbo","coin":"BTC","id":""}`)) + `"}`
	}
	p.says(subscribeTo(strings.Repeat(" ", 2*channel.MostText)+sub(channel.MostText)), response("subscribe", sub(channel.MostText), "subscribed", 1))
	if got := p.send(subscribeTo(sub(channel.MostText + 1))); !strings.Contains(got, "subscription is too long: at most 1024 bytes are accepted") {
		t.Error(got)
	}
}

func TestSpellingsOfOneKey(t *testing.T) {
	t.Parallel()
	w := open(t)
	p := w.connect(w.SubKey, channel.FeedChannels)
	p.send(subscribeTo(`{"type":"l2Book","coin":"BTC","nSigFigs":5,"mantissa":1}`))
	for sub, status := range map[string]string{
		`{"coin":"BTC","type":"l2Book","nSigFigs":5}`:                 "alreadySubscribed",
		`{"type":"l2Book","coin":"BTC","nSigFigs":5,"mantissa":null}`: "alreadySubscribed",
		`{"type":"l2Book","coin":"BTC","nSigFigs":5,"fast":false}`:    "alreadySubscribed",
	} {
		p.says(subscribeTo(sub), response("subscribe", sub, status, 1))
	}
	const lower = `{"type":"l2Book","coin":"btc"}`
	p.says(subscribeTo(lower), response("subscribe", lower, "subscribed", 2)) // upper and lower case differ
}

func TestTheSubscriptionOverTheLimitIsNotMade(t *testing.T) {
	t.Parallel()
	w := open(t)
	key := w.limited(0, 2)
	p, q := w.connect(key, channel.FeedChannels), w.connect(key, channel.FeedFills)
	const refused = `{"error":"subscription limit exceeded","limit":2,"current":2}`
	p.says(subscribeTo(`{"type":"bbo","coin":"BTC"}`), response("subscribe", `{"type":"bbo","coin":"BTC"}`, "subscribed", 1))
	q.says(`{"type":"subscribe","address":["`+alice+`","`+bob+`"]}`, `{"type":"subscribe"}`)
	p.says(subscribeTo(`{"type":"bbo","coin":"ETH"}`), refused)
	q.says(`{"type":"subscribe","address":["0x0000000000000000000000000000000000000003"]}`, refused)
	p.says(subscribeTo(`{"type":"bbo","coin":"BTC"}`), response("subscribe", `{"type":"bbo","coin":"BTC"}`, "alreadySubscribed", 1))
	p.says(unsubscribeFrom(`{"type":"bbo","coin":"ETH"}`), response("unsubscribe", `{"type":"bbo","coin":"ETH"}`, "notSubscribed", 1))
	p.says(unsubscribeFrom(`{"type":"bbo","coin":"BTC"}`), response("unsubscribe", `{"type":"bbo","coin":"BTC"}`, "unsubscribed", 0))
	p.says(subscribeTo(`{"type":"bbo","coin":"ETH"}`), response("subscribe", `{"type":"bbo","coin":"ETH"}`, "subscribed", 1))
	q.disconnect()
	p.says(subscribeTo(`{"type":"bbo","coin":"SOL"}`), response("subscribe", `{"type":"bbo","coin":"SOL"}`, "subscribed", 2))
}

// TestLimitsAreThoseInForceNow changes the limit of a sub-key under an open connection:
// what it has beyond a lowered one it keeps, and gets nothing more.
func TestLimitsAreThoseInForceNow(t *testing.T) {
	t.Parallel()
	w := open(t)
	key := w.limited(0, 2)
	p, q := w.connect(key, channel.FeedChannels), w.connect(key, channel.FeedFills)
	limit := func(n int64) {
		t.Helper()
		must.Do(t, w.Keys.UpdateSubKey(t.Context(), w.Primary.AccessKey, keys.SubKeyChange{AccessKey: key.AccessKey, WSSubLimit: &n}))
	}
	trades := func(coin string) string { return fmt.Sprintf(`{"type":"trades","coin":%q}`, coin) }
	for i, coin := range []string{"BTC", "ETH"} {
		p.says(subscribeTo(trades(coin)), response("subscribe", trades(coin), "subscribed", i+1))
	}
	limit(1)
	const refused = `{"error":"subscription limit exceeded","limit":1,"current":2}`
	p.says(subscribeTo(trades("SOL")), refused)
	q.says(message("subscribe", alice), refused)
	if used := w.used(key); used.Subscriptions != 2 {
		t.Errorf("used %+v", used)
	}
	p.says(unsubscribeFrom(trades("ETH")), response("unsubscribe", trades("ETH"), "unsubscribed", 1))
	p.says(subscribeTo(trades("SOL")), `{"error":"subscription limit exceeded","limit":1,"current":1}`)
	limit(3)
	p.says(subscribeTo(trades("SOL")), response("subscribe", trades("SOL"), "subscribed", 2))
	q.says(message("subscribe", alice), `{"type":"subscribe"}`)
}

func TestWhoMayNotFollowAFeedAnyLongerGetsNoSubscription(t *testing.T) {
	t.Parallel()
	w := open(t)
	p, q := w.connect(w.SubKey, channel.FeedChannels), w.connect(w.SubKey, channel.FeedFills)
	must.Do(t, w.Keys.PutLevel(t.Context(), w.Primary.AccessKey, "all", keys.Allow(channel.FeedFills.Action())))
	p.errs(subscribeTo(`{"type":"trades","coin":"BTC"}`), "the subscription is refused: the level of the sub-key does not permit the feed")
	q.says(message("subscribe", alice), `{"type":"subscribe"}`)
	if used := w.used(w.SubKey); used != (connectionstest.Usage{Connections: 2, Subscriptions: 1}) {
		t.Errorf("used %+v", used)
	}
	secret := must.Get(w.Keys.ResetSecret(t.Context(), w.Primary.AccessKey, w.SubKey.AccessKey))(t)
	q.says(message("subscribe", bob), `{"error":"the subscription is refused: the secret of the sub-key was reset"}`)
	w.connect(apitest.Key{AccessKey: w.SubKey.AccessKey, Secret: string(secret)}, channel.FeedFills).says(message("subscribe", alice), `{"type":"subscribe"}`)
}

// What a feed shows of an endpoint's content takes the action of that too; the rest goes on.
func TestAChannelWhoseContentTheKeyMayNotReadIsRefusedAlone(t *testing.T) {
	t.Parallel()
	w := open(t)
	must.Do(t, w.Keys.PutLevel(t.Context(), w.Primary.AccessKey, "all", keys.Allow(channel.FeedChannels.Action())))
	p := w.connect(w.SubKey, channel.FeedChannels)
	if got := p.send(subscribeTo(`{"type":"liquidations"}`)); !strings.Contains(got, `"error":"the subscription is refused: the level of the sub-key does not list the action HL_LIQUIDATIONS_TOP_POSITIONS"`) {
		t.Error(got)
	}
	if used := w.used(w.SubKey); used.Subscriptions != 0 {
		t.Errorf("used %+v", used)
	}
	const other = `{"type":"trades","coin":"BTC"}`
	p.says(subscribeTo(other), response("subscribe", other, "subscribed", 1))
}

func TestACoinThatDoesNotExistIsRefusedAndNotCounted(t *testing.T) {
	t.Parallel()
	w := open(t)
	storetest.Publish(t, w.views, mids.Published, mids.View{Mids: map[string]map[string]string{
		"": {"BTC": "1", "@107": "1", "PURR/USDC": "1", "#12": "1"}, "xyz": {"xyz:GOLD": "1"}}})
	storetest.Publish(t, w.views, tickers.Published, tickers.View{Tickers: []tickers.Ticker{{Coin: "OLD", Price: "1"}}})
	storetest.Publish(t, w.views, meta.Published, meta.View{Perps: map[string]json.RawMessage{"": json.RawMessage(`{"universe":[{"name":"NEW","szDecimals":1}]}`)}})
	p := w.connect(w.SubKey, channel.FeedChannels)
	there := []string{"BTC", "@107", "PURR/USDC", "#12", "xyz:GOLD", "OLD", "NEW"}
	for i, coin := range there {
		sub := fmt.Sprintf(`{"type":"l2Book","coin":%q}`, coin)
		p.says(subscribeTo(sub), response("subscribe", sub, "subscribed", i+1))
	}
	for _, coin := range []string{"btc", "@108", "PURR", "#13", "xyz:SILVER", "abc:GOLD", "NOPE"} {
		for _, sub := range []string{`{"type":"trades","coin":%q}`, `{"type":"bbo","coin":%q}`, `{"type":"l2Book","coin":%q}`, `{"type":"candle","coin":%q,"interval":"1m"}`} {
			p.errs(subscribeTo(fmt.Sprintf(sub, coin)), fmt.Sprintf("there is no coin %q: coin must be a name as GET /upgrade/v2/hl/tickers lists it (for example BTC, dex:GOLD, PURR/USDC, @107 or #12)", coin))
		}
	}
	of := func(dex string) string { return `{"type":"openOrders","user":"` + alice + `","dex":"` + dex + `"}` }
	p.errs(subscribeTo(of("abc")), `unknown dex "abc": it must be the name of a perpetual dex, or absent for the main one`)
	if _, status, message := w.dial(w.SubKey, channel.FeedClearinghouseState, "dex=abc"); status != http.StatusBadRequest || !strings.Contains(message, `unknown dex "abc"`) {
		t.Errorf("%d %s", status, message)
	}
	w.connect(w.SubKey, channel.FeedClearinghouseState)
	const gone = `{"type":"trades","coin":"NOPE"}` // a coin may vanish
	p.says(unsubscribeFrom(gone), response("unsubscribe", gone, "notSubscribed", 0))
	if used := w.used(w.SubKey); used.Subscriptions != int64(len(there)) {
		t.Errorf("used %+v", used)
	}
}

func TestEveryCoinIsAcceptedWhileItIsNotKnownWhichThereAre(t *testing.T) {
	t.Parallel()
	const sub = `{"type":"trades","coin":"NOPE"}`
	for name, publish := range map[string]func(t *testing.T, w *world){
		"nothing is published": func(*testing.T, *world) {},
		"no description is":    func(t *testing.T, w *world) { storetest.Publish(t, w.views, mids.Published, mids.View{}) },
		"no price is":          func(t *testing.T, w *world) { storetest.Publish(t, w.views, meta.Published, meta.View{}) },
		"a view is damaged": func(t *testing.T, w *world) {
			storetest.Publish(t, w.views, store.ViewType[int]{Name: mids.Name, Write: func(int) []byte { return []byte(`[`) }}, 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			publish(t, w)
			w.connect(w.SubKey, channel.FeedChannels).says(subscribeTo(sub), response("subscribe", sub, "subscribed", 1))
		})
	}
}

func TestAWalletChannelFollowsOneAccountPerConnection(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"userFills", "userNonFundingLedgerUpdates", "clearinghouseState", "openOrders"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			p := w.connect(w.SubKey, channel.FeedChannels)
			upper := strings.ToUpper(alice[2:])
			one := fmt.Sprintf(`{"type":%q,"user":"0x%s"}`, name, upper)
			other := fmt.Sprintf(`{"type":%q,"user":%q}`, name, bob)
			echo := func(method, sub string) string {
				return fmt.Sprintf(`{"channel":"subscriptionResponse","data":{"method":%q,"subscription":%s}}`, method, sub)
			}
			busy := fmt.Sprintf("%s follows %s on this connection, which takes one account per channel: unsubscribe that first, or use another connection", name, alice)
			p.says(unsubscribeFrom(one), echo("unsubscribe", one))
			p.says(subscribeTo(one), echo("subscribe", one))
			p.says(subscribeTo(one), echo("subscribe", one))
			p.errs(subscribeTo(other), busy)
			p.errs(unsubscribeFrom(other), busy)
			q := w.connect(w.SubKey, channel.FeedChannels)
			q.says(subscribeTo(other), echo("subscribe", other))
			followed := map[string]string{}
			for _, e := range w.events() {
				if s, ok := e.(connections.Subscribed); ok {
					followed[s.Connection] = s.User
				}
			}
			if len(followed) != 2 || followed[p.id] != alice || followed[q.id] != bob {
				t.Errorf("the ingester finds %v", followed)
			}
			p.says(unsubscribeFrom(one), echo("unsubscribe", one))
			p.says(subscribeTo(other), echo("subscribe", other))
		})
	}
}

// The gateway hands both messages to the function at once, and the later one may be
// carried out first.
func TestAClientSwitchesAccountsWithTwoMessagesAtOnce(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.socket.switchWithin = time.Minute
	p := w.connect(w.SubKey, channel.FeedChannels)
	one, other := `{"type":"userFills","user":"`+alice+`"}`, `{"type":"userFills","user":"`+bob+`"}`
	p.send(subscribeTo(one))
	leave, join := p.event("$default", unsubscribeFrom(one), nil), p.event("$default", subscribeTo(other), nil)
	var joining sync.WaitGroup
	joining.Go(func() { p.invoke(join) })
	p.invoke(leave)
	joining.Wait()
	followed := ""
	for _, e := range w.events() {
		if s, ok := e.(connections.Subscribed); ok {
			followed = s.User
		}
	}
	if followed != bob {
		t.Errorf("%q is followed", followed)
	}
}

// Whoever waits holds an instance of the function.
func TestOneMessageOfAConnectionWaitsForAnAccountToBeLeft(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.socket.switchWithin = 5 * time.Second
	p := w.connect(w.SubKey, channel.FeedChannels)
	one, other := `{"type":"userFills","user":"`+alice+`"}`, `{"type":"userFills","user":"`+bob+`"}`
	p.send(subscribeTo(one))
	leave, join := p.event("$default", unsubscribeFrom(one), nil), p.event("$default", subscribeTo(other), nil)
	joined := make(chan struct{})
	go func() { defer close(joined); p.invoke(join) }()
	testenv.Until(t, "the first one waits", func() bool {
		out, err := w.DB.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(w.Prefix + schema.ConnectionsTable), ConsistentRead: aws.Bool(true),
			Key: attr.Item{"pk": attr.S("m#" + p.id), "sk": attr.S("wait#userFills")}})
		return err == nil && len(out.Item) > 0
	})
	for range 3 {
		p.errs(subscribeTo(other), "userFills follows "+alice+" on this connection, which takes one account per channel: unsubscribe that first, or use another connection")
		select {
		case <-joined:
			t.Fatal("another message was held as long as the first one")
		default:
		}
	}
	p.invoke(leave)
	<-joined
	followed := ""
	for _, e := range w.events() {
		if s, ok := e.(connections.Subscribed); ok {
			followed = s.User
		}
	}
	if followed != bob {
		t.Errorf("%q is followed", followed)
	}
	if may, err := w.conns.MayWait(t.Context(), connections.Message{Connection: p.id}, channel.Subscription{Type: channel.UserFills}); !may || err != nil {
		t.Errorf("behind a wait that was not in vain: %t, %v", may, err)
	}
}

func TestAWalletChannelOfAnotherDexIsAnotherAccount(t *testing.T) {
	t.Parallel()
	w := open(t)
	p := w.connect(w.SubKey, channel.FeedChannels)
	p.send(subscribeTo(`{"type":"openOrders","user":"` + alice + `","dex":"xyz"}`))
	if got := p.send(subscribeTo(`{"type":"openOrders","user":"` + alice + `"}`)); !strings.Contains(got, alice+" on dex xyz") {
		t.Error(got)
	}
}

// errs sends a message and requires that it is refused with a reason, in a form
// that the venue's clients know for an error of that message.
func (p *peer) errs(body, want string) {
	p.t.Helper()
	var reply struct{ Channel, Data, Error string }
	got := p.send(body)
	err := json.Unmarshal([]byte(got), &reply)
	if err != nil || reply.Error != want || reply.Channel != "error" || !strings.HasPrefix(reply.Data, want) {
		p.t.Errorf("%s\ngot  %s\nwant %s", body, got, want)
	}
	if quoted := strings.TrimPrefix(reply.Data, want); json.Valid([]byte(body)) != (quoted == ": "+body) {
		p.t.Errorf("%s is quoted as %s", body, quoted)
	}
}

func TestAnErrorQuotesNoLongMessage(t *testing.T) {
	t.Parallel()
	long := `{"method":"` + strings.Repeat("x", maxQuoted) + `"}`
	for feed, data := range map[channel.Feed]string{channel.FeedChannels: `{"channel":"error","data":"no","error":"no"}`, channel.FeedFills: `{"error":"no"}`} {
		if got := string(errorObject(feed, "no", long)); got != data {
			t.Errorf("%s: %s", feed, got)
		}
	}
}

func TestMistakesOnTheChannelsAreNamed(t *testing.T) {
	t.Parallel()
	w := open(t)
	p := w.connect(w.SubKey, channel.FeedChannels)
	for body, want := range map[string]string{
		``:                                       "the message must be one JSON object",
		`[]`:                                     "the message must be one JSON object",
		`null`:                                   "the message must be one JSON object",
		`"ping"`:                                 "the message must be one JSON object",
		`{"method":"ping"`:                       "the message must be one JSON object",
		`{"method":"ping"} x`:                    "the message must be one JSON object",
		`{"method":"ping",}`:                     "the message must be one JSON object",
		`{"method":"ping"}{}`:                    "the message must be one JSON object",
		`{"method":1}`:                           "unknown method 1: accepted are subscribe, unsubscribe, ping",
		`{"method":null}`:                        "unknown method null: accepted are subscribe, unsubscribe, ping",
		`{}`:                                     "method is missing: accepted are subscribe, unsubscribe, ping",
		`{"method":"post"}`:                      `unknown method "post": accepted are subscribe, unsubscribe, ping`,
		`{"Method":"ping"}`:                      "method is missing: accepted are subscribe, unsubscribe, ping",
		`{"type":"ping"}`:                        "method is missing: accepted are subscribe, unsubscribe, ping",
		`{"method":"subscribe"}`:                 "subscription is missing: it must be a JSON object with the member type",
		`{"method":"ping","method":"subscribe"}`: `the message gives "method" twice`,
		subscribeTo(`"bbo"`):                     "subscription must be one JSON object",
		subscribeTo(`null`):                      "subscription must be one JSON object",
		subscribeTo(`{}`):                        "type is missing: accepted are trades, openOrders, clearinghouseState, l2Book, bbo, candle, userFills, userNonFundingLedgerUpdates, allMids, activeAssetCtx, orderUpdates, userEvents, userFundings, liquidations, whaleEvents",
		subscribeTo(`{"type":"nothing"}`):        `unknown type "nothing": accepted are trades, openOrders, clearinghouseState, l2Book, bbo, candle, userFills, userNonFundingLedgerUpdates, allMids, activeAssetCtx, orderUpdates, userEvents, userFundings, liquidations, whaleEvents`,
		subscribeTo(`{"type":"bbo"}`):            "coin is missing: it must be a coin name of 1 to 32 letters, digits or @:/_.- (for example BTC, dex:GOLD, PURR/USDC or @107)",
		subscribeTo(`{"type":"bbo","coin":"B C"}`):                                        `coin "B C" is not accepted: it must be a coin name of 1 to 32 letters, digits or @:/_.- (for example BTC, dex:GOLD, PURR/USDC or @107)`,
		subscribeTo(`{"type":"bbo","coin":""}`):                                           `coin "" is not accepted: it must be a coin name of 1 to 32 letters, digits or @:/_.- (for example BTC, dex:GOLD, PURR/USDC or @107)`,
		subscribeTo(`{"type":"bbo","coin":["BTC"]}`):                                      `coin ["BTC"] is not accepted: it must be a coin name of 1 to 32 letters, digits or @:/_.- (for example BTC, dex:GOLD, PURR/USDC or @107)`,
		subscribeTo(`{"type":"bbo","coin":"A#B"}`):                                        `coin "A#B" is not accepted: it must be a coin name of 1 to 32 letters, digits or @:/_.- (for example BTC, dex:GOLD, PURR/USDC or @107)`,
		subscribeTo(`{"type":"l2Book","coin":"BTC","fast":"yes"}`):                        `fast "yes" is not accepted: it must be true or false`,
		subscribeTo(`{"type":"liquidations","coin":"@107"}`):                              "coin @107 is not accepted: it must be a perpetual, such as BTC or dex:GOLD, or absent for all of them",
		subscribeTo(`{"type":"liquidations","minValue":-1}`):                              "minValue -1 is not accepted: it must be a value in US dollars, 0 or more, such as 100000",
		subscribeTo(`{"type":"liquidations","minValue":"much"}`):                          `minValue "much" is not accepted: it must be a value in US dollars, 0 or more, such as 100000`,
		subscribeTo(`{"type":"liquidations","minValue":{}}`):                              "minValue {} is not accepted: it must be a value in US dollars, 0 or more, such as 100000",
		subscribeTo(`{"type":"liquidations","cursor":"x"}`):                               `cursor "x" is not accepted: it must be the cursor of an earlier frame, reply or answer`,
		subscribeTo(`{"type":"l2Book","coin":"BTC","nSigFigs":6}`):                        "nSigFigs 6 is not accepted: it must be one of 2, 3, 4, 5",
		subscribeTo(`{"type":"l2Book","coin":"BTC","nSigFigs":0}`):                        "nSigFigs 0 is not accepted: it must be one of 2, 3, 4, 5",
		subscribeTo(`{"type":"l2Book","coin":"BTC","nSigFigs":"5"}`):                      `nSigFigs "5" is not accepted: it must be one of 2, 3, 4, 5`,
		subscribeTo(`{"type":"l2Book","coin":"BTC","mantissa":2}`):                        "mantissa is accepted with nSigFigs 5 only",
		subscribeTo(`{"type":"l2Book","coin":"BTC","nSigFigs":4,"mantissa":2}`):           "mantissa is accepted with nSigFigs 5 only",
		subscribeTo(`{"type":"l2Book","coin":"BTC","nSigFigs":5,"mantissa":3}`):           "mantissa 3 is not accepted: it must be one of 1, 2, 5",
		subscribeTo(`{"type":"candle","coin":"BTC"}`):                                     "interval is missing: accepted are 1s, 5s, 15s, 1m, 15m, 1h, 4h",
		subscribeTo(`{"type":"candle","coin":"BTC","interval":"1d"}`):                     `unknown interval "1d": accepted are 1s, 5s, 15s, 1m, 15m, 1h, 4h`,
		subscribeTo(`{"type":"userFills"}`):                                               "user is missing: it must be an address: 0x followed by 40 hexadecimal digits",
		subscribeTo(`{"type":"userFills","user":"0x1"}`):                                  `user "0x1" is not accepted: it must be an address: 0x followed by 40 hexadecimal digits`,
		subscribeTo(`{"type":"openOrders","user":"` + alice + `","dex":1}`):               "dex 1 is not accepted: it must be a string",
		subscribeTo(`{"type":"userFills","user":"` + alice + `","aggregateByTime":true}`): "aggregateByTime true is not accepted: fills are pushed one by one, it must be false",
	} {
		p.errs(body, want)
	}
	event := p.event("$default", `eyJtZXRob2QiOiJwaW5nIn0=`, nil)
	event.IsBase64Encoded = true
	if got := p.sendEvent(event); got != `{"channel":"error","data":"a binary message is not accepted: send JSON as text","error":"a binary message is not accepted: send JSON as text"}` {
		t.Errorf("binary: %s", got)
	}
	if got := p.send(strings.Repeat(" ", maxMessage-17) + `{"method":"ping"}`); got != `{"channel":"pong"}` {
		t.Errorf("128 KiB: %s", got)
	}
	if got := p.send(strings.Repeat(" ", maxMessage-16) + `{"method":"ping"}`); !strings.Contains(got, "too large") {
		t.Errorf("over 128 KiB: %s", got)
	}
	if used := w.used(w.SubKey); used != (connectionstest.Usage{Connections: 1}) {
		t.Errorf("mistakes used %+v", used)
	}
	p.says(`{"method":"ping"}`, `{"channel":"pong"}`) // it lives on
}

func FuzzAnyMessageIsAnsweredInJSON(f *testing.F) {
	for _, seed := range []string{`{"method":"ping"}`, subscribeTo(`{"type":"l2Book","coin":"BTC","nSigFigs":5,"mantissa":2}`),
		`{"type":"subscribe","address":["` + alice + `"]}`, `{"method":"\u0000"}`, "{\"method\":\"\xff\"}", `{"a":{"a":[[[1e999]]]}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		m, err := strictjson.Decode([]byte(body), "the message")
		if err == nil {
			var strict map[string]json.RawMessage
			if json.Unmarshal([]byte(body), &strict) != nil || len(strict) != len(m) {
				t.Errorf("%q is read as %v", body, m)
			}
			if sub, err := channel.Decode([]byte(body)); err == nil {
				if key := sub.Key(); strings.Count(key, "#") > 5 || len(key) > 64 {
					t.Errorf("%q has the key %q", body, key)
				}
				response := subscriptionResponse("subscribe", sub.Type, []byte(body), "subscribed").Counting(1)
				if !json.Valid(response) {
					t.Errorf("%q is answered %s", body, response)
				}
			} else if !json.Valid(errorObject(channel.FeedChannels, err.Error(), body)) {
				t.Errorf("%q", body)
			}
			if list, err := addresses([]byte(body)); err == nil && len(list) == 0 {
				t.Errorf("%q has no address", body)
			}
		} else if !json.Valid(errorObject(channel.FeedChannels, err.Error(), body)) {
			t.Errorf("%q", body)
		}
	})
}
