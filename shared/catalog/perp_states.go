package catalog

// States of accounts of the perpetual venue: what they hold, at current prices.
var (
	// Shows balances and positions of many accounts.
	ClearinghouseStates = route[ClearinghouseStatesIn, []AddressState]("POST", "/upgrade/v2/hl/traders/clearinghouse-state", PerpTraders, action("HL_INFO_BATCH_CLEARINGHOUSE_STATE"), EnvelopeB).needs(VenueAccounts)
	// Shows the spot balances of many accounts.
	SpotClearinghouseStates = route[SpotStatesIn, []AddressSpotState]("POST", "/upgrade/v2/hl/traders/spot-clearinghouse-state", PerpTraders, action("HL_INFO_BATCH_SPOT_CLEARINGHOUSE_STATE"), EnvelopeB).needs(VenueAccounts)
)

// ClearinghouseStatesIn names accounts and a dex.
type ClearinghouseStatesIn struct {
	Addresses []Address `body:"addresses" required:"true" min:"1" cut:"50"` // accounts: 0x and 40 hexadecimal digits each, in any case; those beyond 50 are left out
	Dex       string    `body:"dex" maxlen:"32"`
}

// AddressState is the state of an account in a dex.
type AddressState struct {
	Address string              `json:"address"`
	State   *ClearinghouseState `json:"state"` // state of the account; null while an account that was not asked for before is still being fetched: ask again some seconds later
}

// ClearinghouseState is what an account has in a dex, at mark prices. Amounts are quote
// units, decimal strings.
type ClearinghouseState struct {
	MarginSummary              MarginSummary   `json:"marginSummary"`              // sums of all positions
	CrossMarginSummary         MarginSummary   `json:"crossMarginSummary"`         // sums without isolated positions
	CrossMaintenanceMarginUsed *string         `json:"crossMaintenanceMarginUsed"` // what the cross positions must keep so that they are not liquidated; null while it is not known how the money of the account stands behind them
	Withdrawable               *string         `json:"withdrawable"`               // amount that may leave the dex; null where accountValue is
	AssetPositions             []AssetPosition `json:"assetPositions"`             // open positions, in the order of the venue's markets
	Time                       int64           `json:"time"`                       // time of the mark prices of the dex, or of the newest event of the account where that is later, ms
}

// MarginSummary sums up an account in a dex. Amounts are quote units, decimal strings.
type MarginSummary struct {
	AccountValue    *string `json:"accountValue"`    // cash and unrealized profit, or where spot balances stand behind positions what the exchange showed in the dex within the last minute; null where neither is known
	TotalNtlPos     string  `json:"totalNtlPos"`     // value of the positions
	TotalRawUsd     *string `json:"totalRawUsd"`     // accountValue less the value of longs, plus that of shorts; null where that is
	TotalMarginUsed *string `json:"totalMarginUsed"` // initial margin of the positions; null where that of one is not known, or how the money of the account stands behind them
}

// AssetPosition is an open position.
type AssetPosition struct {
	Type     string        `json:"type"` // always oneWay
	Position PositionState `json:"position"`
}

// PositionState is an open position at the mark price. Amounts are quote units, decimal
// strings. Those that depend on an entry price are null where the position was opened
// before its fills are known.
type PositionState struct {
	Coin           string           `json:"coin"`
	Szi            string           `json:"szi"` // size in base units, negative for short
	Leverage       PositionLeverage `json:"leverage"`
	EntryPx        *string          `json:"entryPx"`        // average price of what is open
	PositionValue  string           `json:"positionValue"`  // size x mark price, never negative
	UnrealizedPnl  *string          `json:"unrealizedPnl"`  // profit of what is open, at the mark price
	ReturnOnEquity *string          `json:"returnOnEquity"` // unrealizedPnl over the margin at entry, a fraction
	LiquidationPx  *string          `json:"liquidationPx"`  // mark price at which it is liquidated, other prices unchanged; null where there is none or it is not known
	MarginUsed     *string          `json:"marginUsed"`     // initial margin, or for isolated margin the equity of the position; null where the margin that was set aside is not known
	MaxLeverage    *int64           `json:"maxLeverage"`    // highest leverage that the market allows; null where that is not known
	CumFunding     CumFunding       `json:"cumFunding"`
}

// PositionLeverage is the leverage that an account has set for a coin, and its isolated margin.
// No event tells that the account changes them: they are as the venue said them last, which is up
// to five minutes ago while clients ask for the account, and may be an hour or more where nobody
// has lately. Until leverage is known, which takes some seconds after the first request for the
// account, the venue's default is given: 20 cross, or less where the market allows no more.
type PositionLeverage struct {
	Type    string  `json:"type"`              // margin: cross or isolated
	Value   int64   `json:"value"`             // leverage: value of a position over its initial margin
	Assumed bool    `json:"assumed,omitempty"` // true where it is the default: margins and the liquidation price follow from it then
	RawUsd  *string `json:"rawUsd,omitempty"`  // margin less entry cost in quote units, a decimal string; isolated positions alone have it
}

// CumFunding is funding paid less received, in quote units, decimal strings. They are
// null where the position was opened before its fills are known, until the venue tells them.
type CumFunding struct {
	AllTime     *string `json:"allTime"`     // in this coin, ever
	SinceOpen   *string `json:"sinceOpen"`   // since the position was opened
	SinceChange *string `json:"sinceChange"` // since the last fill of the position
}

// SpotStatesIn names accounts.
type SpotStatesIn struct {
	Addresses []Address `body:"addresses" required:"true" min:"1" cut:"50"` // accounts: 0x and 40 hexadecimal digits each, in any case; those beyond 50 are left out
}

// AddressSpotState is the spot balances of an account.
type AddressSpotState struct {
	Address   string     `json:"address"`
	SpotState *SpotState `json:"spotState"` // tokens of the account; null while an account that was not asked for before is still being fetched: ask again some seconds later
}

// SpotState is what an account holds of tokens.
type SpotState struct {
	Balances []SpotBalance `json:"balances"` // balances by number of the token

	// by token that stands behind positions: its number, and what is left of it beyond
	// isolated positions and the maintenance margin of the others
	TokenToAvailableAfterMaintenance []TokenAvailable `json:"tokenToAvailableAfterMaintenance,omitempty"`
	PortfolioMarginEnabled           bool             `json:"portfolioMarginEnabled,omitempty"` // true where tokens stand behind each other
}

// TokenAvailable is the number of a token, and an amount of it, a decimal string.
type TokenAvailable [2]any

// SpotBalance is what an account holds of a token. Amounts are decimal strings.
type SpotBalance struct {
	Coin     string  `json:"coin"`               // name of the token
	Token    *int64  `json:"token"`              // number of the token; null where it is not known
	Total    string  `json:"total"`              // units of the token, with the unrealized profit of the positions that it stands behind
	Hold     *string `json:"hold"`               // units of the token that open orders, and the positions that it stands behind, reserve; null where open orders are not known, and under portfolio margin
	EntryNtl *string `json:"entryNtl"`           // what was paid for it, in quote units; null where that is not known
	SpotHold *string `json:"spotHold,omitempty"` // under portfolio margin what is reserved, without what could be borrowed
	Supplied *string `json:"supplied,omitempty"` // under portfolio margin what is lent to others, where there is any
	Borrowed *string `json:"borrowed,omitempty"` // under portfolio margin what is borrowed, where there is any
}
