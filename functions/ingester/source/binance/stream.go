package binance

import (
	"context"
	"strings"
	"time"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
)

const (
	maxStreams  = 1024           // of a connection
	maxPairs    = maxStreams / 3 // a perpetual has three topics
	streamsEach = 100            // of a message that subscribes
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
		MaxPairs: maxPairs, TopicsEach: streamsEach, MessagePause: time.Second / time.Duration(r.messagesPerSecond),
		Topics: func(pairs []market.Pair) (topics []any) {
			for _, pair := range pairs {
				symbol := strings.ToLower(pair.Symbol)
				topics = append(topics, symbol+"@"+aggTrade)
				if r.swap {
					topics = append(topics, symbol+"@markPrice", symbol+"@"+forceOrder)
				}
			}
			return topics
		},
		Subscribe: func(id int64, topics []any) any { return message{"SUBSCRIBE", topics, id} },
	}
}

// Follow delivers the trades of pairs and, of perpetuals, funding rates and positions that
// are closed by force, until ctx ends or the sink fails. Connections that are lost are made
// again. It counts in stats.
func (m *Market) Follow(ctx context.Context, pairs []market.Pair, stats *source.Stats, sink source.EventSink) error {
	protocol := m.rules.protocol()
	protocol.NewParser = func() source.Parser {
		running := runningPeriods{}
		return func(line string, to *source.Frame) error {
			if err := parse(line, to); err != nil {
				return err
			}
			for i := range to.Events.Fundings {
				f := &to.Events.Fundings[i]
				if f.Period = running.of(f); f.Period == 0 {
					f.Period = m.periods.of(f.Pair)
				}
			}
			return nil
		}
	}
	s := source.Stream{Protocol: protocol, URL: m.stream + m.rules.route + "/stream", Stats: stats, Log: m.Log, Now: m.Now}
	return s.Follow(ctx, pairs, sink)
}

// runningPeriods are the funding periods that have begun while a connection was up: the list of
// periods is asked for once in a while only, and may be of before a change.
type runningPeriods map[string]*runningPeriod // by symbol

type runningPeriod struct{ seen, due, period int64 } // ms; period is 0 where its beginning was not seen

// paidWithin is how long before a payment a rate has come at least, and behind it, ms, for the
// beginning of a period to be seen.
const paidWithin = 60_000

// of is how long the period is that a rate is of, ms, 0 where that is not known.
func (r runningPeriods) of(f *market.PairFunding) int64 {
	p := r[f.Pair]
	if p == nil {
		if len(r) == source.MostSymbols || !market.ValidName(f.Pair) {
			return 0
		}
		p = &runningPeriod{due: f.Due}
		r[strings.Clone(f.Pair)] = p // which would hold the whole frame
	}
	if p.due != f.Due {
		p.period = 0
		if p.due < f.Due && p.seen >= p.due-paidWithin && f.Time <= p.due+paidWithin {
			p.period = min(f.Due-p.due, source.LongestPeriod)
		}
	}
	p.seen, p.due = f.Time, f.Due
	return p.period
}
