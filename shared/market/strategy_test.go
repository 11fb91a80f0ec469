package market

import (
	"testing"
)

// hoursOf are hours with the given closes, volume of 10, of which takers bought half.
func hoursOf(t *testing.T, closes ...string) []Candle {
	t.Helper()
	hours := closing(t, closes...)
	for i := range hours {
		hours[i].OpenTime, hours[i].SizeBuyer = int64(i)*hourMs, decimalOf(5)
	}
	return hours
}

func repeated(text string, n int, more ...string) []string {
	list := make([]string, 0, n+len(more))
	for range n {
		list = append(list, text)
	}
	return append(list, more...)
}

func TestWhatStrategiesSayOfAnHour(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		strategy string
		hours    []Candle
		longs    map[int64]Decimal
		volume   int64 // of the last hour
		bought   int64
		want     Side
	}{
		{strategy: "depth_win_one", hours: hoursOf(t, repeated("100", 40, "101")...), volume: 10, want: Buy},
		{strategy: "depth_win_one", hours: hoursOf(t, repeated("100", 40, "99")...), volume: 10, want: Sell},
		{strategy: "depth_win_one", hours: hoursOf(t, repeated("100", 40, "101")...), volume: 9},
		{strategy: "depth_win_two", hours: hoursOf(t, repeated("100", 60, "99", "98", "120")...), want: Buy},
		{strategy: "depth_win_two", hours: hoursOf(t, repeated("100", 30, "120")...)}, // the mean of 50 is not known
		{strategy: "depth_buy_one", hours: hoursOf(t, repeated("100", 20, "100.5", "99.5", "100", "90")...), want: Buy},
		{strategy: "depth_buy_one", hours: hoursOf(t, repeated("100", 20, "100.5", "99.5", "100", "110")...)}, // buys alone
		{strategy: "order_buy_one", hours: hoursOf(t, repeated("100", 10, "101")...), volume: 20, bought: 11, want: Buy},
		{strategy: "order_buy_one", hours: hoursOf(t, repeated("100", 10, "101")...), volume: 20, bought: 10}, // half, as before
		{strategy: "order_buy_one", hours: hoursOf(t, repeated("100", 10, "99")...), volume: 20, bought: 11},
		{strategy: "order_buy_one", hours: hoursOf(t, repeated("100", 5, "101")...), volume: 20, bought: 11}, // six before are not known
		{strategy: "td_buy_one", hours: hoursOf(t, "24", "23", "22", "21", "20", "19", "18", "17", "16", "15", "14", "13", "12"), want: Buy},
		{strategy: "lsur_one", hours: hoursOf(t, "100", "100"), longs: shares(t, "0.46", "0.44"), want: Buy},
		{strategy: "lsur_one", hours: hoursOf(t, "100", "100"), longs: shares(t, "0.54", "0.56"), want: Sell},
		{strategy: "lsur_one", hours: hoursOf(t, "100", "100"), longs: shares(t, "0.56", "0.57")},
		{strategy: "lsur_one", hours: hoursOf(t, "100", "100"), longs: shares(t, "", "0.44")}, // one is not known
	} {
		last := &c.hours[len(c.hours)-1]
		if c.volume > 0 {
			last.Size = decimalOf(c.volume)
		}
		if c.bought > 0 {
			last.SizeBuyer = decimalOf(c.bought)
		}
		if got := NewStrategyHours(c.hours, c.longs).Signals()[c.strategy]; got != c.want {
			t.Errorf("%s of %d hours that end at %s says %q, want %q", c.strategy, len(c.hours), last.Close, got, c.want)
		}
	}
}

// shares are those of two hours.
func shares(t *testing.T, texts ...string) map[int64]Decimal {
	t.Helper()
	all := map[int64]Decimal{}
	for i, text := range texts {
		if text != "" {
			all[int64(i)*hourMs] = decimals(t, text)[0]
		}
	}
	return all
}

func TestASignalEndsWithTheFirstHourThatMeetsItsGainOrLoss(t *testing.T) {
	t.Parallel()
	// depth_win_one gains 2 % and loses 1 %: from 100 that is 102 and 99, of a sell 98 and 101.
	hour := func(low, high string) Candle {
		d := decimals(t, low, high)
		return Candle{Low: d[0], High: d[1]}
	}
	calm := hour("99.5", "100.5")
	for name, c := range map[string]struct {
		side  Side
		hours []Candle
		want  SignalState
		after int64
	}{
		"the gain":               {Buy, []Candle{calm, hour("99.01", "102"), hour("90", "91")}, SignalWon, 2},
		"the loss":               {Buy, []Candle{hour("99", "101.99")}, SignalLost, 1},
		"both in an hour":        {Buy, []Candle{hour("99", "102")}, SignalLost, 1},
		"the gain of a sell":     {Sell, []Candle{calm, calm, hour("98", "100.9")}, SignalWon, 3},
		"the loss of a sell":     {Sell, []Candle{hour("98.1", "101")}, SignalLost, 1},
		"neither yet":            {Buy, []Candle{calm, calm}, SignalOpen, 0},
		"neither within a day":   {Buy, append(many(calm, 24), hour("90", "110")), SignalExpired, 24},
		"the last hour of a day": {Buy, append(many(calm, 23), hour("99.5", "102")), SignalWon, 24},
	} {
		s := StrategySignal{Strategy: "depth_win_one", Time: 1000 * hourMs, Side: c.side, Px: decimalOf(100)}
		before := hour("1", "1000")
		before.OpenTime = 999 * hourMs // the hour that brought it about says nothing of it
		hours := []Candle{before}
		for i, h := range c.hours {
			h.OpenTime = (1000 + int64(i)) * hourMs
			hours = append(hours, h)
		}
		for n := range hours { // as they come
			s.Follow(hours[:n+1])
		}
		if ended := (1000 + c.after) * hourMs; c.after > 0 && s.Ended != ended {
			t.Errorf("%s: it ended at %d, want %d", name, s.Ended, ended)
		}
		if s.State != c.want {
			t.Errorf("%s: the state is %d, want %d", name, s.State, c.want)
		}
	}
}

func many(c Candle, n int) (list []Candle) {
	for range n {
		list = append(list, c)
	}
	return list
}

func TestRatesAreThoseOfTheHistoryBefore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		won, lost     int64
		rate, capital string
		known         bool
	}{
		{10, 9, "", "", false},
		{15, 5, "0.75", "0.3125", true}, // 0.75 - 0.25 x 1/2, halved
		{2, 18, "0.1", "0", true},
	} {
		s := StrategySignal{Strategy: "depth_win_one", Won: c.won, Lost: c.lost}
		won, capital, ok := s.Rates()
		if ok != c.known || ok && (won.String() != c.rate || capital.String() != c.capital) {
			t.Errorf("%d won and %d lost: %s, %s, %t, want %s, %s", c.won, c.lost, won, capital, ok, c.rate, c.capital)
		}
	}
}
