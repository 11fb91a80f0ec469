package wire

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"quotary/shared/market"
)

// NodeTime is how a node writes a time, in UTC.
const NodeTime = "2006-01-02T15:04:05.999999999"

// order is one as the venue describes it everywhere.
type order struct {
	Coin             string          `json:"coin"`
	Side             string          `json:"side"`
	LimitPx          string          `json:"limitPx"`
	Sz               string          `json:"sz"`
	Oid              int64           `json:"oid"`
	Timestamp        int64           `json:"timestamp"`
	TriggerCondition string          `json:"triggerCondition"`
	IsTrigger        bool            `json:"isTrigger"`
	TriggerPx        string          `json:"triggerPx"`
	Children         json.RawMessage `json:"children"`
	IsPositionTpsl   bool            `json:"isPositionTpsl"`
	ReduceOnly       bool            `json:"reduceOnly"`
	OrderType        string          `json:"orderType"`
	OrigSz           string          `json:"origSz"`
	Tif              *string         `json:"tif"`
	Cloid            *string         `json:"cloid"`
}

func (o *order) status() market.OrderStatus {
	return market.OrderStatus{
		Coin: o.Coin, Side: o.Side, LimitPx: o.LimitPx, Sz: o.Sz, OrigSz: o.OrigSz, Oid: o.Oid, Timestamp: o.Timestamp,
		TriggerCondition: o.TriggerCondition, IsTrigger: o.IsTrigger, TriggerPx: o.TriggerPx, Children: o.Children,
		IsPositionTpsl: o.IsPositionTpsl, ReduceOnly: o.ReduceOnly, OrderType: o.OrderType, Tif: text(o.Tif), Cloid: text(o.Cloid),
	}
}

// ParseOrder reads one status of an order as a node writes it:
//
//	{"time":"2026-03-15T00:00:00.1","user","hash","builder":{"b","f"},"status","order":{..}}
//
// It fails on what has no such shape or is impossible.
func ParseOrder(raw []byte) (market.OrderStatus, error) {
	var w struct {
		Time    string  `json:"time"`
		User    string  `json:"user"`
		Hash    *string `json:"hash"`
		Status  string  `json:"status"`
		Builder *struct {
			B string `json:"b"`
			F int64  `json:"f"`
		} `json:"builder"`
		Order order `json:"order"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return market.OrderStatus{}, fmt.Errorf("an order status: %w", err)
	}
	at, err := time.Parse(NodeTime, w.Time)
	if err != nil {
		return market.OrderStatus{}, fmt.Errorf("an order status: time %w", err)
	}
	s := w.Order.status()
	s.Address, s.Time, s.Hash, s.Status = w.User, at.UnixMilli(), text(w.Hash), w.Status
	if w.Builder != nil {
		s.Builder, s.BuilderFee = w.Builder.B, w.Builder.F
	}
	if err := s.Check(); err != nil {
		return s, fmt.Errorf("an order status: %w", err)
	}
	return s, nil
}

// text is what p points to, "" for the venue's null.
func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// AppendOrder appends {"order":{...},"status","statusTimestamp"} as the venue
// writes it, keys in the venue's order. s has passed [market.OrderStatus.Check].
func AppendOrder(b []byte, s *market.OrderStatus) []byte {
	b = appendKeyText(b, `{"order":{"coin":`, s.Coin)
	b = append(append(b, `,"side":"`...), s.Side...)
	b = append(append(b, `","limitPx":"`...), s.LimitPx...)
	b = append(append(b, `","sz":"`...), s.Sz...)
	b = strconv.AppendInt(append(b, `","oid":`...), s.Oid, 10)
	b = strconv.AppendInt(append(b, `,"timestamp":`...), s.Timestamp, 10)
	b = appendKeyText(b, `,"triggerCondition":`, s.TriggerCondition)
	b = strconv.AppendBool(append(b, `,"isTrigger":`...), s.IsTrigger)
	b = appendKeyText(b, `,"triggerPx":`, s.TriggerPx)
	b = append(b, `,"children":`...)
	if len(s.Children) == 0 || string(s.Children) == "null" {
		b = append(b, `[]`...)
	} else {
		b = append(b, s.Children...)
	}
	b = strconv.AppendBool(append(b, `,"isPositionTpsl":`...), s.IsPositionTpsl)
	b = strconv.AppendBool(append(b, `,"reduceOnly":`...), s.ReduceOnly)
	b = appendKeyText(b, `,"orderType":`, s.OrderType)
	b = append(append(b, `,"origSz":"`...), s.OrigSz...)
	b = appendKeyOrNull(b, `","tif":`, s.Tif)
	b = appendKeyOrNull(b, `,"cloid":`, s.Cloid)
	b = appendKeyText(b, `},"status":`, s.Status)
	return append(strconv.AppendInt(append(b, `,"statusTimestamp":`...), s.Time, 10), '}')
}

// appendKeyOrNull appends a text of which "" stands for the venue's null.
func appendKeyOrNull(b []byte, key, text string) []byte {
	if text == "" {
		return append(append(b, key...), `null`...)
	}
	return appendKeyText(b, key, text)
}
