package traderquery

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"quotary/shared/catalog"
	"quotary/shared/data/traders"
	"quotary/shared/market"
	"quotary/shared/table"
	"quotary/shared/traderfields"
)

// filter adds a condition to the question; an error goes on from the name of the filter and a point.
func (q *Question) filter(in *catalog.DiscoverFilter, now time.Time) error {
	if in.Field == "" {
		return errors.New("field: must be the name of a field")
	}
	period := q.period
	if in.Period != nil {
		if q.ofWindow {
			return fmt.Errorf("period: no filter has a period of its own here, as %s is asked for of the window", in.Field)
		}
		period = traderfields.Period(*in.Period)
	}
	column, field, err := q.columnOf(in.Field, period)
	switch {
	case err != nil:
		return fmt.Errorf("field: %w", err)
	case field.IsText():
		return q.textFilter(in, field, column)
	}
	if strings.EqualFold(in.Op, "exist") {
		q.Query.Filters = append(q.Query.Filters, table.Known(column))
		return nil
	}
	v, err := operand(in, field, now)
	if err != nil {
		return err
	}
	op, ok := operators[in.Op]
	if !ok {
		return errors.New("op: must be one of <, =, >, >=, <=, !=, <>, exist")
	}
	q.Query.Filters = append(q.Query.Filters, table.Compare(column, op, v, field.Scale))
	return nil
}

// textFilter adds a condition on a field of texts, whose column is one of sets: with the text, or known
// and without it. No operator is as good as =.
func (q *Question) textFilter(in *catalog.DiscoverFilter, field *traderfields.Field, column int) error {
	if strings.EqualFold(in.Op, "exist") {
		q.knownText(field, column)
		return nil
	}
	if in.Val2 == nil || *in.Val2 == "" {
		return fmt.Errorf("val2: must be a text, as %s is compared with it", field.Name)
	}
	text := *in.Val2
	if field.Kind == traderfields.Address {
		text = strings.ToLower(text)
	}
	switch in.Op {
	case "", "=":
		q.Query.Sets = append(q.Query.Sets, table.SetFilter{Column: column, Kind: table.All, Names: []string{text}})
	case "!=", "<>":
		q.knownText(field, column)
		q.Query.Sets = append(q.Query.Sets, table.SetFilter{Column: column, Kind: table.None, Names: []string{text}})
	default:
		return fmt.Errorf("op: must be one of =, !=, <>, exist, as %s is a text", field.Name)
	}
	return nil
}

// knownText adds the condition that a field of texts is known.
func (q *Question) knownText(field *traderfields.Field, column int) {
	if field.Counted == "" {
		q.Query.Sets = append(q.Query.Sets, table.SetFilter{Column: column, Kind: table.Some})
		return
	}
	counts, _ := traders.Column(field.Counted)
	q.Query.Filters = append(q.Query.Filters, table.Known(counts))
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
	var m catalog.Moment
	if err := m.UnmarshalText([]byte(text)); err != nil {
		return 0, fmt.Errorf("val2: must be %w", err)
	}
	return m.At(now).UnixMilli(), nil
}

// operators are those of filters, as they are written; "" is none, which is the first.
var operators = map[string]table.Op{
	"": table.AtLeast, ">=": table.AtLeast, ">": table.Greater, "<=": table.AtMost, "<": table.Less, "=": table.Equal, "!=": table.Different, "<>": table.Different,
}
