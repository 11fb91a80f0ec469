package catalog

import (
	"encoding/json"
	"slices"
	"time"
)

// The pass to the venue's own kind of question, and states of many accounts.
var (
	// Answers the venue's own kinds of question, by the type in the body.
	Info = route[InfoIn, json.RawMessage]("POST", "/upgrade/v2/hl/info", PerpInfo, action("HL_INFO"), EnvelopeB)
)

var _ = does(PerpInfo, readLog, readSeries, readViews)

// InfoType is a type of question that POST /info takes.
type InfoType struct {
	Name    string
	Needs   []string // members of the request without which there is no answer
	Takes   []string // others that the answer depends on; every other one is ignored
	Planned bool     // specified, not built yet
}

// InfoTypes are all types, in the order in which they are listed to a caller.
var InfoTypes = []InfoType{
	{Name: "allMids", Takes: []string{"dex"}},
	{Name: "meta", Takes: []string{"dex"}},
	{Name: "spotMeta"},
	{Name: "candleSnapshot", Needs: []string{"req"}},
	{Name: "fundingHistory", Needs: []string{"coin", "startTime"}, Takes: []string{"endTime"}},
	{Name: "historicalOrders", Needs: []string{"user"}},
	{Name: "l2Book", Needs: []string{"coin"}, Takes: []string{"nSigFigs", "mantissa"}},
	{Name: "metaAndAssetCtxs", Takes: []string{"dex"}},
	{Name: "orderStatus", Needs: []string{"user", "oid"}},
	{Name: "perpDexs"},
	{Name: "spotMetaAndAssetCtxs"},
	{Name: "userFills", Needs: []string{"user"}, Takes: []string{"aggregateByTime"}},
	{Name: "userFillsByTime", Needs: []string{"user", "startTime"}, Takes: []string{"endTime", "aggregateByTime"}},

	{Name: "activeAssetData", Planned: true},
	{Name: "clearinghouseState", Planned: true},
	{Name: "frontendOpenOrders", Planned: true},
	{Name: "openOrders", Planned: true},
	{Name: "portfolio", Planned: true},
	{Name: "spotClearinghouseState", Planned: true},
	{Name: "userFees", Planned: true},
	{Name: "userFunding", Planned: true},
	{Name: "userNonFundingLedgerUpdates", Planned: true},
	{Name: "userTwapSliceFills", Planned: true},
	{Name: "webData2", Planned: true},
}

// InfoIn is the union of what the types of POST /info ask for.
type InfoIn struct {
	Type            string       `body:"type" required:"true" maxlen:"64" example:"userFills"`
	Dex             string       `body:"dex" maxlen:"32"`
	User            *Address     `body:"user" example:"0x0123456789abcdef0123456789abcdef01234567"`
	Coin            *Coin        `body:"coin"`
	StartTime       *Millis      `body:"startTime"`
	EndTime         *Millis      `body:"endTime"`
	AggregateByTime bool         `body:"aggregateByTime"`
	Oid             string       `body:"oid" maxlen:"66"` // order id, as text or as a number, or the client order id in hexadecimal
	NSigFigs        *Int         `body:"nSigFigs"`
	Mantissa        *Int         `body:"mantissa"`
	Req             *InfoCandles `body:"req"`
}

// InfoCandles is the nested request of candleSnapshot.
type InfoCandles struct {
	Coin      Coin    `json:"coin"`
	Interval  string  `json:"interval"` // length of a candle, as in 15m
	StartTime *Millis `json:"startTime"`
	EndTime   *Millis `json:"endTime"`
}

// Uses implements [Selective]: a type reads its own members alone.
func (in *InfoIn) Uses(parameter string) bool {
	if parameter == "type" {
		return true
	}
	i := slices.IndexFunc(InfoTypes, func(t InfoType) bool { return t.Name == in.Type })
	return i >= 0 && (slices.Contains(InfoTypes[i].Needs, parameter) || slices.Contains(InfoTypes[i].Takes, parameter))
}

// Span implements [Spanner], by the members that the type uses.
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
