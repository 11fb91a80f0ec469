package market

import (
	"slices"

	"github.com/quagmt/udecimal"
)

// Reading is what published indicators say of a coin by candles of four hours that have closed,
// for people to read. It knows nothing but the candles.
type Reading struct {
	Close Decimal `json:"close"` // of the last candle, quote units

	// Trend: exponential averages of 20 and 50 closes, quote units.
	Short Decimal `json:"short"`
	Long  Decimal `json:"long"`

	// Momentum: on which side of its signal MACD (12, 26, 9) is, 1 above and -1 below, and the
	// relative strength index of 14 candles, 0 to 100.
	MACD int     `json:"macd"`
	RSI  Decimal `json:"rsi"`

	// Volatility: the average true range of 14 candles (J. Welles Wilder), quote units, and whether
	// the close is above (1) or below (-1) the band of two deviations around the mean of 20 closes.
	Range   Decimal `json:"range"`
	Outside int     `json:"outside"`

	// Volume: how many times as much was traded in the last six candles as, on the mean, in six of
	// the thirty before, and whether the on-balance volume (Joseph Granville) has risen (1) or
	// fallen (-1) over the last 20 candles: that of candles that closed higher than the one before,
	// less that of those that closed lower.
	Volume  Decimal `json:"volume"`
	Balance int     `json:"balance"`
}

// Candles of a reading: how many there must be, and how many are looked at, at most. Averages that
// begin with the oldest have settled by then.
const (
	ReadingLeast   = 60
	ReadingCandles = 120
)

const (
	readingShort, readingLong = 20, 50
	readingStrength           = 14 // candles of the strength index and of the range
	readingBand               = 20
	readingDay, readingDays   = 6, 5 // candles of a day, and how many days it is compared with
	readingFigures            = 6    // significant ones of a price
)

// NewReading reads candles, oldest first; ok is false where there are too few, where the
// price did not move or nothing was traded before the last day, and where as many signs speak for
// a rise as for a fall: then nothing is said.
func NewReading(candles []Candle) (r Reading, ok bool) {
	candles = candles[max(0, len(candles)-ReadingCandles):]
	if len(candles) < ReadingLeast || !candles[len(candles)-1].Close.IsPos() {
		return r, false
	}
	last := candles[len(candles)-1].Close
	candles = inParts(candles, last)
	closes := closesOf(candles)
	if !slices.ContainsFunc(closes, func(c Decimal) bool { return !c.Equal(closes[0]) }) {
		return r, false
	}
	short, long := ExponentialAverages(closes, readingShort), ExponentialAverages(closes, readingLong)
	lines, signals := MACD(closes, 12, 26, 9)
	strength, outside := RSI(closes, readingStrength), Outside(closes, readingBand, 2)
	ranges := smoothed(trueRanges(candles), readingStrength, 1, readingStrength)
	r = Reading{
		Close: last, MACD: newest(lines).Cmp(newest(signals)), RSI: newest(strength).RoundHAZ(2), Outside: newest(outside), Balance: balance(candles[len(candles)-readingBand-1:]),
		Short: withFigures(newest(short).Mul(last)), Long: withFigures(newest(long).Mul(last)), Range: withFigures(newest(ranges).Mul(last)),
	}
	day, before := len(candles)-readingDay, len(candles)-readingDay*(1+readingDays)
	usual := sizeOf(candles[before:day])
	if !usual.IsPos() {
		return r, false
	}
	r.Volume = sizeOf(candles[day:]).Mul(decimalOf(readingDays)).MustDiv(usual).RoundHAZ(2)
	up, down := r.Signs()
	return r, up != down
}

// Signs counts those that speak for a rise and those for a fall: the close above or below its
// shorter average, that above or below the longer one, MACD and its signal, the strength index and
// 50, and the balance of volume.
func (r *Reading) Signs() (up, down int) {
	for _, sign := range [...]int{r.Close.Cmp(r.Short), r.Short.Cmp(r.Long), r.MACD, r.RSI.Cmp(decimalOf(50)), r.Balance} {
		switch {
		case sign > 0:
			up++
		case sign < 0:
			down++
		}
	}
	return up, down
}

// inParts are candles with prices as parts of one, so that those of a cheap coin have digits
// enough.
func inParts(candles []Candle, of Decimal) []Candle {
	parts := make([]Candle, len(candles))
	for i, c := range candles {
		c.Open, c.High, c.Low, c.Close = ratioOf(c.Open, of), ratioOf(c.High, of), ratioOf(c.Low, of), ratioOf(c.Close, of)
		parts[i] = c
	}
	return parts
}

// trueRanges are, of each candle but the first, the distance between its high and its low, with
// the close before it among both.
func trueRanges(candles []Candle) (list []Decimal) {
	for i := 1; i < len(candles); i++ {
		before := candles[i-1].Close
		list = append(list, udecimal.Max(candles[i].High, before).Sub(udecimal.Min(candles[i].Low, before)))
	}
	return list
}

// balance is the sign of what was traded in candles that closed higher than the one before, less
// that in those that closed lower. The first has none before it.
func balance(candles []Candle) int {
	var sum Decimal
	for i := 1; i < len(candles); i++ {
		sum = sum.Add(candles[i].Size.Mul(decimalOf(int64(candles[i].Close.Cmp(candles[i-1].Close)))))
	}
	return sum.Sign()
}

func sizeOf(candles []Candle) (sum Decimal) {
	for i := range candles {
		sum = sum.Add(candles[i].Size)
	}
	return sum
}

func newest[T any](list []T) T { return list[len(list)-1] }

// withFigures is a price with the figures that people read.
func withFigures(px Decimal) Decimal {
	step := stepOf(px, readingFigures)
	if !px.IsPos() || step.IsZero() {
		return px
	}
	return px.MustDiv(step).RoundHAZ(0).Mul(step)
}

// Bounds are the prices between which the next candle lies at the average range.
func (r *Reading) Bounds() (low, high Decimal) {
	low = withFigures(r.Close.Sub(r.Range))
	if low.IsNeg() {
		low = Decimal{}
	}
	return low, withFigures(r.Close.Add(r.Range))
}
