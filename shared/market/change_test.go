package market_test

import (
	"slices"
	"testing"

	"quotary/shared/market"
)

// changeMinutes are so many calm minutes from the opening of a day on: 100 units are traded at 1000
// in each, half of them bought.
func changeMinutes(n int) (list []market.Candle) {
	for i := range n {
		list = append(list, changeMinute(i, 1000, 1000, 1000, 1000, 100, 50))
	}
	return list
}

func changeMinute(at int, open, high, low, last, amount, bought int64) market.Candle {
	return market.Candle{
		OpenTime: 1_773_014_400_000 + int64(at)*60_000, Trades: 2, Size: units(1), Open: units(open), High: units(high), Low: units(low), Close: units(last),
		Amount: units(amount), AmountBuyer: units(bought),
	}
}

func units(n int64) market.Decimal { return market.DecimalFromInt(n) }

func TestEachKindOfChangeHasItsThreshold(t *testing.T) {
	t.Parallel()
	uncounted := changeMinute(70, 1000, 1000, 1000, 1000, 1200, 1200)
	uncounted.Trades = 0
	for name, c := range map[string]struct {
		calm int
		then []market.Candle
		want []market.ChangeKind // of the last minute
	}{
		"a calm day":                    {300, []market.Candle{changeMinute(300, 1000, 1000, 1000, 1000, 100, 50)}, nil},
		"much traded, and it rises":     {60, []market.Candle{changeMinute(60, 1000, 1003, 1000, 1003, 500, 250)}, []market.ChangeKind{market.VolumeUp}},
		"not so much":                   {60, []market.Candle{changeMinute(60, 1000, 1003, 1000, 1003, 499, 250)}, nil},
		"it rises by less":              {60, []market.Candle{changeMinute(60, 1000, 1003, 1000, 1002, 500, 250)}, nil},
		"within the first hour":         {59, []market.Candle{changeMinute(59, 1000, 1003, 1000, 1003, 500, 250)}, nil},
		"much traded, and it falls":     {60, []market.Candle{changeMinute(60, 1000, 1000, 997, 997, 500, 250)}, []market.ChangeKind{market.VolumeDown}},
		"five percent above the day":    {3, []market.Candle{changeMinute(3, 1000, 1050, 1000, 1050, 100, 50)}, []market.ChangeKind{market.DaySurge}},
		"and there it stays":            {3, []market.Candle{changeMinute(3, 1000, 1050, 1000, 1050, 100, 50), changeMinute(63, 1050, 1050, 1050, 1050, 100, 50)}, nil},
		"five percent below":            {3, []market.Candle{changeMinute(3, 1000, 1000, 950, 950, 100, 50)}, []market.ChangeKind{market.DayPlunge}},
		"it falls and comes back":       {30, []market.Candle{changeMinute(30, 1000, 1000, 990, 990, 100, 50), changeMinute(44, 990, 1000, 990, 1000, 100, 50)}, []market.ChangeKind{market.Rebound}},
		"it does a quarter later":       {30, []market.Candle{changeMinute(30, 1000, 1000, 990, 995, 100, 50), changeMinute(45, 995, 1000, 995, 1000, 100, 50)}, nil},
		"it falls from the day's high":  {30, []market.Candle{changeMinute(30, 1000, 1010, 1000, 1010, 100, 50), changeMinute(31, 1010, 1010, 990, 990, 100, 50)}, []market.ChangeKind{market.Dive}},
		"that was a quarter before":     {30, []market.Candle{changeMinute(30, 1000, 1010, 1000, 1000, 100, 50), changeMinute(45, 1000, 1000, 990, 990, 100, 50)}, nil},
		"above four hours":              {240, []market.Candle{changeMinute(240, 1000, 1001, 1000, 1001, 100, 50)}, []market.ChangeKind{market.NewHigh}},
		"above less than four hours":    {239, []market.Candle{changeMinute(239, 1000, 1001, 1000, 1001, 100, 50)}, nil},
		"below four hours":              {240, []market.Candle{changeMinute(240, 1000, 1000, 999, 999, 100, 50)}, []market.ChangeKind{market.NewLow}},
		"two percent in five minutes":   {10, []market.Candle{changeMinute(10, 1000, 1020, 1000, 1020, 100, 50)}, []market.ChangeKind{market.Pump}},
		"two percent in six":            {10, []market.Candle{changeMinute(10, 1000, 1010, 1000, 1010, 100, 50), changeMinute(15, 1010, 1020, 1010, 1020, 100, 50)}, nil},
		"two percent down":              {10, []market.Candle{changeMinute(10, 1000, 1000, 980, 980, 100, 50)}, []market.ChangeKind{market.Dump}},
		"takers buy":                    {70, []market.Candle{changeMinute(70, 1000, 1000, 1000, 1000, 1200, 1000)}, []market.ChangeKind{market.Inflow}},
		"takers buy less than thrice":   {70, []market.Candle{changeMinute(70, 1000, 1000, 1000, 1000, 1200, 999)}, nil},
		"takers sell":                   {70, []market.Candle{changeMinute(70, 1000, 1000, 1000, 1000, 1200, 200)}, []market.ChangeKind{market.Outflow}},
		"takers are not counted":        {70, []market.Candle{uncounted}, nil},
		"a minute without a trade":      {70, []market.Candle{{OpenTime: 1_773_014_400_000 + 70*60_000}}, nil},
		"a minute that was looked at":   {70, []market.Candle{changeMinute(69, 1000, 1100, 1000, 1100, 900, 900)}, nil},
		"the next day knows none of it": {1440, []market.Candle{changeMinute(1440, 1100, 1100, 1100, 1100, 900, 900)}, nil},
	} {
		var day market.ChangeDay
		for _, calm := range changeMinutes(c.calm) {
			if got := day.Add(&calm); got != nil {
				t.Fatalf("%s: while it is calm %v is said", name, got)
			}
		}
		var got []market.ChangeKind
		for i := range c.then {
			got = day.Add(&c.then[i])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestAKindIsSaidOnceInAnHour(t *testing.T) {
	t.Parallel()
	var day market.ChangeDay
	said := map[int]int{}
	for n := range 360 { // each minute is a new high
		c := changeMinute(n, int64(100_000+n), int64(100_001+n), int64(100_000+n), int64(100_001+n), 100, 50)
		for _, kind := range day.Add(&c) {
			if kind != market.NewHigh {
				t.Errorf("%d is said of minute %d", kind, n)
			}
			said[n/60]++
		}
	}
	if len(said) != 2 || said[4] != 1 || said[5] != 1 {
		t.Errorf("by hour %v, want one in each of the hours 4 and 5", said)
	}
}

func TestLargeRunsAndLiquidationsAreChanges(t *testing.T) {
	t.Parallel()
	run := market.TakerRun{ID: 7, Side: market.Sell, End: 9, FarPx: units(3), Value: units(50_000)}
	if c, large := market.ChangeOfRun("a:x", &run, units(10_000)); !large || c != (market.PairChange{Pair: "a:x", Kind: market.LargeSell, Time: 9, Of: "7", Px: units(3)}) {
		t.Errorf("%+v, %t", c, large)
	}
	run.Side, run.Value = market.Buy, units(49_999)
	if c, large := market.ChangeOfRun("a:x", &run, units(10_000)); large || c.Kind != market.LargeBuy {
		t.Errorf("%+v, %t", c, large)
	}
	for coin, value := range map[string]int64{"btc": 500_000, "aaa": 50_000} {
		l := market.PairLiquidation{Pair: "a:x", Time: 9, Long: true, Px: units(3), Sz: units(4), Value: units(value)}
		if c, large := market.ChangeOfLiquidation(&l, coin); !large || c.Kind != market.LongLiquidation || c.Of != "3 4" {
			t.Errorf("%+v, %t", c, large)
		}
		l.Long, l.ID, l.Value = false, 5, units(value-1)
		if c, large := market.ChangeOfLiquidation(&l, coin); large || c.Kind != market.ShortLiquidation || c.Of != "5" {
			t.Errorf("%+v, %t", c, large)
		}
	}
}
