package feeds

import (
	"encoding/json"
	"sync"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/gate/channel"
	"quotary/shared/market"
)

// allMids publishes the mid prices of all coins of a dex.
type allMids struct {
	base
	mu   sync.Mutex
	last map[string]map[string]string // prices of the coins, by dex
}

func newAllMids(b base) publisher { return &allMids{base: b, last: map[string]map[string]string{}} }

func (am *allMids) about(s *channel.Subscription) string { return s.Dex }

func (am *allMids) topic(dex string) hub.Topic {
	return hub.Topic{Guard: &am.mu, Snapshot: func() [][]byte {
		if am.last[dex] == nil {
			return nil
		}
		return hub.Single(midsFrame(am.last[dex]))
	}}
}

func (am *allMids) consume(e *market.Events) {
	if len(e.Mids) == 0 {
		return
	}
	am.mu.Lock()
	defer am.mu.Unlock()
	for i := range e.Mids {
		m := &e.Mids[i]
		am.last[m.Dex] = m.Px
		if topic := am.topicName(m.Dex); am.hub.Watched(topic) {
			am.hub.Publish(topic, midsFrame(m.Px), hub.State)
		}
	}
}

func midsFrame(px map[string]string) []byte {
	mids, err := json.Marshal(px)
	if err != nil {
		panic(err) // texts encode
	}
	return append(append(append(inChannel(channel.AllMids), `{"mids":`...), mids...), `}}`...)
}
