package catalog

import "time"

// Positions of accounts in one coin: how they developed, what they earned and what
// was executed for them.
var (
	// Lists how the open position of an account in a coin developed.
	CurrentPositionHistory = route[CurrentPositionIn, *PositionHistory]("GET", "/upgrade/v2/hl/traders/{address}/current-position-history/{coin}", PerpTraders, action("HL_CURRENT_POSITION_HISTORY"), EnvelopeB).needs(VenueFills)
	// Lists how a closed position of an account in a coin developed.
	CompletedPositionHistory = route[CompletedPositionIn, *PositionHistory]("GET", "/upgrade/v2/hl/traders/{address}/completed-position-history/{coin}", PerpTraders, action("HL_COMPLETED_POSITION_HISTORY"), EnvelopeB).needs(VenueFills).looksUp()
	// Lists the profit of the open position of an account in a coin over time.
	CurrentPositionPnl = route[CurrentPositionBucketsIn, *PositionPnl]("GET", "/upgrade/v2/hl/traders/{address}/current-position-pnl/{coin}", PerpTraders, action("HL_CURRENT_POSITION_PNL"), EnvelopeB).needs(VenueFills)
	// Lists the profit of a closed position of an account in a coin over time.
	CompletedPositionPnl = route[CompletedPositionBucketsIn, *PositionPnl]("GET", "/upgrade/v2/hl/traders/{address}/completed-position-pnl/{coin}", PerpTraders, action("HL_COMPLETED_POSITION_PNL"), EnvelopeB).needs(VenueFills).looksUp()
	// Lists what was bought and sold for the open position of an account in a coin.
	CurrentPositionExecutions = route[CurrentPositionBucketsIn, *PositionExecutions]("GET", "/upgrade/v2/hl/traders/{address}/current-position-executions/{coin}", PerpTraders, action("HL_CURRENT_POSITION_EXECUTIONS"), EnvelopeB).needs(VenueFills)
	// Lists what was bought and sold for a closed position of an account in a coin.
	CompletedPositionExecutions = route[CompletedPositionBucketsIn, *PositionExecutions]("GET", "/upgrade/v2/hl/traders/{address}/completed-position-executions/{coin}", PerpTraders, action("HL_COMPLETED_POSITION_EXECUTIONS"), EnvelopeB).needs(VenueFills).looksUp()
)

// CurrentPositionIn names the open position of an account in a coin. Where there is none
// data is null.
type CurrentPositionIn struct {
	Address Address `path:"address"`
	Coin    Coin    `path:"coin"`
}

// CompletedPositionIn names a closed position of an account in a coin by the times at
// which it was opened and closed, as completed-trades lists them. One of them is enough.
// Where there is none by these times, none is given, or its fills are no longer kept, the
// answer has status 200, code "400", msg "position not found" and data null, and error
// says why.
type CompletedPositionIn struct {
	Address   Address `path:"address"`
	Coin      Coin    `path:"coin"`
	StartTime *Millis `query:"startTime" example:"1793000000000"` // when it was opened, in milliseconds since 1970 UTC
	EndTime   *Millis `query:"endTime" example:"1795000000000"`   // when it was closed, in milliseconds since 1970 UTC
}

// Span implements [Spanner].
func (in CompletedPositionIn) Span(now time.Time) (start, end time.Time) {
	return spanMillis(in.StartTime, in.EndTime, now)
}

// Latest implements [Dater].
func (in CompletedPositionIn) Latest(now time.Time) time.Time {
	return closedBy(in.StartTime, in.EndTime, now)
}

// closedBy is when a position was closed at the latest that is named by its times.
func closedBy(opened, closed *Millis, now time.Time) time.Time {
	switch {
	case closed != nil:
		return closed.Time()
	case opened != nil:
		return now
	}
	return time.Time{}
}

// CurrentPositionBucketsIn selects the newest buckets of the open position of an account
// in a coin. Where there is none data is null.
type CurrentPositionBucketsIn struct {
	Address  Address `path:"address"`
	Coin     Coin    `path:"coin"`
	Interval string  `query:"interval" enum:"15m|30m|1h|2h|4h|8h|12h|1d" default:"1h"` // length of a bucket
	Limit    int64   `query:"limit" default:"20" min:"1" max:"1000"`                   // rows of the answer, 1,000 at most
}

// CompletedPositionBucketsIn selects the newest buckets of a closed position of an account
// in a coin, which is named by the times at which it was opened and closed, as
// completed-trades lists them. One of them is enough.
// Where there is none by these times, none is given, or its fills are no longer kept, the
// answer has status 200, code "400", msg "position not found" and data null, and error
// says why.
type CompletedPositionBucketsIn struct {
	Address   Address `path:"address"`
	Coin      Coin    `path:"coin"`
	StartTime *Millis `query:"startTime" example:"1793000000000"`                       // when it was opened, in milliseconds since 1970 UTC
	EndTime   *Millis `query:"endTime" example:"1795000000000"`                         // when it was closed, in milliseconds since 1970 UTC
	Interval  string  `query:"interval" enum:"15m|30m|1h|2h|4h|8h|12h|1d" default:"1h"` // length of a bucket
	Limit     int64   `query:"limit" default:"20" min:"1" max:"1000"`                   // rows of the answer, 1,000 at most
}

// Span implements [Spanner].
func (in CompletedPositionBucketsIn) Span(now time.Time) (start, end time.Time) {
	return spanMillis(in.StartTime, in.EndTime, now)
}

// Latest implements [Dater].
func (in CompletedPositionBucketsIn) Latest(now time.Time) time.Time {
	return closedBy(in.StartTime, in.EndTime, now)
}

// PositionIs says which position an answer is about.
type PositionIs struct {
	Address   string `json:"address"`
	Coin      string `json:"coin"`
	Direction string `json:"direction"`         // long or short
	Cross     bool   `json:"cross"`             // true for cross margin, false for isolated margin
	StartTime string `json:"startTime"`         // when it was opened, ISO 8601; where it was opened before its fills are known, the first known one
	EndTime   string `json:"endTime,omitempty"` // when it was closed, ISO 8601; left out for an open position
}

// PositionHistory is how a position developed, oldest first: a point for each order that
// changed it, and for an open position one for now. Orders after which the entry price is
// not known have none. Of a position that more than 2,000 orders changed it has the newest
// 2,000 points.
type PositionHistory struct {
	PositionIs
	History []PositionPoint `json:"history"`
}

// PositionPoint is a position at a time: at the price of the fill that changed it, and now
// at the mark price. Amounts are quote units, decimal strings. Of the point for now those
// that depend on an entry price are null where that is not known.
type PositionPoint struct {
	Time             int64   `json:"time"`           // ms
	Size             string  `json:"size"`           // base units, negative for short
	Leverage         int64   `json:"leverage"`       // leverage that the account has set for the coin; until that is known the venue's default, 20 or what the market allows
	EffLeverage      *string `json:"effLeverage"`    // value of the position over the value of the account's perpetuals, for past points of the full hour before; null where that is not known
	EntryPrice       *string `json:"entryPrice"`     // average price of what is open, or was closed
	PositionValue    string  `json:"positionValue"`  // size x price, never negative
	UnrealizedPnl    *string `json:"unrealizedPnl"`  // profit of what is open, at that price
	ReturnOnEquity   *string `json:"returnOnEquity"` // unrealizedPnl over the margin at entry, a fraction
	LiquidationPrice *string `json:"liqPrice"`       // price at which it would be liquidated; null where there is none or the rest of the account at that time is not known
	MarginUsed       *string `json:"marginUsed"`     // initial margin, or for isolated margin the equity of the position; null where the margin that was set aside is not known
	CumFunding       *string `json:"cumFunding"`     // funding paid less received since it was opened; null where it was opened before the account is known, until the venue has said it
}

// PositionPnl is what a position was worth at the end of each bucket, oldest first.
type PositionPnl struct {
	PositionIs
	Interval string             `json:"interval"` // length of a bucket
	Pnls     []PositionPnlPoint `json:"pnls"`
}

// PositionPnlPoint is a position at the end of a bucket, or now, at the last traded
// price. Amounts are quote units, decimal strings.
type PositionPnlPoint struct {
	Time          int64   `json:"time"`          // when the bucket opens, ms
	Size          string  `json:"size"`          // base units, negative for short; 0.0 at its end where it was closed
	PositionValue string  `json:"positionValue"` // size x price, never negative
	UnrealizedPnl *string `json:"unrealizedPnl"` // profit of what is open; null where the entry price is not known
}

// PositionExecutions is what was bought and sold for a position, oldest first: buckets
// without a fill are left out.
type PositionExecutions struct {
	PositionIs
	Interval   string            `json:"interval"` // length of a bucket
	Executions []ExecutionBucket `json:"executions"`
}

// ExecutionBucket sums up the fills of a position in a bucket. Of a fill that turned
// the position around, the part that belongs to it counts.
type ExecutionBucket struct {
	Time      int64   `json:"time"`      // when the bucket opens, ms
	BuyCount  int64   `json:"buyCount"`  // number of fills that bought
	SellCount int64   `json:"sellCount"` // number of fills that sold
	BuySz     string  `json:"buySz"`     // size bought in base units, a decimal string
	SellSz    string  `json:"sellSz"`    // size sold in base units, a decimal string
	BuyAvgPx  *string `json:"buyAvgPx"`  // average price of what was bought, by size, to eight places; null without such a fill
	SellAvgPx *string `json:"sellAvgPx"` // average price of what was sold, by size, to eight places; null without such a fill
}
