package market

import (
	"math/bits"

	"github.com/quagmt/udecimal"
)

// Micros is an amount in millionths of a quote unit, the precision in which the venue
// gives account values.
type Micros int64

var million = mustDecimal("1000000")

// MaxMicros bounds amounts at about 288 billion, far from any overflow.
const MaxMicros Micros = 1 << 58

// MicrosOf rounds an amount half away from zero. What is beyond [MaxMicros] is held at
// that.
func MicrosOf(d Decimal) Micros {
	n, err := d.Mul(million).RoundHAZ(0).Int64()
	switch m := Micros(n); {
	case err == nil && m < MaxMicros && m > -MaxMicros:
		return m
	case d.IsNeg():
		return -MaxMicros
	default:
		return MaxMicros
	}
}

// Held is a sum of amounts, held at [MaxMicros] as they are: what is stored of them is no more.
func (m Micros) Held() Micros { return min(max(m, -MaxMicros), MaxMicros) }

// Decimal is the amount in quote units.
func (m Micros) Decimal() Decimal {
	d, err := udecimal.NewFromInt64(int64(m), 6)
	if err != nil {
		panic("market: " + err.Error()) // six places are always allowed
	}
	return d
}

// AccountValue is what an account was worth at a time.
type AccountValue struct {
	Time  int64  // ms
	Value Micros // with unrealized profit and funding
	NetIn Micros // put in less taken out until then, from any moment on
}

// Drawdown is the largest fall of an account's value from a high to a later low, of
// what it would have been without what was put in and taken out between the two:
//
//	Fraction = 1 - (Low.Value - NetIn) / High.Value
//
// This is the maximum drawdown as risk reports define it, relative to the peak, with
// the flow between the two points taken out of the low, so that a withdrawal is no
// loss and a deposit hides none. The high must be positive, and a fall below zero
// counts as a loss of everything.
type Drawdown struct {
	High, Low AccountValue
	NetIn     Micros  // between the two
	Fraction  float64 // 0 to 1, rounded to RatioPlaces
}

// Part is Fraction as a decimal.
func (d *Drawdown) Part() Decimal { return udecimal.MustFromFloat64(d.Fraction).RoundHAZ(RatioPlaces) }

// MaxDrawdown finds the largest drawdown between values in the order of time. Without
// any fall high and low are both the first of the highest values. It is false of less than
// two values, between which nothing can have fallen.
func MaxDrawdown(values []AccountValue) (Drawdown, bool) {
	if len(values) < 2 {
		return Drawdown{}, false
	}
	high, low := 0, 0
	for i := range values {
		if values[i].Value > values[high].Value {
			high, low = i, i
		}
	}
	// Behind each point the lowest value that follows, flows taken out of all: the
	// best low for a high does not depend on the high.
	var fall Micros
	lowest := len(values) - 1
	for i := len(values) - 2; i >= 0; i-- {
		if v := &values[i]; v.Value > 0 {
			if f := v.earned() - values[lowest].earned(); f > 0 && (fall == 0 || greater(f, v.Value, fall, values[high].Value)) {
				high, low, fall = i, lowest, f
			}
		}
		if values[i].earned() <= values[lowest].earned() {
			lowest = i
		}
	}
	d := Drawdown{High: values[high], Low: values[low], NetIn: values[low].NetIn - values[high].NetIn}
	if fall > 0 {
		d.Fraction = *Ratio(min(fall, d.High.Value).Decimal(), d.High.Value.Decimal())
	}
	return d, true
}

// earned is the value without what was put in.
func (v *AccountValue) earned() Micros { return v.Value - v.NetIn }

// greater reports whether a/b > c/d for numbers that are all positive.
func greater(a, b, c, d Micros) bool {
	h1, l1 := bits.Mul64(uint64(a), uint64(d))
	h2, l2 := bits.Mul64(uint64(c), uint64(b))
	return h1 > h2 || h1 == h2 && l1 > l2
}

// RatioPlaces is the precision of ratios.
const RatioPlaces = 6

// Ratio is a / b, rounded half away from zero to [RatioPlaces]; nil where b is zero.
func Ratio(a, b Decimal) *float64 {
	q, err := a.Div(b)
	if err != nil {
		return nil
	}
	f := q.RoundHAZ(RatioPlaces).InexactFloat64()
	return &f
}

// shareOf is n / of, and 0 of nothing.
func shareOf(n, of int64) float64 {
	if r := Ratio(count(n), count(of)); r != nil {
		return *r
	}
	return 0
}

// count is a whole number as a decimal.
func count(n int64) Decimal {
	d, err := udecimal.NewFromInt64(n, 0)
	if err != nil {
		panic("market: " + err.Error()) // no places are always allowed
	}
	return d
}

// Earned are what an account has earned since the first of its values: the change of its
// value without what was put in and taken out meanwhile, so with unrealized profit,
// funding and fees. NetIn of the result is zero.
func Earned(values []AccountValue) []AccountValue {
	earned := make([]AccountValue, len(values))
	for i := range values {
		earned[i] = AccountValue{Time: values[i].Time, Value: values[i].earned() - values[0].earned()}
	}
	return earned
}
