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
	ID   string   `json:"req_id"`
	Op   string   `json:"op"`
	Args []string `json:"args"`
}

// protocol: a connection takes topics of 21,000 characters, of spot 10 in a message.
var protocol = source.TradeProtocol{
	MaxPairs: 600, PairsEach: 10, MessagePause: 100 * time.Millisecond,
	Subscribe: func(id int64, symbols []string) any {
		m := message{ID: strconv.FormatInt(id, 10), Op: "subscribe"}
		for _, symbol := range symbols {
			m.Args = append(m.Args, tradeTopic+symbol)
		}
		return m
	},
	Parse: parse,
	Ping:  `{"op":"ping"}`, PingEvery: 20 * time.Second,
	Unnumbered: true,
}

// Trades delivers the trades of pairs until ctx ends or the sink fails. Connections
// that are lost are made anew.
func (m *Market) Trades(ctx context.Context, pairs []market.Pair, sink source.TradeSink) error {
	s := source.TradeStream{Protocol: protocol, URL: m.stream + "/v5/public/" + m.category, Stats: m.Stats, Log: m.Log}
	return s.Follow(ctx, pairs, sink)
}
