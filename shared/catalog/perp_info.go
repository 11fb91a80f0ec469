package catalog

import (
	"encoding/json"
	"time"
)

// The pass to the venue's own kind of question, and states of many accounts.
var (
	Info = route[InfoIn, json.RawMessage]("POST", "/upgrade/v2/hl/info", PerpInfo, action("HL_INFO"), EnvelopeB)

	_ = planned("POST", "/upgrade/v2/hl/traders/clearinghouse-state", PerpInfo, action("HL_INFO_BATCH_CLEARINGHOUSE_STATE"), EnvelopeB)
	_ = planned("POST", "/upgrade/v2/hl/traders/spot-clearinghouse-state", PerpInfo, action("HL_INFO_BATCH_SPOT_CLEARINGHOUSE_STATE"), EnvelopeB)
)

var _ = does(PerpInfo, readLog, readSeries, readViews)

// InfoIn is the union of what the types of POST /info ask for; which fields a
// type needs is checked by its handler.
type InfoIn struct {
	Type            string       `body:"type" required:"true" maxlen:"64" example:"userFills"`
	Dex             string       `body:"dex" maxlen:"32"`
	User            *Address     `body:"user" example:"0x0123456789abcdef0123456789abcdef01234567"`
	Coin            *Coin        `body:"coin"`
	StartTime       *Millis      `body:"startTime"`
	EndTime         *Millis      `body:"endTime"`
	AggregateByTime bool         `body:"aggregateByTime"`
	Oid             string       `body:"oid" maxlen:"66"` // a number, or a client order id in hexadecimal
	NSigFigs        *Int         `body:"nSigFigs"`
	Mantissa        *Int         `body:"mantissa"`
	Req             *InfoCandles `body:"req"`
}

// InfoCandles is the nested request of candleSnapshot.
type InfoCandles struct {
	Coin      Coin    `json:"coin"`
	Interval  string  `json:"interval"`
	StartTime *Millis `json:"startTime"`
	EndTime   *Millis `json:"endTime"`
}

// Span implements [Spanner].
func (in InfoIn) Span(now time.Time) (start, end time.Time) {
	if in.Req != nil {
		return spanMillis(in.Req.StartTime, in.Req.EndTime, now)
	}
	return spanMillis(in.StartTime, in.EndTime, now)
}

// Candle is one bucket of candleSnapshot, in the venue's shape.
type Candle struct {
	T     int64  `json:"t"` // open time, ms
	End   int64  `json:"T"` // last ms of the bucket
	S     string `json:"s"` // coin
	I     string `json:"i"` // interval
	Open  string `json:"o"`
	Close string `json:"c"`
	High  string `json:"h"`
	Low   string `json:"l"`
	V     string `json:"v"` // base volume
	N     int64  `json:"n"` // trades
}

// InfoFill is one account's side of a trade in the venue's own shape, as
// userFills and userFillsByTime report it. Decimals are the venue's texts.
type InfoFill struct {
	Coin          string           `json:"coin"`
	Px            string           `json:"px"`
	Sz            string           `json:"sz"`
	Side          string           `json:"side"` // B buy, A sell
	Time          int64            `json:"time"` // ms
	StartPosition string           `json:"startPosition"`
	Dir           string           `json:"dir"`
	ClosedPnl     string           `json:"closedPnl"`
	Hash          string           `json:"hash"`
	Oid           int64            `json:"oid"`
	Crossed       bool             `json:"crossed"` // the account was the taker
	Fee           string           `json:"fee"`     // negative: a rebate
	BuilderFee    *string          `json:"builderFee,omitempty"`
	Tid           int64            `json:"tid"`
	Cloid         *string          `json:"cloid,omitempty"`
	Liquidation   *InfoLiquidation `json:"liquidation,omitempty"`
	FeeToken      string           `json:"feeToken"`
	TwapID        *int64           `json:"twapId"`
}

// InfoLiquidation names whom an execution liquidated: the account of the fill
// or the other side.
type InfoLiquidation struct {
	LiquidatedUser string `json:"liquidatedUser"`
	MarkPx         string `json:"markPx"`
	Method         string `json:"method"` // market or backstop
}

// FundingRate is what longs paid shorts in one hour per unit of notional, as
// fundingHistory reports it; shorts paid longs where it is negative.
type FundingRate struct {
	Coin        string `json:"coin"`
	FundingRate string `json:"fundingRate"`
	Premium     string `json:"premium"`
	Time        int64  `json:"time"` // ms
}
