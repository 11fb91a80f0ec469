package market

// Anchor is what the venue itself says of an account. What a node's files do not tell
// (leverage, margin mode, isolated margin, whatever began before) comes from it, and
// where it differs from what was folded, it is right.
type Anchor struct {
	Address string

	Mode      Mode                // [ModeUnknown] where it was not asked for, or refused
	Dexes     []AccountState      // one for each dex that has answered
	Silent    []string            // dexes that were asked and have not
	Spot      []SpotBalance       // all balances, where SpotTime is not 0
	SpotTime  int64               // of Spot, ms; 0 where it was not asked for
	Leverages map[string]Leverage // by coin, where asked
	Orders    []OrderStatus       // open orders
	Past      *VenueCurve         // what the account was worth until now; nil where it was not asked for, or refused
	Listed    map[string]int64    // by dex: when it was asked for its orders, ms, where Orders has all of them
}

// IsEmpty reports whether the venue knows nothing of the account, as far as it has answered.
func (a *Anchor) IsEmpty() bool {
	for i := range a.Dexes {
		if d := &a.Dexes[i]; len(d.Positions) > 0 || !d.Margin.AccountValue.IsZero() {
			return false
		}
	}
	return len(a.Spot) == 0
}

// Difference is a figure of an account that an anchor contradicts.
type Difference struct {
	Coin   string // coin, token, or dex where the figure is of a whole dex
	Field  string // size, cost, margin, cash, leverage, funding, balance, lent
	Folded Decimal
	Actual Decimal // by the venue
}
