package wire

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"quotary/shared/market"
	"quotary/shared/text/jsonscan"
)

// errSyntax reports that the text is no JSON, or not of the expected shape.
var errSyntax = errors.New("not the expected JSON")

// SeqPerBlock is the room for the events of one block in [market.Fill].Seq and
// [market.OrderStatus].Seq. A block of a million would be a line of 300 MB, far
// over what sources accept.
const SeqPerBlock = 1_000_000

// ParseFills appends to dst the fills of one line of a node's fill file, in either
// form:
//
//	["0xaddress", {fill}]
//	{"local_time": ..., "block_time": ..., "block_number": n, "events": [["0xaddress", {fill}], ...]}
//
// Keys that it does not know are skipped. In the first form the fill takes seq
// as its Seq, in the second the Seq follows from block number and index.
//
// A fill that lacks a field or has an impossible one is left out and counted in
// skipped, with the first such error in err; the others of its line are kept. What the
// venue may leave out of a fill never costs it: of another type, err names it and the fill
// is kept without. A line that is no JSON of either form gives no fill at all, skipped 1
// and err. The fills' texts are parts of line.
func ParseFills(dst []market.Fill, line string, seq int64) (fills []market.Fill, skipped int, err error) {
	if !utf8.ValidString(line) {
		return dst, 1, fmt.Errorf("read a fill line: %w: invalid UTF-8", errSyntax)
	}
	r := fillReader{Scanner: jsonscan.New(line), fills: dst}
	ok := false
	switch r.Peek() {
	case '[':
		ok = r.event(seq)
	case '{':
		ok = r.block()
	}
	if ok && !r.End() {
		ok = false
	}
	if !ok {
		if r.fault == nil {
			r.fault = fmt.Errorf("%w at byte %d", errSyntax, r.Offset())
		}
		return dst, 1, fmt.Errorf("read a fill line: %w", r.fault)
	}
	if r.err != nil {
		err = fmt.Errorf("read a fill: %w", r.err)
	}
	return r.fills, r.skipped, err
}

// fillReader is the state of one ParseFills.
type fillReader struct {
	jsonscan.Scanner
	fills   []market.Fill
	skipped int
	err     error // why the first fill was skipped, or is kept without something
	fault   error // why the line is refused, where syntax is not the reason
}

// block reads a by-block line. The events may stand before the block number,
// so the Seq is completed at the end.
func (r *fillReader) block() bool {
	first := len(r.fills)
	number, events := int64(-1), false
	ok := r.Object(func(key string) bool {
		switch key {
		case "block_number":
			n, ok := r.integer()
			number = n
			return ok && n <= (1<<62)/SeqPerBlock
		case "events":
			if events {
				return false // twice: which of the two counts is anyone's guess
			}
			events = true
			index := int64(0)
			return r.Array(func() bool { index++; return r.event(index - 1) })
		default:
			return r.Skip()
		}
	})
	if !ok {
		return false
	}
	if number < 0 || !events {
		r.fault = errors.New("a block line has a block_number and events")
		return false
	}
	for i := first; i < len(r.fills); i++ {
		r.fills[i].Seq += number * SeqPerBlock
	}
	return true
}

// event reads [address, fill].
func (r *fillReader) event(seq int64) bool {
	if !r.Accept('[') {
		return false
	}
	address, ok := r.Text()
	if !ok || !r.Accept(',') {
		return false
	}
	r.fills = append(r.fills, market.Fill{Address: address, Seq: seq})
	f := &r.fills[len(r.fills)-1]
	var got fieldSet
	if !r.Object(func(key string) bool { return r.field(f, &got, key) }) || !r.Accept(']') {
		return false
	}
	if err := checkFill(f, got); err != nil {
		r.fills = r.fills[:len(r.fills)-1]
		r.skipped++
		if r.skipped == 1 {
			r.err = err
		}
	}
	return true
}

// fieldSet has which of the required keys were there with a value of the right type.
type fieldSet uint32

const (
	hasCoin fieldSet = 1 << iota
	hasPx
	hasSz
	hasSide
	hasTime
	hasStart
	hasDir
	hasPnl
	hasHash
	hasOid
	hasCrossed
	hasFee
	hasTid
	hasFeeToken
)

// requiredNames are the required keys in the order of their bits.
var requiredNames = [...]string{"coin", "px", "sz", "side", "time", "startPosition", "dir", "closedPnl", "hash", "oid", "crossed", "fee", "tid", "feeToken"}

// checkFill refuses a fill that lacks a key or has an impossible value.
func checkFill(f *market.Fill, got fieldSet) error {
	for i, name := range requiredNames {
		if got&(1<<i) == 0 {
			return fmt.Errorf("%s is missing or of another type", name)
		}
	}
	return f.Check()
}

// field reads the value of one key of a fill. A value of another type than the
// key's is skipped and leaves its bit unset, so that only this fill is lost.
func (r *fillReader) field(f *market.Fill, got *fieldSet, key string) bool {
	switch key {
	case "coin":
		return r.required(&f.Coin, got, hasCoin)
	case "px":
		return r.required(&f.Px, got, hasPx)
	case "sz":
		return r.required(&f.Sz, got, hasSz)
	case "side":
		var s string
		ok := r.required(&s, got, hasSide)
		f.Side = 0
		if s == "A" || s == "B" {
			f.Side = market.Side(s[0])
		}
		return ok
	case "time":
		return r.requiredInt(&f.Time, got, hasTime)
	case "startPosition":
		return r.required(&f.StartPosition, got, hasStart)
	case "dir":
		return r.required(&f.Dir, got, hasDir)
	case "closedPnl":
		return r.required(&f.ClosedPnl, got, hasPnl)
	case "hash":
		return r.required(&f.Hash, got, hasHash)
	case "oid":
		return r.requiredInt(&f.Oid, got, hasOid)
	case "crossed":
		*got |= hasCrossed
		switch {
		case r.Literal("true"):
			f.Crossed = true
		case r.Literal("false"):
			f.Crossed = false
		default:
			*got &^= hasCrossed
			return r.Skip()
		}
		return true
	case "fee":
		return r.required(&f.Fee, got, hasFee)
	case "tid":
		return r.requiredInt(&f.Tid, got, hasTid)
	case "feeToken":
		return r.required(&f.FeeToken, got, hasFeeToken)
	case "cloid":
		return r.optional(&f.Cloid, key)
	case "builder":
		return r.optional(&f.Builder, key)
	case "builderFee":
		return r.optional(&f.BuilderFee, key)
	case "twapId":
		return r.twap(f, key)
	case "liquidation":
		return r.liquidation(f, key)
	default:
		return r.Skip()
	}
}

func (r *fillReader) required(to *string, got *fieldSet, bit fieldSet) bool {
	if r.Peek() != '"' {
		*got &^= bit
		return r.Skip()
	}
	s, ok := r.Text()
	*to = s
	*got |= bit
	return ok
}

func (r *fillReader) requiredInt(to *int64, got *fieldSet, bit fieldSet) bool {
	back := r.Scanner
	n, ok := r.integer()
	if !ok {
		r.Scanner = back
		*got &^= bit
		return r.Skip()
	}
	*to = n
	*got |= bit
	return true
}

// optional reads a text, or a number as it is written; null is none.
func (r *fillReader) optional(to *string, key string) (ok bool) {
	*to = ""
	switch c := r.Peek(); {
	case c == '"':
		*to, ok = r.Text()
		return ok
	case c == '-' || c >= '0' && c <= '9':
		*to, ok = r.Number()
		return ok
	}
	return r.without(key)
}

// without skips a value that is not of the type of its key, which may be left out; null
// stands for nothing.
func (r *fillReader) without(key string) bool {
	if r.Peek() != 'n' && r.err == nil {
		r.err = fmt.Errorf("%s is of another type: kept without it", key)
	}
	return r.Skip()
}

func (r *fillReader) twap(f *market.Fill, key string) bool {
	f.TwapID = nil
	back := r.Scanner
	n, ok := r.integer()
	if !ok {
		r.Scanner = back
		return r.without(key)
	}
	f.TwapID = &n
	return true
}

func (r *fillReader) liquidation(f *market.Fill, key string) bool {
	f.Liquidation = nil
	if r.Peek() != '{' {
		return r.without(key)
	}
	l := new(market.Liquidation)
	f.Liquidation = l
	return r.Object(func(key string) bool {
		switch key {
		case "liquidatedUser":
			return r.optional(&l.LiquidatedUser, key)
		case "markPx":
			return r.optional(&l.MarkPx, key)
		case "method":
			return r.optional(&l.Method, key)
		default:
			return r.Skip()
		}
	})
}

// integer reads a number that is a non-negative int64 without fraction or
// exponent.
func (r *fillReader) integer() (int64, bool) {
	s, ok := r.Number()
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= 0 && s[0] != '-'
}
