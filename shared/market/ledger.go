package market

import "encoding/json"

// BBO is the best bid and offer of one coin at one time; a side without orders
// is nil. It replaces the one before.
type BBO struct {
	Coin     string
	Time     int64 // of the source, ms
	Bid, Ask *Level
}

// Types of ledger updates that move funds between an account and the world outside.
const (
	LedgerDeposit  = "deposit"
	LedgerWithdraw = "withdraw"
)

// Ledger is one update of an account's ledger that is no funding: a deposit, a
// withdrawal, a transfer, ...
type Ledger struct {
	Address string
	Time    int64  // ms
	Hash    string // of the transaction
	Seq     int64  // orders updates of one millisecond as [Fill].Seq does; 0 where that is not known
	Type    string // of Delta: LedgerDeposit, LedgerWithdraw, accountClassTransfer, ...

	// Funds is LedgerDeposit or LedgerWithdraw where money came from outside of the venue or
	// left it, by whatever route; "" of everything else. See [Ledger.Route].
	Funds string

	// USDC and Fee are what a deposit or a withdrawal moved and cost in USDC, both without a
	// sign; "" of everything else, of other tokens, and where the venue names no fee.
	USDC, Fee string

	// Value is what a deposit or withdrawal of another token was worth, USDC; "" where the
	// venue does not say.
	Value string

	Delta json.RawMessage // as the venue wrote it: {"type":"deposit","usdc":".."}

	Arrived Arrived
}
