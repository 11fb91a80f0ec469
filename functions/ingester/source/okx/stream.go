package okx

import (
	"context"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
)

// message subscribes to channels, or leaves them.
type message struct {
	Op   string `json:"op"`
	Args []any  `json:"args"`
}

type arg struct {
	Channel  string `json:"channel"`
	InstID   string `json:"instId,omitempty"`
	InstType string `json:"instType,omitempty"`
}

// protocol: a connection takes 480 messages an hour, of 64 KB each and together.
var protocol = source.Protocol{
	MaxPairs: 400, TopicsEach: 100, MessagePause: time.Second / 2,
	Topics: func(pairs []market.Pair) (topics []any) {
		for _, pair := range pairs {
			topics = append(topics, arg{Channel: tradesChannel, InstID: pair.Symbol})
			if pair.Swap {
				topics = append(topics, arg{Channel: fundingChannel, InstID: pair.Symbol})
			}
		}
		if len(pairs) > 0 && pairs[0].Swap {
			topics = append(topics, arg{Channel: liquidationChannel, InstType: swap})
		}
		return topics
	},
	Subscribe:   func(_ int64, topics []any) any { return message{"subscribe", topics} },
	Unsubscribe: func(_ int64, topics []any) any { return message{"unsubscribe", topics} },
	AnswersEach: true,
	NewParser:   func() source.Parser { return parse },
	Ping:        "ping", PingEvery: 20 * time.Second,
}

// publicPath is where channels are that anyone may follow.
const publicPath = "/ws/v5/public"

// Follow delivers the trades of pairs and, of swaps, funding rates and positions that are
// closed by force, until ctx ends or the sink fails. Connections that are lost are made again.
// It counts in stats.
func (m *Market) Follow(ctx context.Context, pairs []market.Pair, stats *source.Stats, sink source.EventSink) error {
	s := source.Stream{Protocol: protocol, URL: m.stream + publicPath, Stats: stats, Log: m.Log, Now: m.Now}
	return s.Follow(ctx, pairs, sink)
}
