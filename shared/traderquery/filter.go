package traderquery

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/table"
	"quotary/shared/traderfields"
)

// filter is a condition of a question; an error goes on from the name of the filter and a point.
func filter(in *catalog.DiscoverFilter, period traderfields.Period, now time.Time) (f table.Filter, err error) {
	if in.Period != nil {
		period = traderfields.Period(*in.Period)
	}
	if in.Field == "" {
		return f, errors.New("field: must be the name of a field")
	}
	column, field, err := columnOf(in.Field, period)
	if err != nil {
		return f, fmt.Errorf("field: %w", err)
	}
	if strings.EqualFold(in.Op, "exist") {
		return table.Known(column), nil
	}
	v, err := operand(in, field, now)
	if err != nil {
		return f, err
	}
	f, ok := condition(in.Op, v, field.Scale)
	if !ok {
		return f, errors.New("op: must be one of <, =, >, >=, <=, !=, <>, exist")
	}
	f.Column = column
	return f, nil
}

// operand is what a filter compares a field with.
func operand(in *catalog.DiscoverFilter, field *traderfields.Field, now time.Time) (v market.Decimal, err error) {
	isDate := field.Kind == traderfields.Date
	switch {
	case isDate && in.Val2 != nil && *in.Val2 != "":
		at, err := dateOf(*in.Val2, now)
		return market.DecimalFromInt(at), err
	case in.Val != nil:
		return in.Val.Decimal, nil
	case isDate:
		return v, fmt.Errorf("val: %s is a date: a time in ms since 1970 UTC is accepted, or in val2 an ISO time or one before now, as in -1d", field.Name)
	}
	return v, fmt.Errorf("val: must be a number, or a text that holds one, as %s is compared with it", field.Name)
}

// dateOf is a date, ms: an ISO time, or how long before now.
func dateOf(text string, now time.Time) (int64, error) {
	if span, ok := strings.CutPrefix(text, "-"); ok {
		var l catalog.Lookback
		if l.UnmarshalText([]byte(span)) == nil && int64(l) <= now.Unix() {
			return now.Add(-l.Duration()).UnixMilli(), nil
		}
	} else {
		var d catalog.StartDate
		if d.UnmarshalText([]byte(text)) == nil {
			return d.UnixMilli(), nil
		}
	}
	return 0, errors.New("val2: must be an ISO 8601 date or date-time (2026-01-31T08:00:00Z), or a time since 1970 before now as a minus, a whole number and one of s, m, h, d, w (-1d)")
}

// condition is the filter of a comparison with a value, of a column of so many places. It is not ok
// for an operator that there is not.
func condition(op string, v market.Decimal, scale int) (f table.Filter, ok bool) {
	units := v
	for range scale {
		units = units.Mul64(10)
	}
	below, above := whole(units.Floor()), whole(units.Ceil())
	f.Low, f.High = math.MinInt64, math.MaxInt64
	switch op {
	case "", ">=":
		f.Low = above
	case ">":
		f.Low = below + 1
	case "<=":
		f.High = below
	case "<":
		f.High = above - 1
	case "=":
		f.Low, f.High = above, below // nothing lies between them where the value has more places than the column
	case "!=", "<>":
		f.Outside = true
		f.Low, f.High = above, below
	default:
		return f, false
	}
	return f, true
}

// whole is a whole number, held at what no column reaches.
func whole(d market.Decimal) int64 {
	const beyond = table.MostValue + 1
	n, err := d.Int64()
	switch {
	case err != nil && d.IsNeg():
		return -beyond
	case err != nil:
		return beyond
	}
	return max(-beyond, min(beyond, n))
}
