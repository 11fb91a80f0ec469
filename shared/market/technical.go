package market

import (
	"slices"

	"github.com/quagmt/udecimal"
)

// Technical indicators over the closes of candles, by their published definitions. Each takes
// values oldest first and returns one for every candle from the first of which it is known: the
// last value is that of the last candle. Values are rounded to technicalPlaces, halves away from
// zero, at each step.

// technicalPlaces are the decimal places of what is not exact.
const technicalPlaces = 12

func ratioOf(a, b Decimal) Decimal { return a.MustDiv(b).RoundHAZ(technicalPlaces) }

// MovingAverages are the simple means of the last n values.
func MovingAverages(values []Decimal, n int) []Decimal {
	var sum Decimal
	var means []Decimal
	for i, v := range values {
		if sum = sum.Add(v); i >= n {
			sum = sum.Sub(values[i-n])
		}
		if i >= n-1 {
			means = append(means, ratioOf(sum, decimalOf(int64(n))))
		}
	}
	return means
}

// ExponentialAverages are exponential moving averages with the weight 2/(n+1) of the newest
// value, which begin with the simple mean of the first n.
func ExponentialAverages(values []Decimal, n int) []Decimal {
	return smoothed(values, n, 2, int64(n)+1)
}

// smoothed are averages in which the newest value has a weight of part/of, which begin with the
// mean of the first n.
func smoothed(values []Decimal, n int, part, of int64) []Decimal {
	if len(values) < n {
		return nil
	}
	last := MovingAverages(values[:n], n)[0]
	averages := []Decimal{last}
	for _, v := range values[n:] {
		last = ratioOf(v.Mul(decimalOf(part)).Add(last.Mul(decimalOf(of-part))), decimalOf(of))
		averages = append(averages, last)
	}
	return averages
}

// MACD is moving average convergence and divergence (Gerald Appel): the fast less the slow
// exponential average, and the average of that.
func MACD(closes []Decimal, fast, slow, signal int) (lines, signals []Decimal) {
	return macdOf(ExponentialAverages(closes, fast), ExponentialAverages(closes, slow), signal)
}

// macdOf is the same of the two averages.
func macdOf(quick, calm []Decimal, signal int) (lines, signals []Decimal) {
	quick = quick[max(0, len(quick)-len(calm)):]
	for i := range min(len(quick), len(calm)) {
		lines = append(lines, quick[i].Sub(calm[i]))
	}
	return lines, ExponentialAverages(lines, signal)
}

// RSI is the relative strength index (J. Welles Wilder), from 0 to 100: of averages in which the
// newest change has a weight of 1/n. Where nothing has fallen it is 100.
func RSI(closes []Decimal, n int) []Decimal {
	var gains, losses []Decimal
	for i := 1; i < len(closes); i++ {
		change := closes[i].Sub(closes[i-1])
		gain, loss := change, Decimal{}
		if change.IsNeg() {
			gain, loss = Decimal{}, change.Neg()
		}
		gains, losses = append(gains, gain), append(losses, loss)
	}
	up, down := smoothed(gains, n, 1, int64(n)), smoothed(losses, n, 1, int64(n))
	var list []Decimal
	for i := range up {
		if sum := up[i].Add(down[i]); sum.IsPos() {
			list = append(list, ratioOf(up[i].Mul(decimalOf(100)), sum))
		} else {
			list = append(list, decimalOf(100))
		}
	}
	return list
}

// KD is the stochastic oscillator (George Lane) in the form that is known as KDJ: where the close
// is between the lowest and the highest of n candles, from 0 to 100, smoothed by 1/k, and that by
// 1/d. Both begin with 50; where nothing moves it is 50.
func KD(candles []Candle, n, k, d int) (ks, ds []Decimal) { return kdOf(places(candles, n), k, d) }

// places are where closes are between the lowest and the highest of n candles, from 0 to 100.
func places(candles []Candle, n int) (list []Decimal) {
	for i := n - 1; i < len(candles); i++ {
		low, high := candles[i].Low, candles[i].High
		for _, c := range candles[i+1-n : i] {
			low, high = udecimal.Min(low, c.Low), udecimal.Max(high, c.High)
		}
		place := decimalOf(50)
		if width := high.Sub(low); width.IsPos() {
			place = ratioOf(candles[i].Close.Sub(low).Mul(decimalOf(100)), width)
		}
		list = append(list, place)
	}
	return list
}

// kdOf smooths places.
func kdOf(places []Decimal, k, d int) (ks, ds []Decimal) {
	fast, slow := decimalOf(50), decimalOf(50)
	step := func(last, value Decimal, n int) Decimal {
		return ratioOf(value.Add(last.Mul(decimalOf(int64(n)-1))), decimalOf(int64(n)))
	}
	for _, place := range places {
		fast = step(fast, place, k)
		slow = step(slow, fast, d)
		ks, ds = append(ks, fast), append(ds, slow)
	}
	return ks, ds
}

// Outside says of each candle whether its close is above (1) or below (-1) the band of so many
// standard deviations of the last n closes around their mean (John Bollinger), or within (0).
// Closes are taken as parts of the last one, so that those of a cheap coin have digits enough.
func Outside(closes []Decimal, n int, deviations int64) []int {
	if len(closes) < n || !closes[len(closes)-1].IsPos() {
		return nil
	}
	parts := make([]Decimal, len(closes))
	for i := range closes {
		parts[i] = ratioOf(closes[i], closes[len(closes)-1])
	}
	means := MovingAverages(parts, n)
	var list []int
	for i, mean := range means {
		var squares Decimal
		for _, v := range parts[i : i+n] {
			off := v.Sub(mean)
			squares = squares.Add(off.Mul(off))
		}
		off := parts[i+n-1].Sub(mean)
		// The square of the close's own way off, n times, against that of the band.
		if off.Mul(off).Mul(decimalOf(int64(n))).Cmp(squares.Mul(decimalOf(deviations*deviations))) <= 0 {
			list = append(list, 0)
			continue
		}
		list = append(list, off.Sign())
	}
	return list
}

// Setups are, for each candle, how many closes in a row up to its own were above (positive) or
// below (negative) the close of four candles before (Tom DeMark's setup).
func Setups(closes []Decimal) []int {
	var list []int
	count := 0
	for i := 4; i < len(closes); i++ {
		switch sign := closes[i].Cmp(closes[i-4]); {
		case sign > 0:
			count = max(count, 0) + 1
		case sign < 0:
			count = min(count, 0) - 1
		default:
			count = 0
		}
		list = append(list, count)
	}
	return list
}

// closesOf are the closes of candles.
func closesOf(candles []Candle) []Decimal {
	closes := make([]Decimal, len(candles))
	for i := range candles {
		closes[i] = candles[i].Close
	}
	return closes
}

// crossing is whether the first of two lines crosses the second with the last candle: upwards
// (1), downwards (-1) or not (0). It was on the other side, or on it, with the candle before.
func crossing(a, b []Decimal) int {
	n := min(len(a), len(b))
	if n < 2 {
		return 0
	}
	a, b = a[len(a)-2:], b[len(b)-2:]
	before, now := a[0].Cmp(b[0]), a[1].Cmp(b[1])
	switch {
	case now > 0 && before <= 0:
		return 1
	case now < 0 && before >= 0:
		return -1
	}
	return 0
}

// level is a line that is everywhere the same.
func level(value Decimal) []Decimal { return slices.Repeat([]Decimal{value}, 2) }
