package source

import (
	"errors"
	"fmt"
	"strconv"

	"quotary/shared/market"
	"quotary/shared/text/lenient"
)

// Field is a decimal that an exchange writes as text.
type Field struct {
	To   *market.Decimal
	Name string
	Text string
}

// Decimals reads fields. An error names those that are no decimal, or negative.
func Decimals(fields ...Field) error {
	var bad []error
	for _, f := range fields {
		d, err := market.ParseDecimal(f.Text)
		switch {
		case err != nil:
			bad = append(bad, fmt.Errorf("%s: %w", f.Name, err))
		case d.IsNeg():
			bad = append(bad, fmt.Errorf("%s is negative: %s", f.Name, f.Text))
		default:
			*f.To = d
		}
	}
	return errors.Join(bad...)
}

// errTime stands for the error of [strconv], which quotes all of a text.
var errTime = errors.New("a time is no whole number of milliseconds")

// Milliseconds reads a time that an exchange writes as text.
func Milliseconds(text string, to *int64) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return errTime
	}
	*to = n
	return CheckTime(n)
}

// Rows are those of an exchange's answer. A member of another type than is expected is missing
// in its row, and costs no other row.
type Rows[T any] []T

// UnmarshalJSON fails on what is no list.
func (r *Rows[T]) UnmarshalJSON(b []byte) error { return lenient.List(b, (*[]T)(r)) }

// OfPairs reads those rows of an exchange's answer that are about a pair, in their order;
// symbol is the exchange's name of the pair of a row. Rows that read refuses are left out: the
// error says why of the first, and how many there are; what says what the rows are.
func OfPairs[Row, T any](what string, rows []Row, pairs []market.Pair, symbol func(*Row) string, read func(*Row, *market.Pair) (T, error)) ([]T, error) {
	bySymbol := make(map[string]*market.Pair, len(pairs))
	for i := range pairs {
		bySymbol[pairs[i].Symbol] = &pairs[i]
	}
	var list []T
	var first error
	bad := 0
	for i := range rows {
		pair, ok := bySymbol[symbol(&rows[i])]
		if !ok {
			continue
		}
		one, err := read(&rows[i], pair)
		if err != nil {
			if bad++; first == nil {
				first = fmt.Errorf("%s of %s: %w", what, pair.Key, err)
			}
			continue
		}
		list = append(list, one)
	}
	if bad > 1 {
		first = fmt.Errorf("%w, and %d more rows are none", first, bad-1)
	}
	return list, first
}
