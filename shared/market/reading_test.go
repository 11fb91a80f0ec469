package market

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Every figure of a reading is held to its definition in floating point, written another way.
func TestAReadingIsWhatItsIndicatorsSay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(ReadingLeast, ReadingCandles+20).Draw(t, "candles")
		cheap := rapid.SampledFrom([]string{"1", "0.0000001"}).Draw(t, "unit")
		unit, _ := ParseDecimal(cheap)
		candles := make([]Candle, n)
		closes, highs, lows, sizes := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range candles {
			low, width := rapid.Int64Range(100, 900).Draw(t, "low"), rapid.Int64Range(0, 50).Draw(t, "width")
			at, size := rapid.Int64Range(0, width).Draw(t, "close"), rapid.Int64Range(1, 1000).Draw(t, "size")
			price := func(v int64) Decimal { return unit.Mul(decimalOf(v)) }
			candles[i] = Candle{Open: price(low), Low: price(low), High: price(low + width), Close: price(low + at), Size: decimalOf(size)}
			lows[i], highs[i], closes[i], sizes[i] = float64(low), float64(low+width), float64(low+at), float64(size)
		}
		r, ok := NewReading(candles)
		up, down := r.Signs()
		if ok != (up != down) {
			t.Fatalf("%d signs speak for a rise, %d for a fall: %t", up, down, ok)
		}
		from := max(0, n-ReadingCandles)
		closes, highs, lows, sizes = closes[from:], highs[from:], lows[from:], sizes[from:]
		n = len(closes)
		last := func(list []float64) float64 { return list[len(list)-1] }
		f := unit.InexactFloat64()
		near := func(what string, got Decimal, want float64) {
			t.Helper()
			if math.Abs(got.InexactFloat64()-want) > math.Abs(want)*1e-5+1e-12 {
				t.Fatalf("%s is %s, want %g", what, got, want)
			}
		}
		near("the close", r.Close, f*closes[n-1])
		near("the shorter average", r.Short, f*last(exponential(closes, 20)))
		near("the longer average", r.Long, f*last(exponential(closes, 50)))
		calm, quick := exponential(closes, 26), exponential(closes, 12)
		var lines []float64
		for i := range calm {
			lines = append(lines, quick[len(quick)-len(calm)+i]-calm[i])
		}
		if above := last(lines) - last(exponential(lines, 9)); math.Abs(above) > 1e-6 && (above > 0) != (r.MACD > 0) {
			t.Fatalf("MACD is %g above its signal, %d", above, r.MACD)
		}
		var gains, losses, spans []float64
		for i := 1; i < n; i++ {
			gains, losses = append(gains, max(0, closes[i]-closes[i-1])), append(losses, max(0, closes[i-1]-closes[i]))
			spans = append(spans, max(highs[i]-lows[i], math.Abs(highs[i]-closes[i-1]), math.Abs(lows[i]-closes[i-1])))
		}
		near("the range", r.Range, f*wilder(spans, 14))
		gain, loss := wilder(gains, 14), wilder(losses, 14)
		if want := 100 * gain / (gain + loss); math.Abs(r.RSI.InexactFloat64()-want) > 0.006 {
			t.Fatalf("RSI is %s, want %g", r.RSI, want)
		}
		sum := func(list []float64) (sum float64) {
			for _, v := range list {
				sum += v
			}
			return sum
		}
		if want := sum(sizes[n-6:]) / (sum(sizes[n-36:n-6]) / 5); math.Abs(r.Volume.InexactFloat64()-want) > 0.006 {
			t.Fatalf("volume is %s times, want %g", r.Volume, want)
		}
		balance := 0.0
		for i := n - 20; i < n; i++ {
			switch {
			case closes[i] > closes[i-1]:
				balance += sizes[i]
			case closes[i] < closes[i-1]:
				balance -= sizes[i]
			}
		}
		if balance > 0 != (r.Balance > 0) || balance < 0 != (r.Balance < 0) {
			t.Fatalf("the balance is %g, %d", balance, r.Balance)
		}
	})
}

// wilder is the average in which the newest of n values has a weight of 1/n.
func wilder(values []float64, n int) float64 {
	average := mean(values[:n])
	for _, v := range values[n:] {
		average += (v - average) / float64(n)
	}
	return average
}

func TestWhereNothingSpeaksNothingIsSaid(t *testing.T) {
	t.Parallel()
	run := func(n int, px func(i int64) int64, size int64) []Candle {
		candles := make([]Candle, n)
		for i := range candles {
			at := decimalOf(px(int64(i)))
			candles[i] = Candle{Open: at, High: at, Low: at, Close: at, Size: decimalOf(size)}
		}
		return candles
	}
	rising, falling := func(i int64) int64 { return 100 + i }, func(i int64) int64 { return 300 - i }
	for name, c := range map[string]struct {
		candles  []Candle
		up, down int
		ok       bool
	}{
		"it rises":                  {run(60, rising, 1), 4, 0, true}, // of steps that shrink as parts of the price, MACD may say otherwise
		"it falls":                  {run(60, falling, 1), 0, 4, true},
		"there are too few candles": {run(59, rising, 1), 0, 0, false},
		"there are none":            {nil, 0, 0, false},
		"its price never moves":     {run(80, func(int64) int64 { return 100 }, 1), 0, 0, false},
		"nothing of it is traded":   {run(80, rising, 0), 0, 0, false},
		"its price is none":         {run(80, func(int64) int64 { return 0 }, 1), 0, 0, false},
	} {
		r, ok := NewReading(c.candles)
		up, down := r.Signs()
		if ok != c.ok || ok && (up < c.up || down < c.down || up > 0 && down > 1 || down > 0 && up > 1) {
			t.Errorf("%s: %t, %d up and %d down: %+v", name, ok, up, down, r)
		}
	}
}
