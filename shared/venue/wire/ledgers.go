package wire

import (
	"encoding/json"
	"errors"
	"fmt"

	"quotary/shared/market"
	"quotary/shared/text/lenient"
)

var errLedger = errors.New("a ledger update has no type")

// ParseLedger reads the delta of a ledger update:
//
//	{"type":"withdraw","usdc":"100.0","nonce":1,"fee":"1.0"}
//
// What it returns has neither address, time nor hash, and keeps delta. It fails on
// what has no type, and on a deposit or withdrawal of no amount. A fee that is no decimal
// is not known.
func ParseLedger(delta json.RawMessage) (market.Ledger, error) {
	var update struct {
		Type string       `json:"type"`
		USDC lenient.Text `json:"usdc"`
		Fee  lenient.Text `json:"fee"`
	}
	if err := lenient.Object(delta, &update); err != nil {
		return market.Ledger{}, fmt.Errorf("a ledger update: %w", err)
	}
	l := market.Ledger{Type: update.Type, Delta: delta}
	switch l.Type {
	case "":
		return l, errLedger
	case market.LedgerDeposit, market.LedgerWithdraw:
	default:
		return l, nil
	}
	l.USDC = string(update.USDC)
	if _, err := market.ParseDecimal(l.USDC); err != nil {
		return l, fmt.Errorf("a %s: usdc: %w", l.Type, err)
	}
	if _, err := market.ParseDecimal(string(update.Fee)); err == nil {
		l.Fee = string(update.Fee)
	}
	return l, nil
}
