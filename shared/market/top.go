package market

import (
	"cmp"
	"slices"
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
// fills of one order differ in the end position, so a fill that comes twice is
// known without its trade id, which the wire does not have.
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

// Add ranks r among the first limit of t and reports whether t changed.
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

// Merge ranks the fills of u in t and reports whether t changed.
func (t *Top) Merge(u Top, limit int) bool {
	changed := false
	for i := range u {
		changed = t.Add(u[i], limit) || changed
	}
	return changed
}
