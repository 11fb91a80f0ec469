package feeds

import (
	"strings"
	"sync"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/gate/channel"
	"quotary/shared/market"
)

const (
	// tapeLength is how many trades a snapshot has at most, as at the venue.
	tapeLength = 10
	// tradesSeen is how many trades of a coin are remembered as published.
	tradesSeen = 2048
	// frameTrades bounds the trades of one frame, which are some 300 bytes each.
	frameTrades = 300
)

// trades publishes the trades of all coins, and keeps the last of each.
type trades struct {
	base
	coinTopic
	mu    sync.Mutex
	coins map[string]*tape
}

type tape struct {
	topic string
	last  [][]byte // encoded, oldest first
	seen  seen[tradeKey]
	fresh [][]byte // of the events that are being published
}

type tradeKey struct{ time, tid int64 }

func newTrades(b base) publisher { return &trades{base: b, coins: map[string]*tape{}} }

// topic has a snapshot even of no trades at all, so that every subscription starts
// with one.
func (ts *trades) topic(coin string) hub.Topic {
	return hub.Topic{Guard: &ts.mu, Snapshot: func() [][]byte {
		if c := ts.coins[coin]; c != nil {
			return hub.Single(tradesFrame(c.last))
		}
		return hub.Single(tradesFrame(nil))
	}}
}

func (ts *trades) consume(e *market.Events) {
	ts.publish(e.Trades)
	if len(e.Fills) > 0 {
		ts.publish(market.AppendTrades(nil, e.Fills))
	}
}

// publish publishes the trades that are new, in one frame a coin.
func (ts *trades) publish(list []market.Trade) {
	if len(list) == 0 {
		return
	}
	since := ts.freshSince()
	ts.mu.Lock()
	defer ts.mu.Unlock()
	var touched []*tape
	for i := range list {
		t := &list[i]
		if t.Time < since {
			continue
		}
		c := ts.coin(t.Coin)
		if !c.seen.add(tradeKey{t.Time, t.Tid}, tradesSeen) {
			continue
		}
		if len(c.fresh) == 0 {
			touched = append(touched, c)
		}
		c.fresh = append(c.fresh, t.AppendJSON(make([]byte, 0, 384)))
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

func (ts *trades) coin(name string) *tape {
	c := ts.coins[name]
	if c == nil {
		c = &tape{topic: ts.topicName(name)}
		ts.coins[strings.Clone(name)] = c // it is a part of a line
	}
	return c
}

func tradesFrame(list [][]byte) []byte {
	b := append(inChannel(channel.Trades), '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, list[i]...)
	}
	return append(b, `]}`...)
}
