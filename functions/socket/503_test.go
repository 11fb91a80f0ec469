package main

import (
	"net/http"
	"sync"
	"testing"

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
