package wire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"quotary/shared/market"
	"quotary/shared/text/jsonscan"
)

// NodeTime is how a node writes a time, in UTC.
const NodeTime = "2006-01-02T15:04:05.999999999"

// ParseOrders appends to dst the statuses of orders in one line of a node's file, in
// either form:
//
//	{"time":"2026-03-15T00:00:00.1","user","hash","builder":{"b","f"},"status","order":{..}}
//	{"local_time": ..., "block_time": ..., "block_number": n, "events": [{"time", ...}, ...]}
//
// Keys that it does not know are skipped. In the first form the status takes seq as its
// Seq, in the second the Seq follows from block number and index.
//
// A status that has a member of another type or is impossible is left out and counted
// in skipped, with the first such error in err; the others of its line are kept. What the
// venue may leave out of a status never costs it: of another type, err names it and the
// status is kept without. A line that is no JSON of either form gives no status at all,
// skipped 1 and err. The texts are parts of line.
func ParseOrders(dst []market.OrderStatus, line string, seq int64) (list []market.OrderStatus, skipped int, err error) {
	r := orderReader{Scanner: jsonscan.New(line), line: line, list: slices.Grow(dst, len(line)/statusBytes), seq: seq}
	if !utf8.ValidString(line) || !r.read() || !r.End() {
		return dst, 1, fmt.Errorf("read a line of order statuses: %w at byte %d", errSyntax, r.Offset())
	}
	if r.err != nil {
		err = fmt.Errorf("read an order status: %w", r.err)
	}
	return r.list, r.skipped, err
}

// statusBytes is a little more than what a status takes in a line.
const statusBytes = 600

// orderReader is the state of one ParseOrders.
type orderReader struct {
	jsonscan.Scanner
	line    string
	seq     int64
	list    []market.OrderStatus
	skipped int
	err     error // why the first status was skipped, or is kept without something

	// Of the status at hand.
	time  string
	wrong string // a key whose value is of another type

	// Statuses of one block have one time.
	lastTime string
	lastMs   int64
}

// read reads a line: a block, or a status that stands alone.
func (r *orderReader) read() bool {
	first, number, events := len(r.list), int64(-1), false
	var alone market.OrderStatus
	ok := r.Object(func(key string) bool {
		switch key {
		case "block_number":
			return r.number(key, &number) && r.wrong == "" && number >= 0 && number <= (1<<62)/SeqPerBlock
		case "events":
			if events {
				return false // twice: which of the two counts is anyone's guess
			}
			events = true
			index := int64(0)
			return r.Array(func() bool { index++; return r.event(index - 1) })
		default:
			return r.member(&alone, key)
		}
	})
	if ok && !events {
		r.add(&alone, 0)
	}
	from := r.seq
	if number >= 0 {
		from = number * SeqPerBlock
	}
	for i := first; i < len(r.list); i++ {
		r.list[i].Seq += from
	}
	return ok
}

// event reads one status of a block.
func (r *orderReader) event(index int64) bool {
	var s market.OrderStatus
	r.time, r.wrong = "", ""
	if !r.object("the event", func(key string) bool { return r.member(&s, key) }) {
		return false
	}
	r.add(&s, index)
	return true
}

// add keeps a status that is possible.
func (r *orderReader) add(s *market.OrderStatus, index int64) {
	err := r.check(s)
	if err == nil {
		s.Seq = index
		r.list = append(r.list, *s)
		return
	}
	if r.skipped++; r.skipped == 1 {
		r.err = err
	}
}

func (r *orderReader) check(s *market.OrderStatus) error {
	if r.wrong != "" {
		return fmt.Errorf("%s is of another type", r.wrong)
	}
	if r.time == "" || r.time != r.lastTime {
		at, err := time.Parse(NodeTime, r.time)
		if err != nil {
			return fmt.Errorf("time %w", err)
		}
		r.lastTime, r.lastMs = r.time, at.UnixMilli()
	}
	s.Time = r.lastMs
	return s.Check()
}

// member reads the value of one key of a status.
func (r *orderReader) member(s *market.OrderStatus, key string) bool {
	switch key {
	case "time":
		return r.text(key, &r.time)
	case "user":
		return r.text(key, &s.Address)
	case "hash":
		return r.text(key, &s.Hash)
	case "status":
		return r.text(key, &s.Status)
	case "builder":
		return r.object(key, func(key string) bool {
			switch key {
			case "b":
				return r.text(key, &s.Builder)
			case "f":
				return r.number(key, &s.BuilderFee)
			}
			return r.Skip()
		})
	case "order":
		return r.object(key, func(key string) bool { return r.order(s, key) })
	}
	return r.Skip()
}

// order reads the value of one key of the order itself.
func (r *orderReader) order(s *market.OrderStatus, key string) bool {
	switch key {
	case "coin":
		return r.text(key, &s.Coin)
	case "side":
		return r.text(key, &s.Side)
	case "limitPx":
		return r.text(key, &s.LimitPx)
	case "sz":
		return r.text(key, &s.Sz)
	case "origSz":
		return r.text(key, &s.OrigSz)
	case "oid":
		return r.number(key, &s.Oid)
	case "timestamp":
		return r.number(key, &s.Timestamp)
	case "triggerCondition":
		return r.text(key, &s.TriggerCondition)
	case "isTrigger":
		return r.flag(key, &s.IsTrigger)
	case "triggerPx":
		return r.text(key, &s.TriggerPx)
	case "children":
		return r.children(s)
	case "isPositionTpsl":
		return r.flag(key, &s.IsPositionTpsl)
	case "reduceOnly":
		return r.flag(key, &s.ReduceOnly)
	case "orderType":
		return r.text(key, &s.OrderType)
	case "tif":
		return r.text(key, &s.Tif)
	case "cloid":
		return r.text(key, &s.Cloid)
	}
	return r.Skip()
}

// text reads a text; null is none.
func (r *orderReader) text(key string, to *string) (ok bool) {
	if r.Peek() == '"' {
		*to, ok = r.Text()
		return ok
	}
	return r.nothing(key)
}

func (r *orderReader) number(key string, to *int64) bool {
	if c := r.Peek(); c != '-' && (c < '0' || c > '9') {
		return r.nothing(key)
	}
	text, ok := r.Number()
	if !ok {
		return false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if *to = n; err != nil {
		r.mismatch(key)
	}
	return true
}

func (r *orderReader) flag(key string, to *bool) bool {
	switch {
	case r.Literal("true"):
		*to = true
	case r.Literal("false"):
		*to = false
	default:
		return r.nothing(key)
	}
	return true
}

func (r *orderReader) object(key string, member func(string) bool) bool {
	if r.Peek() == '{' {
		return r.Object(member)
	}
	return r.nothing(key)
}

// noChildren is what nearly all orders have.
var noChildren = json.RawMessage("[]")

// children takes them as they stand.
func (r *orderReader) children(s *market.OrderStatus) bool {
	r.Peek()
	from := r.Offset()
	if !r.Skip() {
		return false
	}
	if text := r.line[from:r.Offset()]; text == string(noChildren) {
		s.Children = noChildren[:len(noChildren):len(noChildren)]
	} else {
		s.Children = json.RawMessage(text)
	}
	return true
}

// nothing skips a value that is not of the key's type; null is none.
func (r *orderReader) nothing(key string) bool {
	if r.Peek() != 'n' {
		r.mismatch(key)
	}
	return r.Skip()
}

// mismatch notes that a value is not of the key's type.
func (r *orderReader) mismatch(key string) {
	switch key {
	case "hash", "builder", "b", "f", "children", "tif", "cloid": // which may be left out
		if r.err == nil {
			r.err = fmt.Errorf("%s is of another type: kept without it", key)
		}
	default:
		r.wrong = key
	}
}
