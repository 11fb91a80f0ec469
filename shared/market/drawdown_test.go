package market_test

import (
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/market"
)

func TestDrawdownIsTheLargestFallWithoutFlows(t *testing.T) {
	t.Parallel()
	at := func(list ...[2]int64) (values []market.AccountValue) {
		for i, v := range list {
			values = append(values, market.AccountValue{Time: int64(i), Value: market.Micros(v[0]), NetIn: market.Micros(v[1])})
		}
		return values
	}
	for name, c := range map[string]struct {
		values    []market.AccountValue
		high, low int64
		netIn     market.Micros
		want      float64
	}{
		"a fall":                             {at([2]int64{80, 0}, [2]int64{100, 0}, [2]int64{60, 0}, [2]int64{90, 0}), 1, 2, 0, 0.4},
		"the relative one, not the absolute": {at([2]int64{10, 0}, [2]int64{1, 0}, [2]int64{1000, 0}, [2]int64{600, 0}), 0, 1, 0, 0.9},
		"a withdrawal is no loss":            {at([2]int64{100, 0}, [2]int64{40, -60}), 0, 0, 0, 0},
		"a deposit hides none":               {at([2]int64{100, 0}, [2]int64{150, 100}), 0, 1, 100, 0.5},
		"a rise":                             {at([2]int64{1, 0}, [2]int64{2, 0}), 1, 1, 0, 0},
		"a loss of more than all":            {at([2]int64{100, 0}, [2]int64{-50, 0}), 0, 1, 0, 1},
		"never anything":                     {at([2]int64{0, 0}, [2]int64{-5, 0}), 0, 0, 0, 0},
		"huge values":                        {at([2]int64{int64(market.MaxMicros), -int64(market.MaxMicros)}, [2]int64{-int64(market.MaxMicros), int64(market.MaxMicros)}), 0, 1, 2 * market.MaxMicros, 1},
	} {
		d, ok := market.MaxDrawdown(c.values)
		if !ok || d.High.Time != c.high || d.Low.Time != c.low || d.NetIn != c.netIn || d.Fraction != c.want {
			t.Errorf("%s: %+v, want %v from %d to %d, net in %d", name, d, c.want, c.high, c.low, c.netIn)
		}
	}
	for _, values := range [][]market.AccountValue{nil, at([2]int64{5, 0})} {
		if _, ok := market.MaxDrawdown(values); ok {
			t.Errorf("there is a drawdown between %d values", len(values))
		}
	}
}

func TestDrawdownIsWhatALoopOverAllPairsFinds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		amount := rapid.Int64Range(-1000, 3000)
		values := make([]market.AccountValue, rapid.IntRange(1, 40).Draw(rt, "values"))
		for i := range values {
			values[i] = market.AccountValue{Time: int64(i), Value: market.Micros(amount.Draw(rt, "value")), NetIn: market.Micros(amount.Draw(rt, "net in"))}
		}
		want := 0.0
		for i, high := range values {
			for _, low := range values[i+1:] {
				if high.Value > 0 {
					fall := min(high.Value-(low.Value-(low.NetIn-high.NetIn)), high.Value)
					if fall > 0 {
						want = max(want, *market.Ratio(fall.Decimal(), high.Value.Decimal()))
					}
				}
			}
		}
		if d, _ := market.MaxDrawdown(values); d.Fraction != want {
			rt.Fatalf("%v, want %v", d.Fraction, want)
		}
	})
}

func TestWhatIsEarnedLeavesFlowsOut(t *testing.T) {
	t.Parallel()
	got := market.Earned([]market.AccountValue{{Time: 1, Value: 100, NetIn: 30}, {Time: 2, Value: 160, NetIn: 80}, {Time: 3, Value: 20, NetIn: 0}})
	for i, want := range []market.Micros{0, 10, -50} {
		if got[i].Value != want || got[i].NetIn != 0 || got[i].Time != int64(i+1) {
			t.Errorf("at %d: %+v, want %d", i, got[i], want)
		}
	}
	if len(market.Earned(nil)) != 0 {
		t.Error("something is earned without values")
	}
}
