package feeds

import (
	"context"
	"iter"
	"strconv"
	"time"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/data/orders"
	"quotary/shared/market"
	"quotary/shared/text/jsontext"
)

// ordersSeen is how many filled orders are remembered as published.
const ordersSeen = 100_000

// orderFeed publishes filled orders on /ws/filled-orders. There are no snapshots.
type orderFeed struct {
	base
	addressTopic
	seen      seen[int64] // order ids
	published position
}

func newOrderFeed(b base) publisher { return &orderFeed{base: b} }

func (of *orderFeed) topic(string) hub.Topic { return hub.Topic{} }

func (of *orderFeed) position() *position { return &of.published }

// consume publishes the orders that were filled lately and that are new.
func (of *orderFeed) consume(e *market.Events) {
	if len(e.Orders) == 0 {
		return
	}
	since := of.freshSince()
	for i := range e.Orders {
		s := &e.Orders[i]
		if s.Status != market.StatusFilled || s.Time < since || !of.seen.add(s.Oid, ordersSeen) {
			continue
		}
		if topic := of.topicName(s.Address); of.hub.Watched(topic) && of.published.advance(s.Time) {
			of.hub.PublishAt(topic, append(appendFilled(inAddressFeed(), s), '}'), int64(s.Arrived.At))
		}
	}
}

// consumeLate publishes the orders that were filled long ago and that are new.
func (of *orderFeed) consumeLate(e *market.Events, beforeStart bool) {
	for i := range e.Orders {
		s := &e.Orders[i]
		if topic := of.topicName(s.Address); s.Status == market.StatusFilled && of.hub.Watched(topic) && of.published.advanceLate(s.Time, beforeStart) && of.seen.add(s.Oid, ordersSeen) {
			of.hub.PublishLate(topic, append(appendFilled(inAddressFeed(), s), '}'), time.UnixMilli(s.Time), int64(s.Arrived.At))
		}
	}
}

func (of *orderFeed) replayed(ctx context.Context, address string, from time.Time) iter.Seq2[replayed, error] {
	return replayedOf(orders.FilledSince(ctx, of.Log, address, from), of.replay)
}

func (of *orderFeed) recent(about map[string]bool) []replayed {
	return recentlyOf(&of.arriving.recentFilled, about, func(s *market.OrderStatus) string { return s.Address }, of.replay)
}

func (of *orderFeed) replay(s *market.OrderStatus) replayed {
	return replayed{s.Address, s.Oid, s.Arrived.At, s.Time, appendFilled(nil, s)}
}

func (of *orderFeed) replayFrame(_ string, bodies [][]byte) []byte { return addressFrame(bodies) }

func (of *orderFeed) datasets() []string { return []string{orders.OtherName} }

// appendFilled appends a filled order as /ws/filled-orders has it.
// What the venue has as null is null.
func appendFilled(b []byte, s *market.OrderStatus) []byte {
	b = strconv.AppendInt(append(b, `{"ts":`...), s.Time, 10)
	b = jsontext.AppendString(append(b, `,"address":`...), s.Address)
	b = appendOrNull(append(b, `,"hash":`...), s.Hash)
	b = appendOrNull(append(b, `,"builder":`...), s.Builder)
	b = append(b, `,"builderF":`...)
	if s.Builder == "" {
		b = append(b, `null`...)
	} else {
		b = strconv.AppendInt(b, s.BuilderFee, 10)
	}
	b = jsontext.AppendString(append(b, `,"status":`...), s.Status)
	b = jsontext.AppendString(append(b, `,"coin":`...), s.Coin)
	b = jsontext.AppendString(append(b, `,"side":`...), s.Side)
	b = jsontext.AppendString(append(b, `,"limitPx":`...), s.LimitPx)
	b = jsontext.AppendString(append(b, `,"sz":`...), s.Sz)
	b = strconv.AppendInt(append(b, `,"oid":`...), s.Oid, 10)
	b = strconv.AppendInt(append(b, `,"placeTs":`...), s.Timestamp, 10)
	b = jsontext.AppendString(append(b, `,"trigger":`...), s.TriggerCondition)
	b = strconv.AppendBool(append(b, `,"isTrigger":`...), s.IsTrigger)
	b = jsontext.AppendString(append(b, `,"triggerPx":`...), s.TriggerPx)
	b = append(b, `,"children":`...)
	if len(s.Children) == 0 {
		b = append(b, `[]`...)
	} else {
		b = append(b, s.Children...)
	}
	b = strconv.AppendBool(append(b, `,"positionTpsl":`...), s.IsPositionTpsl)
	b = strconv.AppendBool(append(b, `,"reduceOnly":`...), s.ReduceOnly)
	b = jsontext.AppendString(append(b, `,"orderType":`...), s.OrderType)
	b = jsontext.AppendString(append(b, `,"origSz":`...), s.OrigSz)
	b = appendOrNull(append(b, `,"tif":`...), s.Tif)
	b = appendOrNull(append(b, `,"cloid":`...), s.Cloid)
	return append(b, '}')
}

// appendOrNull appends a text, or null where there is none.
func appendOrNull(b []byte, s string) []byte {
	if s == "" {
		return append(b, `null`...)
	}
	return jsontext.AppendString(b, s)
}
