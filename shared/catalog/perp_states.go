package catalog

// States of accounts of the perpetual venue: what they hold, at current prices.
var (
	// Shows balances and positions of many accounts.
	ClearinghouseStates = route[ClearinghouseStatesIn, []AddressState]("POST", "/upgrade/v2/hl/traders/clearinghouse-state", PerpTraders, action("HL_INFO_BATCH_CLEARINGHOUSE_STATE"), EnvelopeB)
	// Shows the spot balances of many accounts.
	SpotClearinghouseStates = route[SpotStatesIn, []AddressSpotState]("POST", "/upgrade/v2/hl/traders/spot-clearinghouse-state", PerpTraders, action("HL_INFO_BATCH_SPOT_CLEARINGHOUSE_STATE"), EnvelopeB)
)

// ClearinghouseStatesIn selects accounts.
type ClearinghouseStatesIn struct {
	Addresses []Address `body:"addresses" required:"true" min:"1" cut:"50"` // accounts: 0x and 40 hexadecimal digits each, in any case; those beyond 50 are left out
	Dex       string    `body:"dex" maxlen:"32"`
}

// AddressState is the state of an account in a dex.
type AddressState struct {
	Address string              `json:"address"`
	State   *ClearinghouseState `json:"state"` // null of an account that is asked for at the venue for the first time, and has not been told yet
}

// ClearinghouseState is what an account has in a dex, as the venue says it, at the mark
// prices of Time. Amounts are quote units, decimal strings.
type ClearinghouseState struct {
	MarginSummary              MarginSummary   `json:"marginSummary"`              // of all positions
	CrossMarginSummary         MarginSummary   `json:"crossMarginSummary"`         // without isolated positions
	CrossMaintenanceMarginUsed string          `json:"crossMaintenanceMarginUsed"` // below which cross positions are liquidated
	Withdrawable               string          `json:"withdrawable"`               // what may leave the dex
	AssetPositions             []AssetPosition `json:"assetPositions"`             // in the order of the venue's markets
	Time                       int64           `json:"time"`                       // ms
}

// MarginSummary sums up an account. Amounts are quote units, decimal strings.
type MarginSummary struct {
	AccountValue    string `json:"accountValue"`    // cash and unrealized profit
	TotalNtlPos     string `json:"totalNtlPos"`     // value of the positions
	TotalRawUsd     string `json:"totalRawUsd"`     // accountValue less the value of longs, plus that of shorts
	TotalMarginUsed string `json:"totalMarginUsed"` // initial margin of the positions
}

// AssetPosition is an open position.
type AssetPosition struct {
	Type     string        `json:"type"` // oneWay
	Position PositionState `json:"position"`
}

// PositionState is an open position at the mark price. Amounts are quote units, decimal
// strings; those that depend on an entry price are null where the position began before
// the account is known, and nothing has told it since.
type PositionState struct {
	Coin           string           `json:"coin"`
	Szi            string           `json:"szi"` // base units, negative for short
	Leverage       PositionLeverage `json:"leverage"`
	EntryPx        *string          `json:"entryPx"`        // average price of what is open
	PositionValue  string           `json:"positionValue"`  // never negative
	UnrealizedPnl  *string          `json:"unrealizedPnl"`  // at the mark price
	ReturnOnEquity *string          `json:"returnOnEquity"` // unrealizedPnl over the margin at entry, a fraction
	LiquidationPx  *string          `json:"liquidationPx"`  // mark price at which it is liquidated, other prices unchanged; null where there is none
	MarginUsed     string           `json:"marginUsed"`     // initial margin, or the equity of an isolated position
	MaxLeverage    int64            `json:"maxLeverage"`    // that the market allows
	CumFunding     CumFunding       `json:"cumFunding"`
}

// PositionLeverage is how an account borrows in a coin. Until the venue has been asked
// about the account, which takes seconds after the first request for it, the venue's
// default is assumed: 20 cross, or less where the market allows no more.
type PositionLeverage struct {
	Type    string  `json:"type"`              // cross or isolated
	Value   int64   `json:"value"`             // value of a position over its initial margin
	Assumed bool    `json:"assumed,omitempty"` // true where it is the default: what depends on it, margins and the liquidation price, is of that
	RawUsd  *string `json:"rawUsd,omitempty"`  // isolated positions alone have it: margin less entry cost in quote units, a decimal string
}

// CumFunding is funding paid less received, in quote units, decimal strings.
type CumFunding struct {
	AllTime     string `json:"allTime"`     // in this coin, ever
	SinceOpen   string `json:"sinceOpen"`   // since the position was opened
	SinceChange string `json:"sinceChange"` // since its last fill
}

// SpotStatesIn selects accounts.
type SpotStatesIn struct {
	Addresses []Address `body:"addresses" required:"true" min:"1" cut:"50"` // accounts: 0x and 40 hexadecimal digits each, in any case; those beyond 50 are left out
}

// AddressSpotState is the spot balances of an account.
type AddressSpotState struct {
	Address   string     `json:"address"`
	SpotState *SpotState `json:"spotState"` // null of an account that is asked for at the venue for the first time, and has not been told yet
}

// SpotState is what an account holds of tokens.
type SpotState struct {
	Balances []SpotBalance `json:"balances"` // by token number
}

// SpotBalance is what an account holds of a token. Amounts are decimal strings.
type SpotBalance struct {
	Coin     string `json:"coin"`     // name of the token
	Token    int64  `json:"token"`    // its number; -1 where it is not known
	Total    string `json:"total"`    // units of the token
	Hold     string `json:"hold"`     // part of total that open orders reserve
	EntryNtl string `json:"entryNtl"` // what was paid for it, quote units
}
