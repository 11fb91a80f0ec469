package market

// AccountState is an account in one dex at one time: what the venue calls its
// clearinghouse state. Amounts are quote units, rounded as the venue rounds them, so
// that [Text] writes what the venue would.
type AccountState struct {
	Dex  string // "" is the main one
	Time int64  // ms
	Mode Mode   // of the account; where it is not [Mode.Explained], sums of margins are of no meaning

	Margin           MarginSummary // of all positions
	CrossMargin      MarginSummary // without the isolated ones
	CrossMaintenance Decimal       // maintenance margin of the cross positions
	Withdrawable     Decimal

	// Unfunded says that the venue has not said yet what there is in the dex.
	Unfunded bool

	// Unvalued says that AccountValue, TotalRawUsd and Withdrawable are of no meaning: what
	// they follow from is not known, or no public rule tells them and the venue has not just
	// said them.
	Unvalued bool

	Positions []PositionState // by the venue in its own order, by [Account.State] in the order of the coins' names
}

// MarginSummary sums up an account or its cross part. Quote units.
type MarginSummary struct {
	AccountValue    Decimal // cash and unrealized PnL
	TotalNtlPos     Decimal // notional of the positions at their marks
	TotalRawUsd     Decimal // AccountValue less the signed notional
	TotalMarginUsed Decimal
}

// PositionState is an open position at a mark price.
type PositionState struct {
	Coin     string
	Szi      Decimal // base units, negative is short
	Leverage Leverage
	Assumed  bool    // Leverage is the venue's default, as the venue has not said it
	RawUsd   Decimal // of an isolated position: its margin less its signed entry cost; else 0

	// NoCost says that the position was opened before the account is known, and that
	// nothing has told its entry price yet. Then EntryPx, UnrealizedPnl and
	// ReturnOnEquity are 0 and of no meaning.
	NoCost bool

	// Unseen says that the position was opened before the account is known, and that the
	// venue has said nothing of it since. Then the funding since it was opened and changed
	// lacks what came before, and of an isolated one the margin is not known.
	Unseen         bool
	EntryPx        Decimal // quote units per base unit
	PositionValue  Decimal // notional at the mark, never negative
	UnrealizedPnl  Decimal
	ReturnOnEquity Decimal // UnrealizedPnl over the margin at entry, a fraction

	// LiquidationPx is the mark at which the position would be liquidated, other marks
	// unchanged; 0 where there is none, which the venue writes as null, and where it is not
	// known.
	LiquidationPx Decimal
	MarginUsed    Decimal
	MaxLeverage   int64 // of the coin; 0 where the venue does not describe it

	// Funding paid less received: positive was paid.
	FundingAllTime     Decimal // in this coin, ever
	FundingSinceOpen   Decimal // for this position
	FundingSinceChange Decimal // since its last fill
}

// MarginKnown reports whether the margin of a position is known.
func (p *PositionState) MarginKnown() bool { return !p.Leverage.Isolated || !p.Unseen }

// Leverage is how an account borrows in a coin. It is a setting of account and coin,
// which holds for an open position and for the next one. The zero value is not known.
type Leverage struct {
	Isolated bool  // the position has a margin of its own; else it is cross: all cash of the dex is behind it
	Value    int64 // notional over initial margin, from 1; 0 is not known
}

// MarginMode is the venue's word for a position with a margin of its own, or without.
func MarginMode(isolated bool) string {
	if isolated {
		return "isolated"
	}
	return "cross"
}

// SpotBalance is what an account holds of a token.
type SpotBalance struct {
	Coin     string  // name of the token, e.g. USDC or HYPE
	Token    int64   // its number
	Total    Decimal // units of the token
	Hold     Decimal // part of Total that open orders, and the positions that it stands behind, reserve
	EntryNtl Decimal // what was paid for Total, quote units; 0 of USDC
	NoCost   bool    // EntryNtl is not known
	Lent     Decimal // supplied to others, which Total lacks; negative is borrowed

	Backs            bool    // it stands behind perpetual positions
	AfterMaintenance Decimal // where it does: Total less isolated positions and the maintenance margin of the others
}
