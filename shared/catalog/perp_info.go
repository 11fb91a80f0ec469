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

// InfoIn is the union of what the types of POST /info ask for; which fields a
// type needs is checked by its handler.
type InfoIn struct {
	Type            string       `body:"type" required:"true" maxlen:"64"`
	Dex             string       `body:"dex" maxlen:"32"`
	User            *Address     `body:"user"`
	Coin            *Coin        `body:"coin"`
	StartTime       *Millis      `body:"startTime"`
	EndTime         *Millis      `body:"endTime"`
	AggregateByTime bool         `body:"aggregateByTime"`
	Oid             string       `body:"oid" maxlen:"66"` // a number, or a client order id in hexadecimal
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
