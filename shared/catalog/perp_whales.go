package catalog

import "encoding/json"

// Whales: accounts whose perpetual positions together are worth more than 1,000,000 USD at the
// mark prices.
var (
	// Ranks the open positions of whales, accounts with positions above 1,000,000 USD.
	WhalePositions = route[WhalePositionsIn, []WhalePosition]("GET", "/upgrade/v2/hl/whales/open-positions", PerpWhales, action("HL_WHALES_OPEN_POSITIONS"), EnvelopeB).needs(VenueFills, VenueAccounts).covers()
	// Lists what whales did with their positions last, newest first.
	WhaleEvents = route[WhaleEventsIn, []WhaleEvent]("GET", "/upgrade/v2/hl/whales/latest-events", PerpWhales, action("HL_WHALES_LATEST_EVENTS"), EnvelopeB).needs(VenueFills).covers()
	// Counts the positions of whales that are long and those that are short.
	WhaleDirections = route[WhaleDirectionsIn, WhaleDirectionCounts]("GET", "/upgrade/v2/hl/whales/directions", PerpWhales, action("HL_WHALES_DIRECTIONS"), EnvelopeB).needs(VenueFills, VenueAccounts).covers()
	// Lists the share of the positions of whales that are long over time, oldest first.
	WhaleLongRatios = route[WhaleLongRatiosIn, []WhaleLongRatio]("GET", "/upgrade/v2/hl/whales/history-long-ratio", PerpWhales, action("HL_WHALES_HISTORY_LONG_RATIO"), EnvelopeB).needs(VenueFills).covers()
)

var _ = does(PerpWhales, readSeries, readViews)

// WhalePositionsIn selects open positions of whales. What is not known of a position fits no
// filter of it, and comes last in an order by it; what is equal is ordered by user and symbol.
type WhalePositionsIn struct {
	Coin       Coin    `query:"coin"`
	Dir        string  `query:"dir" enum:"long|short"`                                                                           // side of the positions; absent for both
	NpnlSide   string  `query:"npnlSide,npnl-side" enum:"profit|loss"`                                                           // unrealized profit or loss; absent for both
	FrSide     string  `query:"frSide,fr-side" enum:"profit|loss"`                                                               // funding received or paid since a position was opened; absent for both
	MarginMode string  `query:"marginMode" example:"isolated"`                                                                   // cross, isolated or all, in any case; absent for all
	TopBy      string  `query:"topBy,top-by" default:"create-time" enum:"position-value|margin-balance|create-time|profit|loss"` // what comes first: the largest value or margin, the newest, the largest profit or loss
	MinUSD     Decimal `query:"min_usd" default:"0" min:"0"`                                                                     // least value of a position, USD, inclusive
	Take       int64   `query:"take" default:"10" min:"1" max:"200"`                                                             // rows of the answer, 200 at most
}

// WhalePosition is an open position of a whale at the mark price. Amounts are decimal strings in
// the collateral of the dex but for positionValueUsd. Null is not known: what of an account only
// the venue can say, before it was asked.
type WhalePosition struct {
	User             string  `json:"user"`             // the address
	Symbol           string  `json:"symbol"`           // the coin: BTC, or xyz:GOLD of a builder's dex
	PositionSize     string  `json:"positionSize"`     // base units, negative is short
	EntryPrice       *string `json:"entryPrice"`       // null is not known
	LiqPrice         *string `json:"liqPrice"`         // mark price at which it is liquidated, other marks unchanged; null where there is none, and where it is not known
	Leverage         *int64  `json:"leverage"`         // as the account has set it; null is not known
	MarginBalance    *string `json:"marginBalance"`    // margin that it uses: value of an isolated position with its margin, initial margin of others; null is not known
	PositionValueUsd string  `json:"positionValueUsd"` // notional at the mark price, USD
	UnrealizedPnL    *string `json:"unrealizedPnL"`    // null is not known
	FundingFee       *string `json:"fundingFee"`       // funding since it was opened, received less paid; null is not known
	MarginMode       *string `json:"marginMode"`       // cross or isolated; null is not known
	CreateTime       *int64  `json:"createTime"`       // when it was opened, ms; null is not known
	UpdateTime       *int64  `json:"updateTime"`       // when it last changed, ms; null is not known
}

// WhaleEventsIn selects what whales did last.
type WhaleEventsIn struct {
	Coin  Coin  `query:"coin"`
	Limit int64 `query:"limit,take" default:"10" min:"1" max:"100"` // rows of the answer, 100 at most
}

// WhaleEvent is what a whale did with a position within one block. An account counts as a whale
// that was one before or after.
type WhaleEvent struct {
	User             string  `json:"user"`             // the address
	Symbol           string  `json:"symbol"`           // the coin: BTC, or xyz:GOLD of a builder's dex
	Coin             string  `json:"coin"`             // the same
	MarginMode       *string `json:"marginMode"`       // cross or isolated; null is not known
	PositionSize     string  `json:"positionSize"`     // size after it, of what was closed before it; base units, negative is short
	EntryPrice       *string `json:"entryPrice"`       // null is not known
	LiqPrice         *string `json:"liqPrice"`         // mark price at which it is liquidated; null where there is none, where it is not known, and of what was closed
	PositionValueUsd string  `json:"positionValueUsd"` // positionSize at the mark price, USD
	PositionAction   int     `json:"positionAction"`   // 1 opened, 2 closed, 3 added to, 4 reduced, 5 turned to the other side
	CreateTime       string  `json:"createTime"`       // when it happened, ISO 8601 with milliseconds, UTC
}

// WhaleDirectionsIn selects the positions of whales in one coin or in all.
type WhaleDirectionsIn struct {
	Coin Coin `query:"coin"`
}

// WhaleDirectionCounts counts the open positions of whales.
type WhaleDirectionCounts struct {
	LongCount  int64 `json:"longCount"`  // positions that are long
	ShortCount int64 `json:"shortCount"` // positions that are short
}

// WhaleLongRatiosIn selects samples of the positions of whales in all coins.
type WhaleLongRatiosIn struct {
	Interval string `query:"interval" default:"1h" enum:"10m|1h|4h|1d"` // distance of the samples
	Limit    int64  `query:"limit" default:"50" min:"1" max:"200"`      // rows of the answer, 200 at most, the newest
}

// WhaleLongRatio is a sample of the positions of whales in all coins.
type WhaleLongRatio struct {
	Time                   int64       `json:"time"`                   // when it was taken, ms
	LongRatio              json.Number `json:"longRatio"`              // part of their positions that is long, a fraction from 0 to 1
	PositionValueDiff      string      `json:"positionValueDiff"`      // value of the longs less that of the shorts, USD
	LongPositionValueRatio json.Number `json:"longPositionValueRatio"` // part of their value that is long, a fraction from 0 to 1
}
