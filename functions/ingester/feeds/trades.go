package feeds

import (
	"strings"
	"sync"
	"time"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/market"
)

const (
	// freshFor is how old an event may be that is still pushed. What a source
	// tells of longer ago is history that it catches up with.
	freshFor = 10 * time.Minute
	// tapeLength is how many trades a snapshot has at most, as at the venue.
	tapeLength = 10
	// toldKept is how many trades of a coin are remembered as told.
	toldKept = 2048
	// frameTrades bounds the trades of one frame, which are some 300 bytes each.
	frameTrades = 300
)

// trades keeps the last trades of every coin.
type trades struct {
	hub *hub.Hub
	now func() time.Time

	mu    sync.Mutex
	coins map[string]*tape
}

type tape struct {
	topic string
	last  [][]byte // encoded, oldest first
	told  told[tradeKey]
	fresh [][]byte // of the events at hand
}

type tradeKey struct{ time, tid int64 }

// take pushes those trades that were not told before, in one frame a coin.
func (ts *trades) take(list []market.Trade) {
	if len(list) == 0 {
		return
	}
	since := ts.now().Add(-freshFor).UnixMilli()
	ts.mu.Lock()
	defer ts.mu.Unlock()
	var touched []*tape
	for i := range list {
		t := &list[i]
		if t.Time < since {
			continue
		}
		c := ts.coins[t.Coin]
		if c == nil {
			c = &tape{topic: topicOf(tradesTopic, t.Coin)}
			ts.coins[strings.Clone(t.Coin)] = c // it is a part of a line
		}
		if !c.told.add(tradeKey{t.Time, t.Tid}, toldKept) {
			continue
		}
		if len(c.fresh) == 0 {
			touched = append(touched, c)
		}
		c.fresh = append(c.fresh, appendTrade(make([]byte, 0, 384), t))
	}
	for _, c := range touched {
		c.last = append(c.last, c.fresh[max(0, len(c.fresh)-tapeLength):]...)
		c.last = append(c.last[:0], c.last[max(0, len(c.last)-tapeLength):]...)
		if ts.hub.Watched(c.topic) {
			for rest := c.fresh; len(rest) > 0; rest = rest[min(len(rest), frameTrades):] {
				ts.hub.Publish(c.topic, tradesFrame(rest[:min(len(rest), frameTrades)]), hub.Event)
			}
		}
		clear(c.fresh)
		c.fresh = c.fresh[:0]
	}
}

// snapshot is the last trades of a coin, none at all included, so that every
// subscription starts with one. The hub holds the lock.
func (ts *trades) snapshot(coin string) []byte {
	if c := ts.coins[coin]; c != nil {
		return tradesFrame(c.last)
	}
	return tradesFrame(nil)
}

func tradesFrame(list [][]byte) []byte {
	b := append(inChannel("trades"), '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, list[i]...)
	}
	return append(b, `]}`...)
}

// told remembers the last keys that were added. The zero value is empty.
type told[K comparable] struct {
	keys map[K]struct{}
	ring []K
	next int
}

// add reports whether the key is new; of more than most keys the oldest is
// forgotten.
func (t *told[K]) add(key K, most int) bool {
	if _, ok := t.keys[key]; ok {
		return false
	}
	if t.keys == nil {
		t.keys = make(map[K]struct{})
	}
	t.keys[key] = struct{}{}
	if len(t.ring) < most {
		t.ring = append(t.ring, key)
		return true
	}
	delete(t.keys, t.ring[t.next])
	t.ring[t.next] = key
	t.next = (t.next + 1) % most
	return true
}
