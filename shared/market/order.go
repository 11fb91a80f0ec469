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
// venue has as null are "".
type OrderStatus struct {
	Address    string
	Time       int64  // when the order came to the status, ms
	Hash       string // of the transaction, "" where there is none
	Builder    string // address that routed the order, "" without
	BuilderFee int64  // what the builder takes, in tenths of a basis point
	Status     string // open, filled, canceled, ...

	Coin             string
	Side             string // B or A
	LimitPx          string // quote units per base unit
	Sz, OrigSz       string // base units: what rests, and what was placed
	Oid              int64
	Timestamp        int64 // when the order was placed, ms
	TriggerCondition string
	IsTrigger        bool
	TriggerPx        string
	Children         json.RawMessage // orders that it brings along
	IsPositionTpsl   bool
	ReduceOnly       bool
	OrderType        string // Limit, Market, Stop Market, ...
	Tif              string // Gtc, Ioc, Alo, FrontendMarket, ...; "" on triggers
	Cloid            string

	// Seq orders statuses of one millisecond as they came about: block number x
	// [SeqPerBlock] + index in the block, or where the source knows no blocks its
	// own increasing position.
	Seq int64
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
	case s.Status == "" || len(s.Status) > 64:
		return errors.New("status is empty or longer than 64 bytes")
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
	if c := s.Children; len(c) > maxChildren || !utf8.Valid(c) || len(c) > 0 && c[0] != '[' {
		s.Children = nil
	}
}

// ParseCloid reads a client order id, 0x and 32 hexadecimal digits, and returns
// it in lower case.
func ParseCloid(s string) (string, bool) {
	s = strings.ToLower(s)
	return s, len(s) == 34 && s[:2] == "0x" && strings.Trim(s[2:], "0123456789abcdef") == ""
}
