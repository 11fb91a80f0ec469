package binance

import (
	"context"
	"strings"
	"time"

	"quotary/shared/market"
	"quotary/shared/source"
)

const (
	maxStreams  = 1024 // of a connection
	streamsEach = 100  // of a message that subscribes
)

// message subscribes to streams.
type message struct {
	Method string `json:"method"`
	Params []any  `json:"params"`
	ID     int64  `json:"id"`
}

// protocol of the kind of markets. A refusal of an id that was never used (null) is
// that of the message before.
func (r *rules) protocol() source.Protocol {
	return source.Protocol{
		MaxPairs: maxStreams, TopicsEach: streamsEach, MessagePause: time.Second / time.Duration(r.messagesPerSecond),
		Topics: func(pairs []market.Pair) (topics []any) {
			for _, pair := range pairs {
				topics = append(topics, strings.ToLower(pair.Symbol)+"@"+aggTrade)
			}
			return topics
		},
		Subscribe: func(id int64, topics []any) any { return message{"SUBSCRIBE", topics, id} },
		NewParser: func() source.Parser { return parse },
	}
}

// Follow delivers the trades of pairs until ctx ends or the sink fails. Connections
// that are lost are made anew.
func (m *Market) Follow(ctx context.Context, pairs []market.Pair, sink source.EventSink) error {
	s := source.Stream{Protocol: m.rules.protocol(), URL: m.stream + m.rules.route + "/stream", Stats: m.Stats, Log: m.Log, Now: m.Now}
	return s.Follow(ctx, pairs, sink)
}
