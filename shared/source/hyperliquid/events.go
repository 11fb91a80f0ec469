package hyperliquid

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"quotary/shared/market"
	"quotary/shared/source/hyperliquid/wire"
)

// The folders below a node's data in which it writes what happened to orders,
// and what happened to accounts beside trading: each one line a block, or one
// line an event.
var (
	OrderStreams  = [...]string{"node_order_statuses_by_block", "node_order_statuses"}
	LedgerStreams = [...]string{"misc_events_by_block", "misc_events"}
)

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
	seq := offset // where the node writes no blocks
	if b.Number != nil {
		seq = *b.Number * wire.SeqPerBlock
	}
	for i, raw := range b.Events {
		if only != "" && !strings.Contains(string(raw), mark) {
			continue
		}
		status, fault := wire.ParseOrder(raw)
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

// ReadMisc reads a line of [LedgerStreams] and keeps all of it that is stored: what
// coins paid, and the ledger updates.
func ReadMisc(e *market.Events, line string, seq int64) (skipped int, err error) {
	skipped, err = ReadFunding(e, line, seq)
	more, fault := ReadLedgers(e, line, seq)
	return skipped + more, errors.Join(err, fault)
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
		at, fault := time.Parse(wire.NodeTime, w.Time)
		update, malformed := wire.ParseLedger(w.Inner.LedgerUpdate.Delta)
		if fault = errors.Join(fault, malformed); fault != nil {
			skipped++
			err = errors.Join(err, fmt.Errorf("a ledger update: %w", fault))
			continue
		}
		update.Time, update.Hash = at.UnixMilli(), w.Hash
		for _, user := range w.Inner.LedgerUpdate.Users {
			update.Address = strings.ToLower(user)
			e.Ledgers = append(e.Ledgers, update)
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
	if b.Number != nil && (*b.Number < 0 || *b.Number > (1<<62)/wire.SeqPerBlock) {
		return b, fmt.Errorf("block number %d %w", *b.Number, errEvent)
	}
	if b.Events == nil {
		return nodeBlock{Events: []json.RawMessage{json.RawMessage(line)}}, nil
	}
	return b, nil
}
