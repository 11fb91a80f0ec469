package accountlookup

import (
	"time"

	"quotary/shared/catalog"
	"quotary/shared/data/accountstats"
	"quotary/shared/market"
)

// ValuedDays is for how many days before now statistics of all time look at what an account was worth.
const ValuedDays = 30

// Days is the number of days up to now, or all time for 0: after from, up to to, ms.
func Days(now time.Time, days int64) (from, to int64) {
	to = now.UnixMilli()
	if days == 0 {
		return 0, to
	}
	return to - days*dayMs, to
}

// Later is a time in ms as answers have it, where it is behind that from which on something was asked
// for; else nil.
func Later(ms, from int64) *string {
	if ms <= from {
		return nil
	}
	return new(time.UnixMilli(ms).UTC().Format(time.RFC3339))
}

// Points are values as they stand in answers.
func Points(values []market.AccountValue) []catalog.PnlPoint {
	list := make([]catalog.PnlPoint, len(values))
	for i, v := range values {
		list[i] = catalog.PnlPoint{Ts: v.Time, V: market.Text(v.Value.Decimal())}
	}
	return list
}

// PnlList is what the perpetuals of an account earned between two times, in the last [ValuedDays]: at
// the points of its curve, and before these at those that the venue says; nil where no value is known.
func PnlList(c *accountstats.WithCurve, from, now int64) *[]catalog.PnlPoint {
	values := c.Worth(nil, market.ScopePerp, max(from, now-ValuedDays*dayMs), now).Values
	if len(values) == 0 {
		return nil
	}
	return new(Points(market.Earned(values)))
}
