package main

import (
	"net/http"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/gate/channel"
	"quotary/shared/gate/keys"
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
