package market

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func decimals(t testing.TB, texts ...string) []Decimal {
	t.Helper()
	list := make([]Decimal, len(texts))
	for i, text := range texts {
		var err error
		if list[i], err = ParseDecimal(text); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// The closes and the values of RSI(14) are the well-known example of the index: 70.46 is what it
// begins with, by Wilder's own smoothing.
func TestRSIOfAKnownSeries(t *testing.T) {
	t.Parallel()
	closes := decimals(t, "44.34", "44.09", "44.15", "43.61", "44.33", "44.83", "45.10", "45.42", "45.84", "46.08", "45.89", "46.03", "45.61", "46.28", "46.28", "46.00", "46.03", "46.41", "46.22", "45.64")
	got := RSI(closes, 14)
	want := []float64{70.46, 66.25, 66.48, 69.35, 66.29, 57.92}
	if len(got) != len(want) {
		t.Fatalf("%d values, want %d", len(got), len(want))
	}
	for i := range want {
		if math.Abs(got[i].InexactFloat64()-want[i]) > 0.01 {
			t.Errorf("value %d is %s, want %.2f", i, got[i], want[i])
		}
	}
}

// Every indicator is held to its definition in floating point, written another way.
func TestTechnicalIndicatorsAreTheirDefinitions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "candles")
		candles, closes := make([]Candle, n), make([]float64, n)
		for i := range candles {
			low, width, at := rapid.Int64Range(100, 900).Draw(t, "low"), rapid.Int64Range(0, 50).Draw(t, "width"), rapid.Int64Range(0, 50).Draw(t, "close")
			candles[i] = Candle{Low: decimalOf(low), High: decimalOf(low + width), Close: decimalOf(low + min(at, width))}
			closes[i] = float64(low + min(at, width))
		}
		exact := closesOf(candles)
		of := rapid.IntRange(1, 12).Draw(t, "n")
		same(t, "the mean", MovingAverages(exact, of), rolling(closes, of, mean))
		same(t, "the exponential average", ExponentialAverages(exact, of), exponential(closes, of))
		slow, signal := of+rapid.IntRange(1, 10).Draw(t, "slow"), rapid.IntRange(1, 5).Draw(t, "signal")
		var lines []float64
		if calm := exponential(closes, slow); len(calm) > 0 {
			quick := exponential(closes, of)
			for i := range calm {
				lines = append(lines, quick[len(quick)-len(calm)+i]-calm[i])
			}
		}
		gotLines, gotSignals := MACD(exact, of, slow, signal)
		same(t, "MACD", gotLines, lines)
		same(t, "its signal", gotSignals, exponential(lines, signal))
		ks, ds := KD(candles, of, 3, 3)
		wantK, wantD := stochastic(candles, of)
		same(t, "K", ks, wantK)
		same(t, "D", ds, wantD)
		isOutside(t, exact, closes, of)
	})
}

func same(t *rapid.T, what string, got []Decimal, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d values, want %d", what, len(got), len(want))
	}
	for i := range want {
		if math.Abs(got[i].InexactFloat64()-want[i]) > 1e-6 {
			t.Fatalf("%s: value %d is %s, want %f", what, i, got[i], want[i])
		}
	}
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func rolling(values []float64, n int, of func([]float64) float64) (list []float64) {
	for end := n; end <= len(values); end++ {
		list = append(list, of(values[end-n:end]))
	}
	return list
}

func exponential(values []float64, n int) (list []float64) {
	for end := n; end <= len(values); end++ {
		value := mean(values[:n])
		for _, v := range values[n:end] {
			value += (v - value) * 2 / float64(n+1)
		}
		list = append(list, value)
	}
	return list
}

func stochastic(candles []Candle, n int) (ks, ds []float64) {
	k, d := 50.0, 50.0
	for end := n; end <= len(candles); end++ {
		low, high := math.Inf(1), math.Inf(-1)
		for _, c := range candles[end-n : end] {
			low, high = min(low, c.Low.InexactFloat64()), max(high, c.High.InexactFloat64())
		}
		place := 50.0
		if high > low {
			place = 100 * (candles[end-1].Close.InexactFloat64() - low) / (high - low)
		}
		k += (place - k) / 3
		d += (k - d) / 3
		ks, ds = append(ks, k), append(ds, d)
	}
	return ks, ds
}

// isOutside leaves out what is on the edge of a band, where floating point cannot tell.
func isOutside(t *rapid.T, exact []Decimal, closes []float64, n int) {
	t.Helper()
	got := Outside(exact, n, 2)
	for i, band := range rolling(closes, n, func(values []float64) float64 {
		m, squares := mean(values), 0.0
		for _, v := range values {
			squares += (v - m) * (v - m)
		}
		return 2 * math.Sqrt(squares/float64(len(values)))
	}) {
		off := closes[n-1+i] - mean(closes[i:i+n])
		if math.Abs(math.Abs(off)-band) < 1e-6 {
			continue
		}
		want := 0
		if math.Abs(off) > band {
			want = int(math.Copysign(1, off))
		}
		if got[i] != want {
			t.Fatalf("close %d is %d of the band, want %d", i, got[i], want)
		}
	}
}

func TestSetupsCountClosesInARow(t *testing.T) {
	t.Parallel()
	closes := decimals(t, "5", "5", "5", "5", "6", "6", "6", "4", "6", "7")
	want := []int{1, 2, 3, -1, 0, 1}
	got := Setups(closes)
	if len(got) != len(want) {
		t.Fatalf("%v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}
