package feeds

import (
	"context"
	"iter"
	"strconv"
	"time"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/data/fills"
	"quotary/shared/market"
	"quotary/shared/text/jsontext"
)

// fillFeed publishes fills on /ws/fills. There are no snapshots.
type fillFeed struct {
	base
	addressTopic
	seen      seen[fillKey] // what was published
	published position
}

func newFillFeed(b base) publisher { return &fillFeed{base: b} }

func (ff *fillFeed) topic(string) hub.Topic { return hub.Topic{} }

func (ff *fillFeed) position() *position { return &ff.published }

func (ff *fillFeed) consume(e *market.Events) {
	for f := range fillsOf(e) {
		if topic := ff.topicName(f.Address); ff.hub.Watched(topic) && ff.published.advance(f.Time) && ff.seen.add(keyOf(f), fillsSeen) {
			ff.hub.PublishAt(topic, append(appendFill(inAddressFeed(), f), '}'), int64(f.Arrived.At))
		}
	}
}

func (ff *fillFeed) consumeLate(e *market.Events, beforeStart bool) {
	for f := range fillsOf(e) {
		if topic := ff.topicName(f.Address); ff.hub.Watched(topic) && ff.published.advanceLate(f.Time, beforeStart) && ff.seen.add(keyOf(f), fillsSeen) {
			ff.hub.PublishLate(topic, append(appendFill(inAddressFeed(), f), '}'), f.When(), int64(f.Arrived.At))
		}
	}
}

func (ff *fillFeed) consumeHour(e *market.Events) {
	for i := range e.Fills {
		f := &e.Fills[i]
		if topic := ff.topicName(f.Address); ff.hub.Watched(topic) && ff.seen.add(keyOf(f), fillsSeen) {
			ff.hub.PublishLate(topic, append(appendFill(inAddressFeed(), f), '}'), ff.Now(), int64(f.Arrived.At))
		}
	}
}

func (ff *fillFeed) replayed(ctx context.Context, address string, from time.Time) iter.Seq2[replayed, error] {
	return replayedOf(fills.Since(ctx, ff.Log, address, from), ff.replay)
}

func (ff *fillFeed) recent(about map[string]bool) []replayed {
	return recentlyOf(&ff.arriving.recentFills, about, func(f *market.Fill) string { return f.Address }, ff.replay)
}

func (ff *fillFeed) replay(f *market.Fill) replayed {
	return replayed{f.Address, keyOf(f), f.Arrived.At, f.Time, appendFill(nil, f)}
}

func (ff *fillFeed) replayFrame(_ string, bodies [][]byte) []byte { return addressFrame(bodies) }

func (ff *fillFeed) datasets() []string { return []string{fills.Name} }

// fillsOf are the fills of accounts among events, whether they are provisional or not.
func fillsOf(e *market.Events) iter.Seq[*market.Fill] {
	return func(yield func(*market.Fill) bool) {
		_ = each(e.Fills, yield) && each(e.Provisional, yield)
	}
}

// appendFill appends a fill as /ws/fills has it.
func appendFill(b []byte, f *market.Fill) []byte {
	b = jsontext.AppendString(append(b, `{"address":`...), f.Address)
	b = strconv.AppendInt(append(b, `,"time":`...), f.Time, 10)
	b = jsontext.AppendString(append(b, `,"coin":`...), f.Coin)
	b = jsontext.AppendString(append(b, `,"px":`...), f.Px)
	b = jsontext.AppendString(append(b, `,"sz":`...), f.Sz)
	b = append(append(b, `,"side":"`...), byte(f.Side))
	if f.Provisional {
		b = jsontext.AppendString(append(b, `","startPosition":null,"dir":null,"closedPnl":null,"hash":`...), f.Hash)
		b = strconv.AppendBool(append(b, `,"oid":null,"crossed":`...), f.Crossed)
		b = strconv.AppendInt(append(b, `,"fee":null,"tid":`...), f.Tid, 10)
		return append(b, `,"feeToken":null,"twapId":null,"provisional":true}`...)
	}
	b = jsontext.AppendString(append(b, `","startPosition":`...), f.StartPosition)
	b = jsontext.AppendString(append(b, `,"dir":`...), f.Dir)
	b = jsontext.AppendString(append(b, `,"closedPnl":`...), f.ClosedPnl)
	b = jsontext.AppendString(append(b, `,"hash":`...), f.Hash)
	b = strconv.AppendInt(append(b, `,"oid":`...), f.Oid, 10)
	b = strconv.AppendBool(append(b, `,"crossed":`...), f.Crossed)
	b = jsontext.AppendString(append(b, `,"fee":`...), f.Fee)
	b = strconv.AppendInt(append(b, `,"tid":`...), f.Tid, 10)
	b = jsontext.AppendString(append(b, `,"feeToken":`...), f.FeeToken)
	if f.TwapID == nil {
		return append(b, `,"twapId":null}`...)
	}
	return append(strconv.AppendInt(append(b, `,"twapId":`...), *f.TwapID, 10), '}')
}
