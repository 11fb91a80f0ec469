package hyperliquid

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"quotary/shared/market"
)

// The folders below a node's data in which it writes what happened to orders,
// and what happened to accounts beside trading: each one line a block, or one
// line an event.
var (
	OrderStreams  = [...]string{"node_order_statuses_by_block", "node_order_statuses"}
	LedgerStreams = [...]string{"misc_events_by_block", "misc_events"}
)

// nodeTime is how a node writes a time, in UTC.
const nodeTime = "2006-01-02T15:04:05.999999999"

var errEvent = errors.New("is no event of the expected shape")

// ReadOrders reads a line of [OrderStreams]: every status of every order.
func ReadOrders(e *market.Events, line string, offset int64) (skipped int, err error) {
	return readOrders(e, line, offset, "")
}

// ReadFilled reads a line of [OrderStreams] and keeps the orders that were
// filled: they are few among all statuses, so that a line without any is not
// parsed at all.
func ReadFilled(e *market.Events, line string, offset int64) (skipped int, err error) {
	return readOrders(e, line, offset, market.StatusFilled)
}

// readOrders reads a line and keeps the orders that came to a status, "" for
// any.
func readOrders(e *market.Events, line string, offset int64, only string) (skipped int, err error) {
	mark := `"` + only + `"`
	if only != "" && !strings.Contains(line, mark) {
		return 0, nil
	}
	b, err := nodeEvents(line)
	if err != nil {
		return 1, fmt.Errorf("read a line of order statuses: %w", err)
	}
	seq := offset // where the node tells no blocks
	if b.Number != nil {
		seq = *b.Number * market.SeqPerBlock
	}
	for i, raw := range b.Events {
		if only != "" && !strings.Contains(string(raw), mark) {
			continue
		}
		status, fault := orderStatus(raw)
		switch {
		case fault != nil:
			skipped++
			err = errors.Join(err, fault)
		case only == "" || status.Status == only:
			status.Seq = seq + int64(i)
			e.Orders = append(e.Orders, status)
		}
	}
	return skipped, err
}

// ReadLedgers reads a line of [LedgerStreams] and keeps the ledger updates, one
// for each account that an update names.
func ReadLedgers(e *market.Events, line string, _ int64) (skipped int, err error) {
	if !strings.Contains(line, `"LedgerUpdate"`) {
		return 0, nil
	}
	b, err := nodeEvents(line)
	if err != nil {
		return 1, fmt.Errorf("read a line of ledger updates: %w", err)
	}
	for _, raw := range b.Events {
		var w struct {
			Time  string `json:"time"`
			Hash  string `json:"hash"`
			Inner struct {
				LedgerUpdate *struct {
					Users []string        `json:"users"`
					Delta json.RawMessage `json:"delta"`
				}
			} `json:"inner"`
		}
		if fault := json.Unmarshal(raw, &w); fault != nil {
			skipped++
			err = errors.Join(err, fmt.Errorf("a ledger update: %w", fault))
			continue
		}
		if w.Inner.LedgerUpdate == nil {
			continue
		}
		at, fault := time.Parse(nodeTime, w.Time)
		if fault != nil || len(w.Inner.LedgerUpdate.Delta) == 0 {
			skipped++
			err = errors.Join(err, fmt.Errorf("a ledger update: %w", errEvent))
			continue
		}
		for _, user := range w.Inner.LedgerUpdate.Users {
			e.Ledgers = append(e.Ledgers, market.Ledger{Address: strings.ToLower(user), Time: at.UnixMilli(), Hash: w.Hash, Delta: w.Inner.LedgerUpdate.Delta})
		}
	}
	return skipped, err
}

// nodeBlock is a line of events: those of a block, or one that stands alone.
type nodeBlock struct {
	Number *int64            `json:"block_number"` // nil for an event that stands alone
	Events []json.RawMessage `json:"events"`
}

// nodeEvents are the events of a line, in either form.
func nodeEvents(line string) (b nodeBlock, err error) {
	if err := json.Unmarshal([]byte(line), &b); err != nil {
		return b, err
	}
	if b.Number != nil && (*b.Number < 0 || *b.Number > (1<<62)/market.SeqPerBlock) {
		return b, fmt.Errorf("block number %d %w", *b.Number, errEvent)
	}
	if b.Events == nil {
		return nodeBlock{Events: []json.RawMessage{json.RawMessage(line)}}, nil
	}
	return b, nil
}

func orderStatus(raw []byte) (market.OrderStatus, error) {
	var w struct {
		Time    string  `json:"time"`
		User    string  `json:"user"`
		Hash    *string `json:"hash"`
		Status  string  `json:"status"`
		Builder *struct {
			B string `json:"b"`
			F int64  `json:"f"`
		} `json:"builder"`
		Order struct {
			Coin             string          `json:"coin"`
			Side             string          `json:"side"`
			LimitPx          string          `json:"limitPx"`
			Sz               string          `json:"sz"`
			Oid              int64           `json:"oid"`
			Timestamp        int64           `json:"timestamp"`
			TriggerCondition string          `json:"triggerCondition"`
			IsTrigger        bool            `json:"isTrigger"`
			TriggerPx        string          `json:"triggerPx"`
			Children         json.RawMessage `json:"children"`
			IsPositionTpsl   bool            `json:"isPositionTpsl"`
			ReduceOnly       bool            `json:"reduceOnly"`
			OrderType        string          `json:"orderType"`
			OrigSz           string          `json:"origSz"`
			Tif              *string         `json:"tif"`
			Cloid            *string         `json:"cloid"`
		} `json:"order"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return market.OrderStatus{}, fmt.Errorf("an order status: %w", err)
	}
	at, err := time.Parse(nodeTime, w.Time)
	if err != nil {
		return market.OrderStatus{}, fmt.Errorf("an order status: %w", errEvent)
	}
	o := &w.Order
	s := market.OrderStatus{
		Address: w.User, Time: at.UnixMilli(), Hash: text(w.Hash), Status: w.Status,
		Coin: o.Coin, Side: o.Side, LimitPx: o.LimitPx, Sz: o.Sz, OrigSz: o.OrigSz, Oid: o.Oid, Timestamp: o.Timestamp,
		TriggerCondition: o.TriggerCondition, IsTrigger: o.IsTrigger, TriggerPx: o.TriggerPx, Children: o.Children,
		IsPositionTpsl: o.IsPositionTpsl, ReduceOnly: o.ReduceOnly, OrderType: o.OrderType, Tif: text(o.Tif), Cloid: text(o.Cloid),
	}
	if w.Builder != nil {
		s.Builder, s.BuilderFee = w.Builder.B, w.Builder.F
	}
	if err := s.Check(); err != nil {
		return s, fmt.Errorf("an order status: %w", err)
	}
	return s, nil
}

// text is what p points to, "" for the venue's null.
func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}
