package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"quotary/shared/market"
	"quotary/shared/text/lenient"
	"quotary/shared/text/visible"
)

var (
	errLedger   = errors.New("a ledger update has no type")
	errNegative = errors.New("a deposit or withdrawal is negative")
	errDelta    = errors.New("a ledger update is longer than any of its type, or not of visible text")
)

// Bounds of a delta, in bytes.
const (
	// maxDelta is that of all but liquidations: the longest that are known are some 300.
	maxDelta = 4 << 10
	// maxLiquidation is that of a liquidation, which names each position that was closed.
	maxLiquidation = 64 << 10
	liquidation    = "liquidation"
)

// ParseLedger reads the delta of a ledger update:
//
//	{"type":"withdraw","usdc":"100.0","nonce":1,"fee":"1.0"}
//
// What it returns has neither address, time nor hash, and keeps delta: of transfers
// [market.Ledger.Route] then tells whether they came from outside. It fails on
// what has no type, on what is too long or hidden, and on a deposit or withdrawal of no amount. A fee that is no decimal
// is not known.
func ParseLedger(delta json.RawMessage) (market.Ledger, error) {
	var update struct {
		Type string       `json:"type"`
		USDC lenient.Text `json:"usdc"`
		Fee  lenient.Text `json:"fee"`
	}
	if len(delta) > maxLiquidation || !visible.Name(string(delta)) || !bytes.Equal(visible.JSON(delta), delta) {
		return market.Ledger{}, errDelta
	}
	if err := lenient.Object(delta, &update); err != nil {
		return market.Ledger{}, fmt.Errorf("a ledger update: %w", err)
	}
	l := market.Ledger{Type: update.Type, Delta: delta}
	if !market.ValidName(l.Type) {
		return l, errLedger
	}
	if len(delta) > maxDelta && l.Type != liquidation {
		return market.Ledger{}, errDelta
	}
	switch l.Type {
	case market.LedgerDeposit, market.LedgerWithdraw:
	default:
		return l, nil
	}
	l.Funds, l.USDC = l.Type, string(update.USDC)
	switch usdc, err := market.ParseDecimal(l.USDC); {
	case err != nil:
		return l, fmt.Errorf("a %s: usdc: %w", l.Type, err)
	case usdc.IsNeg():
		return l, errNegative
	}
	if _, err := market.ParseDecimal(string(update.Fee)); err == nil {
		l.Fee = string(update.Fee)
	}
	return l, nil
}
