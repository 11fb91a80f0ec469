package feeds

import (
	"sync"
	"time"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/market"
)

// orders pushes filled orders; the feed /ws/filled-orders needs no past.
type orders struct {
	hub *hub.Hub
	now func() time.Time

	mu     sync.Mutex
	told   told[int64] // order ids
	pushed pushed
}

// take pushes those orders that were filled lately and not told before.
func (o *orders) take(list []market.OrderStatus) {
	if len(list) == 0 {
		return
	}
	since := o.now().Add(-freshFor).UnixMilli()
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range list {
		s := &list[i]
		if s.Status != market.StatusFilled || s.Time < since || !o.told.add(s.Oid, recentMost) {
			continue
		}
		if topic := topicOf(filledTopic, s.Address); o.hub.Watched(topic) && o.pushed.next(s.Time) {
			b := appendFilled(append(make([]byte, 0, 768), `{"type":"data","data":`...), s)
			o.hub.Publish(topic, append(b, '}'), hub.Event)
		}
	}
}
