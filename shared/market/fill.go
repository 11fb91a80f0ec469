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

// DustConversion is the Dir of a fill that books one account's share of a
// converted spot remainder; see [Fill.Trade].
const DustConversion = "Spot Dust Conversion"

// Fill is one account's side of one execution. The decimal fields are the
// venue's own texts, validated when read, so that what is stored and served is
// what the venue wrote; [ParseDecimal] never fails on them.
type Fill struct {
	Address       string       // of the account: 0x and 40 lower-case hex digits
	Coin          string       // BTC, xyz:GOLD (builder-deployed), @107 or PURR/USDC (spot)
	Px            string       // quote units per base unit
	Sz            string       // base units
	Side          Side         // of this account
	Time          int64        // of the block, ms
	StartPosition string       // position before the fill, base units; negative is short
	Dir           string       // "Open Long", "Close Short", "Buy", ...
	ClosedPnl     string       // realized by this fill, quote units
	Hash          string       // of the transaction; zeros for TWAP slices and liquidations
	Oid           int64        // order
	Crossed       bool         // this account was the taker
	Fee           string       // FeeToken units; negative is a rebate
	Tid           int64        // trade, the same on both its fills; 0 on dust conversions
	FeeToken      string       // USDC, or the bought token on spot
	Cloid         string       // client order id, "" without
	Liquidation   *Liquidation // nil unless the execution liquidated someone
	Builder       string       // address that routed the order, "" without
	BuilderFee    string       // part of Fee that went to Builder, "" where not told
	TwapID        *int64       // nil unless the order is a slice of a TWAP

	// Seq orders fills of one millisecond as they were executed: block number
	// x 1,000,000 + index in the block, or where the source knows no blocks
	// its own increasing position, or 0. Where two sources tell one trade, the
	// higher Seq is believed.
	Seq int64
}

// Liquidation tells whom an execution liquidated. The fill belongs to that
// account only when its Address equals LiquidatedUser; else it is the other
// side.
type Liquidation struct {
	LiquidatedUser string // address
	MarkPx         string // mark price that triggered it, quote units
	Method         string // market or backstop
}

// When is Time as a time.Time in UTC.
func (f *Fill) When() time.Time { return time.UnixMilli(f.Time).UTC() }

// Notional is px x sz in quote units.
func (f *Fill) Notional() Decimal { return Notional(mustDecimal(f.Px), mustDecimal(f.Sz)) }

// EndPosition is the position after the fill in base units: the start position
// plus the size bought or minus the size sold.
func (f *Fill) EndPosition() Decimal {
	start, sz := mustDecimal(f.StartPosition), mustDecimal(f.Sz)
	if f.Side == Sell {
		return start.Sub(sz)
	}
	return start.Add(sz)
}

// IsTrade reports whether f stands for an execution between two accounts, that
// is, whether it carries a trade id. Rows without one are the shares of dust
// conversions (see [Fill.Trade]): stored under their accounts, but neither
// trades nor ranked.
func (f *Fill) IsTrade() bool { return f.Tid != 0 }

// Trade is the trade behind f when f is its taker's fill: each execution is
// told twice, once per side, with one trade id, and exactly one of the two
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
		Time: f.Time, Tid: f.Tid, Hash: f.Hash, Seq: f.Seq,
	}
	t.setUser(f)
	return t, true
}

// AppendJSON appends f as the venue writes a fill, keys in the venue's order,
// with the account's address as its first key. Keys that the venue leaves out
// (cloid, liquidation, builder, builderFee) are left out; twapId is null
// without a TWAP.
func (f *Fill) AppendJSON(b []byte) []byte {
	b = append(b, `{"address":"`...)
	b = append(b, f.Address...)
	b = appendKeyText(b, `","coin":`, f.Coin)
	b = append(b, `,"px":"`...)
	b = append(b, f.Px...)
	b = append(b, `","sz":"`...)
	b = append(b, f.Sz...)
	b = append(b, `","side":"`...)
	b = append(b, byte(f.Side))
	b = append(b, `","time":`...)
	b = strconv.AppendInt(b, f.Time, 10)
	b = append(b, `,"startPosition":"`...)
	b = append(b, f.StartPosition...)
	b = appendKeyText(b, `","dir":`, f.Dir)
	b = append(b, `,"closedPnl":"`...)
	b = append(b, f.ClosedPnl...)
	b = appendKeyText(b, `","hash":`, f.Hash)
	b = append(b, `,"oid":`...)
	b = strconv.AppendInt(b, f.Oid, 10)
	b = append(b, `,"crossed":`...)
	b = strconv.AppendBool(b, f.Crossed)
	b = append(b, `,"fee":"`...)
	b = append(b, f.Fee...)
	b = append(b, `","tid":`...)
	b = strconv.AppendInt(b, f.Tid, 10)
	if f.Cloid != "" {
		b = appendKeyText(b, `,"cloid":`, f.Cloid)
	}
	if l := f.Liquidation; l != nil {
		b = append(b, `,"liquidation":{"liquidatedUser":"`...)
		b = append(b, l.LiquidatedUser...)
		b = append(b, `","markPx":"`...)
		b = append(b, l.MarkPx...)
		b = appendKeyText(b, `","method":`, l.Method)
		b = append(b, '}')
	}
	b = appendKeyText(b, `,"feeToken":`, f.FeeToken)
	if f.Builder != "" {
		b = append(b, `,"builder":"`...)
		b = append(b, f.Builder...)
		b = append(b, '"')
	}
	if f.BuilderFee != "" {
		b = append(b, `,"builderFee":"`...)
		b = append(b, f.BuilderFee...)
		b = append(b, '"')
	}
	if f.TwapID == nil {
		return append(b, `,"twapId":null}`...)
	}
	b = append(b, `,"twapId":`...)
	b = strconv.AppendInt(b, *f.TwapID, 10)
	return append(b, '}')
}

func appendKeyText(b []byte, key, text string) []byte {
	return appendString(append(b, key...), text)
}

// appendString appends s as a JSON string. s is valid UTF-8.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[from:i]...)
		if c < ' ' {
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		} else {
			b = append(b, '\\', c)
		}
		from = i + 1
	}
	return append(append(b, s[from:]...), '"')
}
