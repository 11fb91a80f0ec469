package bybit

import (
	"context"
	"strconv"
	"time"

	"quotary/shared/market"
	"quotary/shared/source"
)

// message subscribes to topics.
type message struct {
	ID   string `json:"req_id"`
	Op   string `json:"op"`
	Args []any  `json:"args"`
}

// protocol: a connection takes topics of 21,000 characters, of spot 10 in a message.
var protocol = source.Protocol{
	MaxPairs: 600, TopicsEach: 10, MessagePause: 100 * time.Millisecond,
	Topics: func(pairs []market.Pair) (topics []any) {
		for _, pair := range pairs {
			topics = append(topics, tradeTopic+pair.Symbol)
		}
		return topics
	},
	Subscribe: func(id int64, topics []any) any { return message{strconv.FormatInt(id, 10), "subscribe", topics} },
	NewParser: func() source.Parser { return parse },
	Ping:      `{"op":"ping"}`, PingEvery: 20 * time.Second,
	Unnumbered: true,
}

// Follow delivers the trades of pairs until ctx ends or the sink fails. Connections
// that are lost are made anew.
func (m *Market) Follow(ctx context.Context, pairs []market.Pair, sink source.EventSink) error {
	s := source.Stream{Protocol: protocol, URL: m.stream + "/v5/public/" + m.category, Stats: m.Stats, Log: m.Log, Now: m.Now}
	return s.Follow(ctx, pairs, sink)
}
