package market

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// How many fills a stored ranking keeps: every fill of a second up to a bound,
// and in wider buckets as many as the endpoint's largest page.
const (
	TopOfSecond = 1000
	TopOfBucket = 100
)

// Ranked is a fill in a ranking by value.
type Ranked struct {
	Time        int64 // ms
	Address     string
	Coin        string
	Side        Side
	Oid         int64
	IsTaker     bool
	Px, Sz      string  // the venue's texts
	Val         Decimal // px x sz, quote units
	EndPosition Decimal // position after the fill, base units
}

// Rank is f as it stands in a ranking. The texts are copied, so that a ranking
// kept for long does not hold the line that f was read from.
func (f *Fill) Rank() Ranked {
	return Ranked{
		Time: f.Time, Address: strings.Clone(f.Address), Coin: strings.Clone(f.Coin), Side: f.Side, Oid: f.Oid,
		IsTaker: f.Crossed, Px: strings.Clone(f.Px), Sz: strings.Clone(f.Sz),
		Val: f.Notional(), EndPosition: f.EndPosition(),
	}
}

// Compare orders a ranking: the larger value first, then the earlier time, the
// smaller order id, the smaller end position; what remains decides only to make
// the order total. Only fills that are the same on the wire compare equal. Two
// fills of one order differ in the end position, so a fill told twice is known
// without its trade id, which the wire does not have.
func (r *Ranked) Compare(s *Ranked) int {
	if c := s.Val.Cmp(r.Val); c != 0 {
		return c
	}
	if c := cmp.Or(cmp.Compare(r.Time, s.Time), cmp.Compare(r.Oid, s.Oid)); c != 0 {
		return c
	}
	if c := r.EndPosition.Cmp(s.EndPosition); c != 0 {
		return c
	}
	taker := 0
	if r.IsTaker != s.IsTaker {
		taker = 1
		if r.IsTaker {
			taker = -1
		}
	}
	return cmp.Or(strings.Compare(r.Address, s.Address), cmp.Compare(r.Side, s.Side), taker,
		strings.Compare(r.Px, s.Px), strings.Compare(r.Sz, s.Sz), strings.Compare(r.Coin, s.Coin))
}

// Top is the ranking of the largest fills of a bucket, largest first and
// without repetition. Both sides of a trade count. Adding a fill again changes
// nothing, and tops merge in any grouping. The zero value is empty.
type Top []Ranked

// Add ranks r among the first limit of t and tells whether t changed.
func (t *Top) Add(r Ranked, limit int) bool {
	if n := len(*t); n >= limit && (*t)[n-1].Compare(&r) < 0 {
		return false
	}
	at, found := slices.BinarySearchFunc(*t, &r, func(have Ranked, want *Ranked) int { return have.Compare(want) })
	if found || at >= limit {
		return false
	}
	*t = slices.Insert(*t, at, r)
	if len(*t) > limit {
		clear((*t)[limit:])
		*t = (*t)[:limit]
	}
	return true
}

// Merge ranks the fills of u in t and tells whether t changed.
func (t *Top) Merge(u Top, limit int) bool {
	changed := false
	for i := range u {
		changed = t.Add(u[i], limit) || changed
	}
	return changed
}

// AppendJSON appends t as an array of top fills of the wire, largest first:
//
//	[{"time":ms,"address":"0x..","coin":"..","side":"B","oid":n,"isTaker":true,"px":"..","sz":"..",
//	  "val":"..","endPosition":".."}, ...]
func (t Top) AppendJSON(b []byte) []byte {
	b = append(b, '[')
	for i := range t {
		if i > 0 {
			b = append(b, ',')
		}
		b = t[i].appendJSON(b)
	}
	return append(b, ']')
}

func (r *Ranked) appendJSON(b []byte) []byte {
	b = append(b, `{"time":`...)
	b = strconv.AppendInt(b, r.Time, 10)
	b = append(b, `,"address":"`...)
	b = append(b, r.Address...)
	b = appendKeyText(b, `","coin":`, r.Coin)
	b = append(b, `,"side":"`...)
	b = append(b, byte(r.Side))
	b = append(b, `","oid":`...)
	b = strconv.AppendInt(b, r.Oid, 10)
	b = append(b, `,"isTaker":`...)
	b = strconv.AppendBool(b, r.IsTaker)
	b = append(b, `,"px":"`...)
	b = append(b, r.Px...)
	b = append(b, `","sz":"`...)
	b = append(b, r.Sz...)
	b = append(b, `","val":"`...)
	b = AppendText(b, r.Val)
	b = append(b, `","endPosition":"`...)
	b = AppendText(b, r.EndPosition)
	return append(b, `"}`...)
}

// ParseTop reads what [Top.AppendJSON] wrote.
func ParseTop(body []byte) (Top, error) {
	var wire []struct {
		Time        int64  `json:"time"`
		Address     string `json:"address"`
		Coin        string `json:"coin"`
		Side        string `json:"side"`
		Oid         int64  `json:"oid"`
		IsTaker     bool   `json:"isTaker"`
		Px          string `json:"px"`
		Sz          string `json:"sz"`
		Val         string `json:"val"`
		EndPosition string `json:"endPosition"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return nil, fmt.Errorf("read top fills: %w", err)
	}
	t := make(Top, len(wire))
	for i, w := range wire {
		val, err := ParseDecimal(w.Val)
		if err != nil {
			return nil, fmt.Errorf("read top fills: val %w", err)
		}
		end, err := ParseDecimal(w.EndPosition)
		if err != nil {
			return nil, fmt.Errorf("read top fills: endPosition %w", err)
		}
		if w.Side != "A" && w.Side != "B" {
			return nil, fmt.Errorf("read top fills: side %.10q is neither A nor B", w.Side)
		}
		t[i] = Ranked{Time: w.Time, Address: w.Address, Coin: w.Coin, Side: Side(w.Side[0]), Oid: w.Oid,
			IsTaker: w.IsTaker, Px: w.Px, Sz: w.Sz, Val: val, EndPosition: end}
	}
	return t, nil
}
