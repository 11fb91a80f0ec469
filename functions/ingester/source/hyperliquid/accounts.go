package hyperliquid

import (
	"context"
	"encoding/json"
	"time"

	"quotary/shared/text/visible"
)

// Weights of the requests that concern one account.
const (
	weightState  = 2  // clearinghouseState
	weightOrders = 20 // frontendOpenOrders
	weightLedger = 70 // userNonFundingLedgerUpdates: 20, and 1 for every 20 of up to about 1,000 items
)

// ClearinghouseState returns the margin and positions of an account on a dex,
// "" for the main one, as the venue wrote them, but for what is hidden.
func (i *Info) ClearinghouseState(ctx context.Context, user, dex string) (json.RawMessage, error) {
	return i.written(ctx, weightState, infoRequest{Type: "clearinghouseState", User: user, Dex: dex})
}

// OpenOrders returns the open orders of an account on a dex, each as the venue
// wrote it, but for what is hidden.
func (i *Info) OpenOrders(ctx context.Context, user, dex string) ([]json.RawMessage, error) {
	var orders []json.RawMessage
	err := i.ask(ctx, weightOrders, infoRequest{Type: "frontendOpenOrders", User: user, Dex: dex}, &orders)
	for n := range orders {
		orders[n] = visible.JSON(orders[n])
	}
	return orders, err
}

// LedgerUpdates returns the ledger updates of an account since a time that are
// no funding, oldest first, each as the venue wrote it: {"time","hash","delta"}.
func (i *Info) LedgerUpdates(ctx context.Context, user string, since time.Time) ([]json.RawMessage, error) {
	var updates []json.RawMessage
	err := i.ask(ctx, weightLedger, infoRequest{Type: "userNonFundingLedgerUpdates", User: user, StartTime: max(1, since.UnixMilli())}, &updates)
	return updates, err
}
