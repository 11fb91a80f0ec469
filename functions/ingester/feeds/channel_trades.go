package feeds

import (
	"strings"
	"time"

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
	coins map[string]*tape
	read  sharedTrades
}

type tape struct {
	topic string
	last  [][]byte // encoded, oldest first
	seen  seen[tradeKey]
	fresh [][]byte // of the events that are being published
	at    []market.Arrival
}

type tradeKey struct{ time, tid int64 }

func newTrades(b base) publisher { return &trades{base: b, coins: map[string]*tape{}} }

// topic has a snapshot even of no trades at all, so that every subscription starts
// with one.
func (ts *trades) topic(coin string) hub.Topic {
	return hub.Topic{Guard: &ts.arriving.mu, Place: ts.present, Snapshot: func() [][]byte {
		var last [][]byte
		if c := ts.coins[coin]; c != nil {
			last = c.last
		}
		return hub.Single(tradesFrame(last))
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
	since, now := ts.freshSince(), ts.Now()
	var touched []*tape
	for i := range list {
		t := &list[i]
		c := ts.coin(t.Coin)
		if t.Time < since {
			ts.publishLate(c, t)
			continue
		}
		if !c.seen.add(tradeKey{t.Time, t.Tid}, tradesSeen) {
			continue
		}
		if len(c.fresh) == 0 {
			touched = append(touched, c)
		}
		c.fresh, c.at = append(c.fresh, t.AppendJSON(make([]byte, 0, 384))), append(c.at, t.Arrival)
		ts.arriving.recentTrades.add(now, *t)
	}
	for _, c := range touched {
		c.last = append(c.last, c.fresh[max(0, len(c.fresh)-tapeLength):]...)
		c.last = append(c.last[:0], c.last[max(0, len(c.last)-tapeLength):]...)
		if ts.hub.Watched(c.topic) {
			for from := 0; from < len(c.fresh); from += frameTrades {
				to := min(from+frameTrades, len(c.fresh))
				ts.hub.PublishAt(c.topic, tradesFrame(c.fresh[from:to]), int64(c.at[to-1]))
			}
		}
		clear(c.fresh)
		c.fresh, c.at = c.fresh[:0], c.at[:0]
	}
}

// consumeLate shows late trades to those who began, or will begin, with what came before.
func (ts *trades) consumeLate(e *market.Events, _ bool) {
	list := market.AppendTrades(nil, e.Fills)
	for i := range list {
		ts.publishLate(ts.coin(list[i].Coin), &list[i])
	}
}

func (*trades) keepsLate() {}

func (ts *trades) publishLate(c *tape, t *market.Trade) {
	if c.seen.add(tradeKey{t.Time, t.Tid}, tradesSeen) {
		ts.arriving.recentTrades.add(ts.Now(), *t)
		if ts.hub.Watched(c.topic) {
			ts.hub.PublishLate(c.topic, tradesFrame([][]byte{t.AppendJSON(nil)}), time.UnixMilli(t.Time), int64(t.Arrival))
		}
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
