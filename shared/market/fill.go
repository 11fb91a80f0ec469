package market

import (
	"strconv"
	"time"
)

// Side is the side of an order: B buys, A sells ("ask").
type Side byte

// The sides as on the wire.
const (
	Buy  Side = 'B'
	Sell Side = 'A'
)

// String is the side on the wire.
func (s Side) String() string { return string(s) }

// UnmarshalText reads a side as on the wire; any other text is none.
func (s *Side) UnmarshalText(text []byte) error {
	if *s = 0; len(text) == 1 {
		*s = Side(text[0])
	}
	return nil
}

// Dirs of fills that nobody executed against: see [Fill.IsTrade].
const (
	// DustConversion books one account's share of a converted spot remainder; see
	// [Fill.Trade].
	DustConversion = "Spot Dust Conversion"
	// Settlement closes what is held when an outcome is decided or a perpetual ends.
	Settlement = "Settlement"
)

// Fill is one account's side of one execution. The decimal fields are the
// venue's own texts, validated when read, so that what is stored and served is
// what the venue wrote; [ParseDecimal] never fails on them. Its members in JSON are the
// venue's; [Fill.AppendJSON] writes them.
type Fill struct {
	Address       string       `json:"-"`             // of the account: 0x and 40 lower-case hex digits
	Coin          string       `json:"coin"`          // BTC, xyz:GOLD (builder-deployed), @107 or PURR/USDC (spot)
	Px            string       `json:"px"`            // quote units per base unit
	Sz            string       `json:"sz"`            // base units
	Side          Side         `json:"side"`          // of this account
	Time          int64        `json:"time"`          // of the block, ms
	StartPosition string       `json:"startPosition"` // position before the fill, base units; negative is short
	Dir           string       `json:"dir"`           // "Open Long", "Close Short", "Buy", ...
	ClosedPnl     string       `json:"closedPnl"`     // realized by this fill, quote units
	Hash          string       `json:"hash"`          // of the transaction; zeros for TWAP slices and liquidations
	Oid           int64        `json:"oid"`           // order
	Crossed       bool         `json:"crossed"`       // this account was the taker
	Fee           string       `json:"fee"`           // FeeToken units; negative is a rebate
	Tid           int64        `json:"tid"`           // trade, the same on both its fills; 0 on dust conversions
	FeeToken      string       `json:"feeToken"`      // USDC, or the bought token on spot
	Cloid         string       `json:"cloid"`         // client order id, "" without
	Liquidation   *Liquidation `json:"liquidation"`   // nil unless the execution liquidated someone
	Builder       string       `json:"builder"`       // address that routed the order, "" without
	BuilderFee    string       `json:"builderFee"`    // part of Fee that went to Builder, "" where it is not known
	TwapID        *int64       `json:"twapId"`        // nil unless the order is a slice of a TWAP

	// Seq orders fills of one millisecond as they were executed: block number
	// x 1,000,000 + index in the block, or where the source knows no blocks
	// its own increasing position, or 0. Where two sources have one trade, the
	// higher Seq is believed.
	Seq int64 `json:"-"`

	Arrived Arrived `json:"-"`

	// Provisional says that the fill is known by its public trade alone: of Coin, Px, Sz, Side, Time,
	// Hash, Crossed and Tid. Everything else is not known, and empty; of the methods only
	// AppendID, When, Notional, AppendJSON and Check are for it.
	Provisional bool `json:"-"`
}

// Liquidation is whom an execution liquidated: the account of the fill or the other
// side, see [Fill.Liquidates]. The venue may leave each of its texts out: then it is "".
type Liquidation struct {
	LiquidatedUser string `json:"liquidatedUser"` // address
	MarkPx         string `json:"markPx"`         // mark price that triggered it, quote units
	Method         string `json:"method"`         // market, backstop or adl
}

// AppendID appends what tells f from the other fills of its account and time: its coin, trade
// and side, and of what is no trade, whose id is 0, its order. The venue numbers trades anew
// in each coin, and a public trade names no orders.
func (f *Fill) AppendID(b []byte) []byte {
	b = strconv.AppendInt(append(append(b, f.Coin...), '#'), f.Tid, 10)
	b = append(append(b, '#'), byte(f.Side))
	if f.Tid == 0 {
		b = strconv.AppendInt(append(b, '#'), f.Oid, 10)
	}
	return b
}

// When is Time as a time.Time in UTC.
func (f *Fill) When() time.Time { return time.UnixMilli(f.Time).UTC() }

// Notional is px x sz in quote units.
func (f *Fill) Notional() Decimal { return Notional(mustDecimal(f.Px), mustDecimal(f.Sz)) }

// StartSize is the position before the fill in base units, negative is short.
func (f *Fill) StartSize() Decimal { return mustDecimal(f.StartPosition) }

// EndPosition is the position after the fill in base units: the start position
// plus the size bought or minus the size sold.
func (f *Fill) EndPosition() Decimal {
	start, sz := mustDecimal(f.StartPosition), mustDecimal(f.Sz)
	if f.Side == Sell {
		return start.Sub(sz)
	}
	return start.Add(sz)
}

// Opens reports whether f opened a position: out of nothing, or out of its opposite.
func (f *Fill) Opens() bool {
	start, end := mustDecimal(f.StartPosition).Sign(), f.EndPosition().Sign()
	return end != 0 && start != end
}

// IsTrade reports whether f stands for an execution between two accounts. What does not
// is stored under its account and changes what that holds, but is neither a trade nor
// ranked: the shares of dust conversions (see [Fill.Trade]), which carry no trade id,
// settlements, and in outcomes everything but buying and selling: an account splits what
// it pays into tokens of both sides, and merges them back.
func (f *Fill) IsTrade() bool {
	switch {
	case f.Tid == 0, f.Dir == DustConversion, f.Dir == Settlement:
		return false
	case KindOf(f.Coin) == OutcomeToken:
		return f.Dir == "Buy" || f.Dir == "Sell"
	}
	return true
}

// Trade is the trade behind f when f is its taker's fill: each execution is
// there twice, once per side, with one trade id, and exactly one of the two
// crossed the spread.
//
// Fills of dir "Spot Dust Conversion" carry trade id 0 and are no trades. Once
// a day the venue sells the small spot balances of many accounts by one order
// per token and books each account's share as such a fill, under the oid of
// that order. The order itself executes as ordinary trades with a trade id. In
// ten recorded mainnet blocks of 2026-03-15 00:00 UTC there are 1,298 such
// rows in 20 orders; each of the 20 has one ordinary taker fill of the same
// oid, coin, side and price by 0xeeee...eeee, whose startPosition is exactly
// the sum of the sizes of the shares. Counting them again would double the
// volume.
func (f *Fill) Trade() (Trade, bool) {
	if !f.Crossed || !f.IsTrade() {
		return Trade{}, false
	}
	t := Trade{
		Coin: f.Coin, Side: f.Side, Px: mustDecimal(f.Px), Sz: mustDecimal(f.Sz),
		Time: f.Time, Tid: f.Tid, Hash: f.Hash, Seq: f.Seq, Arrival: f.Arrived.At,
	}
	t.setUser(f)
	return t, true
}
