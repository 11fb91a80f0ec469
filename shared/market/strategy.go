package market

import (
	"slices"

	"github.com/quagmt/udecimal"
)

// Strategy is a rule by which hourly candles of a pair give signals, and what is advised of
// each: at which gain and at which loss to leave.
type Strategy struct {
	Key      string
	About    string  // the rule, one sentence
	WinRate  Decimal // gain at which a position is closed, a fraction of the price it was opened at
	LossRate Decimal // loss at which it is, likewise

	// signal is what the last candle says: 1 to buy, -1 to sell, or 0.
	signal func(h *StrategyHours) int
}

// StrategyHours are the hours that a strategy looks at: those before and with one that has closed.
type StrategyHours struct {
	alertCandles
	long []Decimal // share of accounts that are long at the end of each of the last two hours; empty where one is not known
}

// StrategyHoursBack is how many hours a strategy looks at, at most.
const StrategyHoursBack = 150

// NewStrategyHours returns hours that have closed, oldest first, of which the last
// [StrategyHoursBack] count. longs has the share of accounts that are long by the opening of the hour, ms.
func NewStrategyHours(hours []Candle, longs map[int64]Decimal) *StrategyHours {
	h := &StrategyHours{alertCandles: NewClosed(hours[max(0, len(hours)-StrategyHoursBack):]).alertCandles}
	for _, c := range h.candles[max(0, len(h.candles)-2):] {
		share, ok := longs[c.OpenTime]
		if !ok {
			h.long = nil
			break
		}
		h.long = append(h.long, share)
	}
	return h
}

// StrategyHorizon is after how many hours a position is closed that has met neither its gain nor
// its loss.
const StrategyHorizon = 24

// Strategies are all of them. What they advise is of the same size in every market: it is a rule to
// be judged by its history, and no promise.
var Strategies = [...]Strategy{
	{
		Key: "depth_win_one", About: "the close crosses its exponential average of 30 hours, with at least the mean volume of the 20 hours before",
		WinRate: percent(2), LossRate: percent(1),
		signal: func(h *StrategyHours) int {
			if !h.busy(20, decimalOf(1)) {
				return 0
			}
			return crossing(h.closes, h.average("ema", decimalOf(30)))
		},
	},
	{
		Key: "depth_win_two", About: "MACD (12, 26, 9) crosses its signal on the side of the mean of 50 hours: upwards above it, downwards below it",
		WinRate: percent(3), LossRate: udecimal.MustFromInt64(15, 3),
		signal: func(h *StrategyHours) int {
			lines, signals := MACD(h.closes, 12, 26, 9)
			sign, means := crossing(lines, signals), h.average("ma", decimalOf(50))
			if len(means) == 0 || sign != h.closes[len(h.closes)-1].Cmp(means[len(means)-1]) {
				return 0
			}
			return sign
		},
	},
	{
		Key: "depth_buy_one", About: "the close falls out of the band of two standard deviations around the mean of 20 hours (buys alone)",
		WinRate: udecimal.MustFromInt64(15, 3), LossRate: udecimal.MustFromInt64(15, 3),
		signal: func(h *StrategyHours) int {
			if h.left(20, 2) < 0 {
				return 1
			}
			return 0
		},
	},
	{
		Key: "order_buy_one", About: "takers bought a greater part of an hour that rose than of each of the six before (buys alone)",
		WinRate: percent(2), LossRate: percent(1),
		signal: func(h *StrategyHours) int {
			const before = 6
			if len(h.candles) <= before {
				return 0
			}
			last := &h.candles[len(h.candles)-1]
			for _, c := range h.candles[len(h.candles)-1-before : len(h.candles)-1] {
				if last.SizeBuyer.Mul(c.Size).Cmp(c.SizeBuyer.Mul(last.Size)) <= 0 {
					return 0
				}
			}
			if last.Close.Cmp(last.Open) <= 0 {
				return 0
			}
			return 1
		},
	},
	{
		Key: "td_buy_one", About: "the ninth close in a row below that of four hours before (buys alone)",
		WinRate: percent(2), LossRate: udecimal.MustFromInt64(15, 3),
		signal: func(h *StrategyHours) int {
			if setups := Setups(h.closes); len(setups) > 0 && setups[len(setups)-1] == -9 {
				return 1
			}
			return 0
		},
	},
	{
		Key: "lsur_one", About: "the share of accounts that are long falls below 45 % (buys) or rises above 55 % (sells): against the crowd",
		WinRate: percent(2), LossRate: percent(2),
		signal: func(h *StrategyHours) int {
			if len(h.long) < 2 {
				return 0
			}
			switch {
			case crossing(h.long, level(udecimal.MustFromInt64(45, 2))) < 0:
				return 1
			case crossing(h.long, level(udecimal.MustFromInt64(55, 2))) > 0:
				return -1
			}
			return 0
		},
	},
}

// percent is a number of percent as a fraction.
func percent(n int64) Decimal { return udecimal.MustFromInt64(n, 2) }

// Signals are what the strategies say of the last hour, by their keys.
func (h *StrategyHours) Signals() map[string]Side {
	all := map[string]Side{}
	if len(h.candles) == 0 {
		return all
	}
	for i := range Strategies {
		switch sign := Strategies[i].signal(h); {
		case sign > 0:
			all[Strategies[i].Key] = Buy
		case sign < 0:
			all[Strategies[i].Key] = Sell
		}
	}
	return all
}

// SignalState is what became of a signal.
type SignalState int

// The states of signals.
const (
	SignalOpen    SignalState = iota
	SignalWon                 // the gain came first
	SignalLost                // the loss came first, or both in one hour
	SignalExpired             // neither came
)

// StrategyOf is the strategy of a key, the zero value where there is none.
func StrategyOf(key string) Strategy {
	if i := slices.IndexFunc(Strategies[:], func(s Strategy) bool { return s.Key == key }); i >= 0 {
		return Strategies[i]
	}
	return Strategy{}
}

// StrategySignal is a signal of a strategy, and what became of it.
type StrategySignal struct {
	Strategy string
	Pair     string
	Time     int64 // when the hour closed, ms
	Side     Side
	Px       Decimal // its close, quote units
	State    SignalState
	Ended    int64 // when the hour closed with which that is known, ms; 0 while it is open

	// Won and Lost are how many signals of the strategy had ended so, of all pairs, when this one
	// was given.
	Won, Lost int64
}

// Follow holds an open signal against the hours behind it, oldest first. Those it has seen before
// say nothing new.
func (s *StrategySignal) Follow(hours []Candle) {
	of := StrategyOf(s.Strategy)
	if of.Key == "" || s.State != SignalOpen {
		return
	}
	gain, loss := s.Px.Mul(of.WinRate), s.Px.Mul(of.LossRate)
	for k := range hours {
		h := &hours[k]
		closed := h.OpenTime + hourMs
		if h.OpenTime < s.Time {
			continue
		}
		best, worst := h.High.Sub(s.Px), s.Px.Sub(h.Low)
		if s.Side == Sell {
			best, worst = worst, best
		}
		switch {
		case worst.Cmp(loss) >= 0:
			s.State, s.Ended = SignalLost, closed
		case best.Cmp(gain) >= 0:
			s.State, s.Ended = SignalWon, closed
		case closed >= s.Time+StrategyHorizon*hourMs:
			s.State, s.Ended = SignalExpired, closed
		default:
			continue
		}
		return
	}
}

// leastHistory is of how many signals that were won or lost a rate is known at least.
const leastHistory = 20

// Rates are the share of won signals among those that were won or lost before this one, and what
// part of its capital half of Kelly's criterion stakes by that: p - (1-p) loss/gain, halved, never
// below nothing. Both are fractions of four places; false before there are 20.
func (s *StrategySignal) Rates() (won, capital Decimal, ok bool) {
	of := StrategyOf(s.Strategy)
	if of.Key == "" || s.Won+s.Lost < leastHistory {
		return won, capital, false
	}
	all := decimalOf(s.Won + s.Lost)
	odds := of.LossRate.MustDiv(of.WinRate)
	won = decimalOf(s.Won).MustDiv(all)
	capital = won.Sub(decimalOf(s.Lost).MustDiv(all).Mul(odds)).MustDiv(decimalOf(2))
	if capital.IsNeg() {
		capital = Decimal{}
	}
	return won.RoundHAZ(4), capital.RoundHAZ(4), true
}
