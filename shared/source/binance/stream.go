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
	Method string   `json:"method"`
	Params []string `json:"params"`
	ID     int64    `json:"id"`
}

// protocol of the kind of markets. A refusal of an id that was never used (null) is
// that of the message before.
func (r *rules) protocol() source.TradeProtocol {
	return source.TradeProtocol{
		MaxPairs: maxStreams, PairsEach: streamsEach, MessagePause: time.Second / time.Duration(r.messagesPerSecond),
		Subscribe: func(id int64, symbols []string) any {
			m := message{Method: "SUBSCRIBE", ID: id}
			for _, symbol := range symbols {
				m.Params = append(m.Params, strings.ToLower(symbol)+"@"+aggTrade)
			}
			return m
		},
		Parse: parse,
	}
}

// Trades delivers the trades of pairs until ctx ends or the sink fails. Connections
// that are lost are made anew.
func (m *Market) Trades(ctx context.Context, pairs []market.Pair, sink source.TradeSink) error {
	s := source.TradeStream{Protocol: m.rules.protocol(), URL: m.stream + m.rules.route + "/stream", Stats: m.Stats, Log: m.Log}
	return s.Follow(ctx, pairs, sink)
}
