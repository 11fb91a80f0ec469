package feeds

import (
	"strings"
	"testing"
	"time"

	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections"
	"quotary/shared/gate/connections/connectionstest"
	"quotary/shared/market"
	"quotary/shared/store/schema"
	"quotary/shared/testing/must"
)

const subscribeReply, refusal = `{"type":"subscribe"}`, `{"error":"address would make the distributor's connections follow more than 75000 addresses together`

// add has a client follow addresses under a cap of subscriptions.
func (w *world) add(id string, addresses ...string) {
	w.t.Helper()
	must.Do(w.t, w.table.AddAddresses(w.t.Context(), w.message(id), addresses, connections.Limits{Key: 10}, connections.Reply{Frame: []byte(subscribeReply)}))
}

func TestADistributorsConnectionsFollowSoManyAddressesTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keys["neighbour"], w.owners = w.keys["key"], map[string]string{"neighbour": "other"}
	f, _ := w.run()
	w.caughtUp(f)
	followed := func(distributor string) int {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.addresses[distributor]
	}
	for _, id := range []string{"one", "two"} {
		w.connect(id, channel.FeedFills)
	}
	must.Do(t, w.table.Connect(t.Context(), connections.Connection{ID: "other", Key: "neighbour", Distributor: "other", Feed: channel.FeedFills, Endpoint: "http://127.0.0.1/api"}, connections.Limits{}))
	const room = 2
	f.mu.Lock()
	f.addresses["acme"] = connections.MostAddressesTogether - room // by connections that are not shown
	f.mu.Unlock()

	w.add("one", alice)
	w.sent("one", 1)
	w.add("two", alice, bob)
	if got := w.sent("two", 1); !strings.HasPrefix(got[0], refusal) {
		t.Errorf("what goes beyond the most is answered %s", got[0])
	}
	if got := w.usage(); got.Subscriptions != 1 {
		t.Errorf("what is refused holds slots: %+v", got)
	}
	w.add("other", alice, bob)
	if got := w.sent("other", 1); got[0] != subscribeReply || followed("other") != 2 {
		t.Errorf("a neighbour is answered %s, and follows %d", got[0], followed("other"))
	}
	w.add("one", alice)
	if n := followed("acme"); n != connections.MostAddressesTogether-room+1 {
		t.Errorf("%d addresses are counted behind a message that adds nothing", n)
	}
	bobs := fill(1, time.Now(), "BTC")
	bobs.Address = bob
	f.publish(&market.Events{Fills: []market.Fill{bobs}})
	w.sent("other", 2)
	if got := w.frames("two"); len(got) != 1 {
		t.Errorf("a connection follows what was refused: %v", got)
	}

	must.Do(t, w.table.RemoveAddresses(t.Context(), w.message("one"), []string{alice}))
	w.eventually("there is room again", func() bool { return followed("acme") == connections.MostAddressesTogether-room })
	w.add("two", alice, bob)
	if got := w.sent("two", 2); got[1] != subscribeReply || followed("acme") != connections.MostAddressesTogether {
		t.Errorf("once there is room it is answered %s, and %d are counted", got[1], followed("acme"))
	}
	must.Get(w.table.Remove(t.Context(), "two"))(t)
	w.eventually("the end of a connection makes room", func() bool { return followed("acme") == connections.MostAddressesTogether-room })
	connectionstest.Look(t, w.db, w.prefix+schema.ConnectionsTable).Balanced(t)
}

func TestADistributorsConnectionsHaveSoManySubscriptionsTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keys["neighbour"], w.owners = w.keys["key"], map[string]string{"neighbour": "other"}
	f, _ := w.run()
	w.caughtUp(f)
	has := func(distributor string) int {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.subscribed[distributor]
	}
	w.connect("one", channel.FeedChannels)
	w.connect("two", channel.FeedChannels)
	must.Do(t, w.table.Connect(t.Context(), connections.Connection{ID: "other", Key: "neighbour", Distributor: "other", Feed: channel.FeedChannels, Endpoint: "http://127.0.0.1/api"}, connections.Limits{}))
	f.mu.Lock()
	f.subscribed["acme"] = connections.MostSubscriptionsTogether - 1 // by connections that are not shown
	f.mu.Unlock()
	to := func(coin string) channel.Subscription { return channel.Subscription{Type: channel.Trades, Coin: coin} }
	subscribe := func(id, coin string) {
		t.Helper()
		must.Get(w.table.Subscribe(t.Context(), w.message(id), to(coin), connections.Limits{Key: 10}, connections.Reply{Frame: []byte(subscribeReply)}))(t)
	}
	subscribe("one", "BTC")
	w.sent("one", 1)
	subscribe("two", "BTC")
	const refusal = `{"error":"subscription limit exceeded","limit":150000,"current":150000}`
	if got := w.sent("two", 1); got[0] != refusal {
		t.Errorf("what goes beyond the most is answered %s", got[0])
	}
	if got := w.usage(); got.Subscriptions != 1 {
		t.Errorf("what is refused holds slots: %+v", got)
	}
	subscribe("other", "BTC")
	if got := w.sent("other", 1); got[0] != subscribeReply {
		t.Errorf("a neighbour is answered %s", got[0])
	}
	f.publish(&market.Events{Trades: []market.Trade{{Coin: "BTC", Side: market.Buy, Time: time.Now().UnixMilli(), Tid: 1, Px: market.DecimalFromInt(1), Sz: market.DecimalFromInt(1)}}})
	w.sent("other", 2)
	if got := w.frames("two"); len(got) != 1 {
		t.Errorf("a connection is sent what was refused: %v", got)
	}
	must.Get(w.table.Unsubscribe(t.Context(), w.message("one"), to("BTC")))(t)
	w.eventually("there is room again", func() bool { return has("acme") == connections.MostSubscriptionsTogether-1 })
	subscribe("two", "BTC")
	if got := w.sent("two", 2); got[1] != subscribeReply {
		t.Errorf("once there is room it is answered %s", got[1])
	}
	must.Get(w.table.Remove(t.Context(), "two"))(t)
	w.eventually("the end of a connection makes room", func() bool { return has("acme") == connections.MostSubscriptionsTogether-1 })
	connectionstest.Look(t, w.db, w.prefix+schema.ConnectionsTable).Balanced(t)
}
