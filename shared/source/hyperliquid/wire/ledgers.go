package wire

import (
	"encoding/json"
	"errors"
	"fmt"

	"quotary/shared/market"
)

var errLedger = errors.New("a ledger update has no type")

// ParseLedger reads the delta of a ledger update:
//
//	{"type":"withdraw","usdc":"100.0","nonce":1,"fee":"1.0"}
//
// What it returns has neither address, time nor hash, and keeps delta. It fails on
// what has no type, and on a deposit or withdrawal of no amount.
func ParseLedger(delta json.RawMessage) (market.Ledger, error) {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(delta, &kind); err != nil {
		return market.Ledger{}, fmt.Errorf("a ledger update: %w", err)
	}
	l := market.Ledger{Type: kind.Type, Delta: delta}
	switch kind.Type {
	case "":
		return l, errLedger
	case market.LedgerDeposit, market.LedgerWithdraw:
	default:
		return l, nil
	}
	var funds struct {
		USDC string `json:"usdc"`
		Fee  string `json:"fee"`
	}
	if err := json.Unmarshal(delta, &funds); err != nil {
		return l, fmt.Errorf("a %s: %w", kind.Type, err)
	}
	l.USDC, l.Fee = funds.USDC, funds.Fee
	if _, err := market.ParseDecimal(l.USDC); err != nil {
		return l, fmt.Errorf("a %s: usdc: %w", kind.Type, err)
	}
	if l.Fee != "" {
		if _, err := market.ParseDecimal(l.Fee); err != nil {
			return l, fmt.Errorf("a %s: fee: %w", kind.Type, err)
		}
	}
	return l, nil
}
