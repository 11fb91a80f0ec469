package traderquery

import (
	"errors"
	"fmt"
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
	op, ok := operators[in.Op]
	if !ok {
		return f, errors.New("op: must be one of <, =, >, >=, <=, !=, <>, exist")
	}
	return table.Compare(column, op, v, field.Scale), nil
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

// operators are those of filters, as they are written; "" is none, which is the first.
var operators = map[string]table.Op{
	"": table.AtLeast, ">=": table.AtLeast, ">": table.Greater, "<=": table.AtMost, "<": table.Less, "=": table.Equal, "!=": table.Different, "<>": table.Different,
}
