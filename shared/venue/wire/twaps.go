package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"quotary/shared/market"
	"quotary/shared/text/lenient"
)

// twapState is a TWAP order as the venue writes it.
type twapState struct {
	Coin        string       `json:"coin"`
	User        string       `json:"user"`
	Side        string       `json:"side"`
	Sz          lenient.Text `json:"sz"`
	ExecutedSz  lenient.Text `json:"executedSz"`
	ExecutedNtl lenient.Text `json:"executedNtl"`
	Minutes     int64        `json:"minutes"`
	ReduceOnly  bool         `json:"reduceOnly"`
	Randomize   bool         `json:"randomize"`
	Timestamp   int64        `json:"timestamp"` // when it began, ms
}

var errTwapTime = errors.New("a TWAP status has no time")

// ParseTwapStatus reads a status of a TWAP order in a node's file:
//
//	{"time":"2025-12-04T17:00:22.417074898","twap_id":1430699,"state":{"coin","user",..},"status":"activated"}
//
// Of an order that went wrong the status is {"error":"<why>"}. What it returns has no Seq.
func ParseTwapStatus(raw json.RawMessage) (s market.TwapStatus, err error) {
	var w struct {
		Time   string          `json:"time"`
		TwapID lenient.Text    `json:"twap_id"`
		State  twapState       `json:"state"`
		Status json.RawMessage `json:"status"`
	}
	if err := lenient.Object(raw, &w); err != nil {
		return s, fmt.Errorf("a TWAP status: %w", err)
	}
	at, err := time.Parse(NodeTime, w.Time)
	if err != nil {
		return s, errTwapTime
	}
	s = market.TwapStatus{Address: w.State.User, Time: at.UnixMilli(), Twap: market.Twap{
		Coin: w.State.Coin, Sz: string(w.State.Sz), ExecutedSz: string(w.State.ExecutedSz), ExecutedNtl: string(w.State.ExecutedNtl),
		Minutes: w.State.Minutes, ReduceOnly: w.State.ReduceOnly, Randomize: w.State.Randomize, Timestamp: w.State.Timestamp,
	}}
	if len(w.State.Side) == 1 {
		s.Side = market.Side(w.State.Side[0])
	}
	if id, err := strconv.ParseInt(string(w.TwapID), 10, 64); err == nil {
		s.TwapID = &id
	}
	s.Status, s.Error = twapStatus(w.Status)
	if err := s.Check(); err != nil {
		return s, fmt.Errorf("a TWAP status: %w", err)
	}
	return s, nil
}

// twapStatus is a status and, of an error, why: a text, or an object of one member.
func twapStatus(raw json.RawMessage) (status, why string) {
	if json.Unmarshal(raw, &status) == nil {
		return status, ""
	}
	var of struct {
		Error *lenient.Text `json:"error"`
	}
	if lenient.Object(raw, &of) == nil && of.Error != nil {
		return market.TwapError, string(*of.Error)
	}
	return "", ""
}
