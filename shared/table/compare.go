package table

import "quotary/shared/market"

// Op compares a figure with a value.
type Op int

// The operators.
const (
	Equal Op = iota
	Different
	Less
	AtMost
	Greater
	AtLeast
)

// Compare is the filter of a comparison with a decimal, where a unit of the column is 10^-scale.
// A value between two units is compared as it is: nothing equals it, and what is known differs.
func Compare(column int, op Op, value market.Decimal, scale int) Filter {
	below, exact := units(value, scale)
	above := below + 1 // the first one that is greater
	from := above      // the first one that is not less
	if exact {
		from = below
	}
	f := Known(column)
	switch op {
	case Equal:
		f.Low, f.High = from, below
	case Different:
		f.Low, f.High, f.Outside = from, below, true
	case Less:
		f.High = from - 1
	case AtMost:
		f.High = below
	case Greater:
		f.Low = above
	case AtLeast:
		f.Low = from
	}
	return f
}

// units is the greatest number of units that is not greater than a value, and whether it is the
// value. What is beyond all values of a table is just beyond them.
func units(value market.Decimal, scale int) (below int64, exact bool) {
	unit, err := market.DecimalFromInt(10).PowInt32(int32(scale)) //nolint:gosec // a figure has 18 digits
	n := value.Mul(unit)
	floor := n.Floor()
	if err == nil {
		below, err = floor.Int64()
	}
	if err != nil || below > MostValue || below < -MostValue {
		if n.IsNeg() {
			return -MostValue - 1, false
		}
		return MostValue + 1, false
	}
	return below, floor.Equal(n)
}
