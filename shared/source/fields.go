package source

import (
	"errors"
	"fmt"

	"quotary/shared/market"
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

// BySymbol returns pairs by the names that their exchange uses.
func BySymbol(pairs []market.Pair) map[string]*market.Pair {
	bySymbol := make(map[string]*market.Pair, len(pairs))
	for i := range pairs {
		bySymbol[pairs[i].Symbol] = &pairs[i]
	}
	return bySymbol
}
