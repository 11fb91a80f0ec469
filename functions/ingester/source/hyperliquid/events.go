package hyperliquid

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"quotary/shared/market"
	"quotary/shared/upstream"
	"quotary/shared/venue/wire"
)

// The folders below a node's data in which it writes what happened to orders,
// what happened to accounts beside trading, and what happened to TWAP orders: each one
// line a block, or one line an event.
var (
	OrderStreams  = [...]string{"node_order_statuses_by_block", "node_order_statuses"}
	LedgerStreams = [...]string{"misc_events_by_block", "misc_events"}
	TwapStreams   = [...]string{"node_twap_statuses_by_block", "node_twap_statuses"}
)

var errEvent = errors.New("is no event of the expected shape")

// ReadOrders reads a line of [OrderStreams]: every status of every order.
func ReadOrders(e *market.Events, line string, offset int64) (skipped int, err error) {
	if len(line) > maxBlock {
		return 1, errBlock
	}
	e.Orders, skipped, err = wire.ParseOrders(e.Orders, line, offset)
	return skipped, err
}

// ReadTwaps reads a line of [TwapStreams]: every status of every TWAP order.
func ReadTwaps(e *market.Events, line string, offset int64) (skipped int, err error) {
	if len(line) > maxBlock {
		return 1, errBlock
	}
	b, err := nodeEvents(line)
	if err != nil {
		return 1, fmt.Errorf("read a line of TWAP statuses: %w", err)
	}
	for i, raw := range b.Events {
		s, fault := wire.ParseTwapStatus(raw)
		if fault != nil {
			skipped, err = skipped+1, cmp.Or(err, fault) // one is enough to say, of however many
			continue
		}
		s.Seq = b.seq(offset) + int64(i)
		e.Twaps = append(e.Twaps, s)
	}
	return skipped, err
}

// nodeBlock is a line of events: those of a block, or one that stands alone.
type nodeBlock struct {
	Number *int64            `json:"block_number"` // nil for an event that stands alone
	Events []json.RawMessage `json:"events"`
}

// seq is that of the first event of a line at an offset.
func (b *nodeBlock) seq(offset int64) int64 {
	if b.Number == nil { // the node writes no blocks
		return offset
	}
	return *b.Number * wire.SeqPerBlock
}

// nodeEvents are the events of a line, in either form.
func nodeEvents(line string) (b nodeBlock, err error) {
	if err := upstream.Decode([]byte(line), &b); err != nil {
		return b, err
	}
	if b.Number != nil && (*b.Number < 0 || *b.Number > (1<<62)/wire.SeqPerBlock) {
		return b, fmt.Errorf("block number %d %w", *b.Number, errEvent)
	}
	if b.Events == nil {
		return nodeBlock{Events: []json.RawMessage{json.RawMessage(line)}}, nil
	}
	return b, nil
}
