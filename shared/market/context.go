package market

import (
	"encoding/json"
	"fmt"
)

// Contexts are the current figures of all coins of one dex, or of the spot
// markets. They replace those before.
type Contexts struct {
	Dex   string          // "" is the main dex; of no meaning for spot
	Spot  bool            // the spot markets
	Time  int64           // when the source gave it, ms
	Raw   json.RawMessage // the venue's metaAndAssetCtxs or spotMetaAndAssetCtxs as it wrote it, but for what is hidden
	Coins []Context       // in the venue's order

	Unread int // coins that are not among them as they cannot be read
}

// Context is the part of a coin's figures that others are computed from.
type Context struct {
	Coin    string
	Mark    Decimal // quote units per base unit
	Funding string  // the hourly rate that would be paid now, a fraction; "" on spot
	Premium string  // over the oracle price, a fraction; "" where it is not known

	// Interest is the open interest of one side, as longs equal shorts, base units; 0 on
	// spot and where it is not known.
	Interest Decimal

	Day ContextDay
}

// ContextDay is the last 24 hours of a coin. What is not known is 0.
type ContextDay struct {
	Open   Decimal // the price a day ago, quote units per base unit
	Size   Decimal // traded, base units
	Amount Decimal // the same, quote units
}

// Funding is what longs paid shorts in one hour, per unit of notional; shorts
// paid longs where it is negative.
type Funding struct {
	Coin    string
	Rate    string // a fraction, decimal text
	Premium string // that the rate was made of, a fraction, decimal text; "" where the source does not give it
	Time    int64  // when it was paid, ms: just after a full hour
}

// Check says what makes f impossible.
func (f *Funding) Check() error {
	if !ValidCoin(f.Coin) {
		return fmt.Errorf("%.80q is no coin", f.Coin)
	}
	if f.Time <= 0 || f.Time > MaxTime {
		return fmt.Errorf("time %d is no time in ms", f.Time)
	}
	if _, ok := decimalPlaces(f.Rate); !ok {
		return fmt.Errorf("rate %.60q %w", f.Rate, errDecimal)
	}
	if _, ok := decimalPlaces(f.Premium); !ok && f.Premium != "" {
		return fmt.Errorf("premium %.60q %w", f.Premium, errDecimal)
	}
	return nil
}
