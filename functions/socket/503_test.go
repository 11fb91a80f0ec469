package main

import (
	"net/http"
	"sync"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/connections/connectionstest"
	"quotary/shared/gate/keys"
	"quotary/shared/testing/must"
)

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

// Without a node nobody tells of accounts: silence is not taken for nothing that happens.
func TestWhatThisDeploymentHasNoSourceOfIsRefused(t *testing.T) {
	t.Parallel()
	const (
		user   = `"user":"0x1000000000000000000000000000000000000001"`
		fills  = "the subscription is refused: fills of the accounts of Hyperliquid are not configured in this deployment: they take the files of a node or the hours that the venue publishes"
		traded = "the subscription is refused: fills of the accounts of Hyperliquid are not configured in this deployment: they take the files of a node, public trades or the hours that the venue publishes"
		events = "liquidations and funding of Hyperliquid are not configured in this deployment: they take the files of a node or the hours that the venue publishes"
		orders = "the subscription is refused: orders of the accounts of Hyperliquid are not configured in this deployment: they take the files of a node"
	)
	w := open(t)
	apitest.Deliver(t, w.views, catalog.VenueTrades)
	p := w.connect(w.SubKey, channel.FeedChannels)
	for of, want := range map[string]string{
		`"type":"liquidations"`: "the subscription is refused: " + events, `"type":"whaleEvents","coin":"BTC"`: fills, `"type":"userFills",` + user: traded, `"type":"orderUpdates",` + user: orders,
		`"type":"userEvents",` + user:   traded + "; " + events,
		`"type":"userFundings",` + user: "the subscription is refused: " + events,
	} {
		p.errs(subscribeTo("{"+of+"}"), want)
	}
	p.send(subscribeTo(`{"type":"trades","coin":"BTC"}`))
	for feed, want := range map[channel.Feed]string{channel.FeedFills: traded, channel.FeedFilledOrders: orders} {
		if got := w.connect(w.SubKey, feed).send(`{"type":"subscribe","address":["0x1000000000000000000000000000000000000001"]}`); got != `{"error":"`+want+`"}` {
			t.Errorf("%s answers %s", feed, got)
		}
	}
	if used := w.used(w.SubKey); used.Subscriptions != 1 {
		t.Errorf("used %+v", used)
	}
}
