package market

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

func TestAnAlertTypeIsReadWithItsDefaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ma:1440:single_ma:7": "ma:1440:single_ma:7", "ma:60:single_ma": "ma:60:single_ma:7", "ma:60:double_ma:5,20": "ma:60:double_ma:5:20", "ma:60:double_ma:5:20": "ma:60:double_ma:5:20",
		"price:1:price_cross:61000.50": "price:1:price_cross:61000.5", "td:5:td_nine": "td:5:td_nine", "macd:15:macd_cross::30": "macd:15:macd_cross:12:30:9",
	} {
		if a, err := ParseAlertType(text); err != nil || a.String() != want {
			t.Errorf("%s: %s, %v, want %s", text, a, err, want)
		}
	}
	for text, part := range map[string]string{
		"":                       "<indicator>:<minutes>:<trigger>",
		"ma:60":                  "<indicator>:<minutes>:<trigger>",
		"sma:60:single_ma":       "accepted are price, ma, ema",
		"ma:7:single_ma":         "accepted are 1, 3, 5, 10",
		"ma:60:rsi_level":        "accepted are single_ma, double_ma",
		"ma:60:single_ma:0":      "from 1 to 200",
		"ma:60:single_ma:7.5":    "from 1 to 200",
		"ma:60:single_ma:7:8":    "the number of parameters of the trigger single_ma is 1, not 2",
		"price:60:price_cross":   "a price above 0",
		"price:60:price_cross:0": "a price above 0",
		"price:60:price_cross:" + strings.Repeat("1", 200): "<indicator>",
	} {
		if _, err := ParseAlertType(text); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: %v, want an error naming %q", text, err, part)
		}
	}
}

// closing are candles of closes; each opened at the close before and moved no further.
func closing(t *testing.T, closes ...string) []Candle {
	t.Helper()
	candles := make([]Candle, len(closes))
	before := decimals(t, closes[0])[0]
	for i, c := range decimals(t, closes...) {
		candles[i] = Candle{Open: before, Close: c, Low: before, High: c, Size: decimalOf(10)}
		if c.Cmp(before) < 0 {
			candles[i].Low, candles[i].High = c, before
		}
		before = c
	}
	return candles
}

func TestATriggerFiresOnceItsConditionComesAbout(t *testing.T) {
	t.Parallel()
	falling := []string{"20", "19", "18", "17", "16", "15", "14", "13", "12"}
	rising := []string{"12", "13", "14", "15", "16", "17", "18", "19", "20"}
	for _, c := range []struct {
		alert  string
		closes []string
		want   string
	}{
		{"price:1:price_cross:15.5", []string{"15", "16"}, "B"},
		{"price:1:price_cross:15.5", []string{"16", "15"}, "A"},
		{"price:1:price_cross:15.5", []string{"16", "17"}, ""},
		{"price:1:price_cross:15.5", []string{"16"}, ""},
		{"ma:5:single_ma:3", []string{"10", "10", "10", "13"}, "B"}, // mean of 11
		{"ma:5:single_ma:3", []string{"10", "10", "13", "14"}, ""},  // it was above before
		{"ma:5:single_ma:3", []string{"13", "13", "13", "10"}, "A"},
		{"ema:5:single_ema:3", []string{"10", "10", "10", "13"}, "B"},
		{"ma:5:double_ma:1,3", []string{"10", "10", "10", "13"}, "B"},
		{"macd:5:macd_cross:2,3,2", []string{"20", "19", "18", "17", "16", "15", "25"}, "B"},
		{"kdj:5:kdj_cross:3", append(append([]string{}, falling...), "19"), "B"},
		{"rsi:5:rsi_level:3:30:70", []string{"10", "11", "10", "11", "3"}, "B"},
		{"rsi:5:rsi_level:3:30:70", []string{"10", "9", "10", "9", "30"}, "A"},
		{"boll:5:boll_break:5:1", []string{"10", "10.1", "9.9", "10", "10", "15"}, "B"},
		{"boll:5:boll_break:5:1", []string{"10", "10.1", "9.9", "10", "10", "5"}, "A"},
		{"td:5:td_nine", append([]string{"24", "23", "22", "21"}, falling...), "B"},
		{"td:5:td_nine", append([]string{"8", "9", "10", "11"}, rising...), "A"},
		{"td:5:td_nine", append([]string{"24", "23", "22", "21", "20.5"}, falling...), ""}, // the tenth
	} {
		a, err := ParseAlertType(c.alert)
		if err != nil {
			t.Fatal(err)
		}
		closed := NewClosed(closing(t, c.closes...))
		for range 2 { // the second answer is remembered
			got := ""
			if side, ok := closed.Fires(&a); ok {
				got = side.String()
			}
			if got != c.want {
				t.Errorf("%s of %v: %q, want %q", c.alert, c.closes, got, c.want)
			}
		}
	}
}

func TestVolumeSurgesAgainstTheMeanOfTheCandlesBefore(t *testing.T) {
	t.Parallel()
	a, err := ParseAlertType("vol:5:vol_surge:3:2")
	if err != nil {
		t.Fatal(err)
	}
	for size, want := range map[int64]bool{19: false, 20: true, 500: true} {
		candles := closing(t, "10", "10", "10", "11")
		candles[3].Size = decimalOf(size)
		if _, ok := NewClosed(candles).Fires(&a); ok != want {
			t.Errorf("a size of %d after three of 10 fires %t", size, ok)
		}
	}
}

// Types that differ only in a last parameter share what is dear: each further one costs a part of
// the first, in what is allocated, which is the same on any machine.
func TestAlertsOfOneSeriesWorkItOutOnce(t *testing.T) { //nolint:paralleltest // it counts what the program allocates
	candles := make([]Candle, AlertCandles)
	for i := range candles {
		px := decimalOf(int64(61_000 + (i*7919)%13))
		candles[i] = Candle{OpenTime: int64(i) * 60_000, Open: px, High: px.Add(decimalOf(3)), Low: px.Sub(decimalOf(2)), Close: px, Size: px}
	}
	for alert, of := range map[string]struct{ first, last int }{"rsi:1:rsi_level:14:%d:70": {1, 50}, "macd:1:macd_cross:50:100:%d": {1, 50}, "kdj:1:kdj_cross:100:3:%d": {1, 20}} {
		closed := NewClosed(candles)
		evaluate := func(from, to int) float64 {
			var types []AlertType
			for n := from; n <= to; n++ {
				a, err := ParseAlertType(fmt.Sprintf(alert, n))
				if err != nil {
					t.Fatal(err)
				}
				types = append(types, a)
			}
			return allocated(func() {
				for i := range types {
					closed.Fires(&types[i])
				}
			})
		}
		first, others := evaluate(of.first, of.first), evaluate(of.first+1, of.last)
		if each := others / float64(of.last-of.first); each > first*3/4 {
			t.Errorf("%s: the first allocates %.0f bytes, each other one %.0f", alert, first, each)
		}
	}
}

// allocated is how many bytes something allocates.
func allocated(do func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc)
}

func BenchmarkTenThousandAlertsOnAClosedCandle(b *testing.B) {
	candles := make([]Candle, AlertCandles)
	for i := range candles {
		px := decimalOf(60_000 + int64(i*i%977))
		candles[i] = Candle{Open: px, Close: px, Low: px, High: px.Add(decimalOf(5)), Size: decimalOf(3)}
	}
	var alerts []AlertType
	for i := range 10_000 {
		for _, text := range []string{fmt.Sprintf("ma:5:single_ma:%d", 2+i%99), fmt.Sprintf("rsi:5:rsi_level:%d", 2+i%29), fmt.Sprintf("price:5:price_cross:%d", 59_000+i)} {
			a, err := ParseAlertType(text)
			if err != nil {
				b.Fatal(err)
			}
			alerts = append(alerts, a)
		}
	}
	alerts = alerts[:10_000]
	for b.Loop() {
		closed := NewClosed(candles)
		for i := range alerts {
			closed.Fires(&alerts[i])
		}
	}
}
