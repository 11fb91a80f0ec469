package okx

import (
	"context"
	"time"

	"quotary/shared/market"
	"quotary/shared/source"
)

// message subscribes to channels.
type message struct {
	Op   string `json:"op"`
	Args []arg  `json:"args"`
}

type arg struct {
	Channel string `json:"channel"`
	InstID  string `json:"instId"`
}

// protocol: a connection takes 480 messages an hour, of 64 KB each and together.
var protocol = source.TradeProtocol{
	MaxPairs: 500, PairsEach: 100, MessagePause: time.Second / 2,
	Subscribe: func(_ int64, symbols []string) any {
		m := message{Op: "subscribe"}
		for _, symbol := range symbols {
			m.Args = append(m.Args, arg{tradesChannel, symbol})
		}
		return m
	},
	AnswersEach: true,
	Parse:       parse,
	Ping:        "ping", PingEvery: 20 * time.Second,
}

// Trades delivers the trades of pairs until ctx ends or the sink fails. Connections
// that are lost are made anew.
func (m *Market) Trades(ctx context.Context, pairs []market.Pair, sink source.TradeSink) error {
	s := source.TradeStream{Protocol: protocol, URL: m.stream + "/ws/v5/public", Stats: m.Stats, Log: m.Log}
	return s.Follow(ctx, pairs, sink)
}
