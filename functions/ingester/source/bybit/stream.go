package bybit

import (
	"context"
	"strconv"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
)

// message subscribes to topics, or leaves them.
type message struct {
	ID   string `json:"req_id"`
	Op   string `json:"op"`
	Args []any  `json:"args"`
}

// Limits of a connection: topics of 21,000 characters together and, of spot, 10 in a message.
const (
	spotPairs, spotTopics         = 600, 10
	contractPairs, contractTopics = 200, 60
)

// protocol is that of spot markets, or of perpetuals.
func protocol(swap bool) source.Protocol {
	p := source.Protocol{
		MaxPairs: spotPairs, TopicsEach: spotTopics, MessagePause: 100 * time.Millisecond,
		Topics: func(pairs []market.Pair) (topics []any) {
			for _, pair := range pairs {
				topics = append(topics, tradeTopic+pair.Symbol)
				if pair.Swap {
					topics = append(topics, tickerTopic+pair.Symbol, liquidationTopic+pair.Symbol)
				}
			}
			return topics
		},
		Subscribe:   func(id int64, topics []any) any { return message{strconv.FormatInt(id, 10), "subscribe", topics} },
		Unsubscribe: func(id int64, topics []any) any { return message{strconv.FormatInt(id, 10), "unsubscribe", topics} },
		NewParser:   newParser,
		Ping:        `{"op":"ping"}`, PingEvery: 20 * time.Second,
		Unnumbered: true,
	}
	if swap {
		p.MaxPairs, p.TopicsEach = contractPairs, contractTopics
	}
	return p
}

// streamURL is where the topics of the category are.
func (m *Market) streamURL() string { return m.stream + "/v5/public/" + m.category }

// Follow delivers the trades of pairs and, of perpetuals, funding rates and positions that
// are closed by force, until ctx ends or the sink fails. Connections that are lost are made
// again. It counts in stats.
func (m *Market) Follow(ctx context.Context, pairs []market.Pair, stats *source.Stats, sink source.EventSink) error {
	s := source.Stream{Protocol: protocol(m.Swap), URL: m.streamURL(), Stats: stats, Log: m.Log, Now: m.Now}
	return s.Follow(ctx, pairs, sink)
}
