package market

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"quotary/shared/text/visible"
)

// OrderStatus is a status that an order of an account came to, as a node writes
// it. An order comes to several: open, then filled, canceled or another
// one that it stays in. The decimal texts are the venue's own; texts that the
// venue has as null are "". What is of the order itself has the venue's members in JSON;
// [OrderStatus.AppendJSON] writes it with its status.
type OrderStatus struct {
	Address    string `json:"-"`
	Time       int64  `json:"-"` // when the order came to the status, ms
	Hash       string `json:"-"` // of the transaction, "" where there is none
	Builder    string `json:"-"` // address that routed the order, "" without
	BuilderFee int64  `json:"-"` // what the builder takes, in tenths of a basis point
	Status     string `json:"-"` // open, filled, canceled, ...

	Arrived Arrived `json:"-"`

	Coin             string          `json:"coin"`
	Side             string          `json:"side"`    // B or A
	LimitPx          string          `json:"limitPx"` // quote units per base unit
	Sz               string          `json:"sz"`      // base units, what rests
	OrigSz           string          `json:"origSz"`  // base units, what was placed
	Oid              int64           `json:"oid"`
	Timestamp        int64           `json:"timestamp"` // when the order was placed, ms
	TriggerCondition string          `json:"triggerCondition"`
	IsTrigger        bool            `json:"isTrigger"`
	TriggerPx        string          `json:"triggerPx"`
	Children         json.RawMessage `json:"children"` // orders that it brings along
	IsPositionTpsl   bool            `json:"isPositionTpsl"`
	ReduceOnly       bool            `json:"reduceOnly"`
	OrderType        string          `json:"orderType"` // Limit, Market, Stop Market, ...
	Tif              string          `json:"tif"`       // Gtc, Ioc, Alo, FrontendMarket, ...; "" on triggers
	Cloid            string          `json:"cloid"`

	// Seq orders statuses of one millisecond as they came about: block number x
	// [SeqPerBlock] + index in the block, or where the source knows no blocks its
	// own increasing position.
	Seq int64 `json:"-"`
}

// Statuses that say whether an order rests: all others are ends without execution of
// the rest, or triggers that wait.
const (
	StatusOpen      = "open"      // it rests, or what is left of it; a trigger waits
	StatusTriggered = "triggered" // its price was reached: it rests, or is executed at once
	StatusFilled    = "filled"    // nothing is left to execute
)

// maxChildren bounds the orders that an order brings along, in bytes: the venue
// has at most two, of some 400 bytes each.
const maxChildren = 16 << 10

// maxStatus bounds a status, in bytes: it is a part of keys.
const maxStatus = 64

// When is Time as a time.Time in UTC.
func (s *OrderStatus) When() time.Time { return time.UnixMilli(s.Time).UTC() }

// Check says what makes s impossible, and brings addresses and the client order
// id to lower case. What the venue may leave out and is impossible is left out of s, and
// costs no more. What Check accepts can be stored.
func (s *OrderStatus) Check() error {
	var ok bool
	if s.Address, ok = ParseAddress(s.Address); !ok {
		return fmt.Errorf("%.60q is no address", s.Address)
	}
	switch {
	case !ValidCoin(s.Coin):
		return fmt.Errorf("%.80q is no coin", s.Coin)
	case s.Side != "A" && s.Side != "B":
		return errors.New("side is neither A nor B")
	case s.Time <= 0 || s.Time > MaxTime:
		return fmt.Errorf("time %d is no time in ms", s.Time)
	case s.Oid < 0:
		return fmt.Errorf("oid %d is negative", s.Oid)
	}
	for _, text := range [...]string{s.LimitPx, s.Sz, s.OrigSz} {
		if _, ok := decimalPlaces(text); !ok {
			return fmt.Errorf("%.60q %w", text, errDecimal)
		}
	}
	for _, text := range [...]*string{&s.Status, &s.TriggerCondition, &s.TriggerPx, &s.OrderType} {
		if len(*text) > maxText || !utf8.ValidString(*text) {
			return fmt.Errorf("a text is longer than %d bytes or no UTF-8", maxText)
		}
		*text = visible.Line(*text)
	}
	if s.Status == "" || len(s.Status) > maxStatus { // as it is shown, and stored
		return fmt.Errorf("status is empty or longer than %d bytes", maxStatus)
	}
	s.dropImpossible()
	return nil
}

// dropImpossible leaves out of s what the venue may leave out and is impossible.
func (s *OrderStatus) dropImpossible() {
	s.Hash, s.Tif, s.Builder = shortText(s.Hash), shortText(s.Tif), addressOrNone(s.Builder)
	var ok bool
	if s.Cloid, ok = ParseCloid(s.Cloid); !ok {
		s.Cloid = ""
	}
	s.Children = shownChildren(s.Children)
}

// shownChildren are children as they are shown, nil for what is no list, as nearly always one
// without any, or a longer one than the venue has.
func shownChildren(c json.RawMessage) json.RawMessage {
	if len(c) == 0 || string(c) == "[]" {
		return c
	}
	if !utf8.Valid(c) {
		return nil
	}
	c = visible.JSON(c)
	if len(c) > maxChildren || c[0] != '[' || !json.Valid(c) {
		return nil
	}
	return c
}

// ParseCloid reads a client order id, 0x and 32 hexadecimal digits, and returns
// it in lower case.
func ParseCloid(s string) (string, bool) {
	s = strings.ToLower(s)
	return s, len(s) == 34 && s[:2] == "0x" && strings.Trim(s[2:], "0123456789abcdef") == ""
}
