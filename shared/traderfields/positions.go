package traderfields

import (
	"math/big"

	"quotary/shared/market"
)

type (
	positions = market.PositionFacts
	decimal   = market.Decimal
)

// positionFields are about positions in perpetuals from flat to flat that were closed in the period,
// as completed trades are. Their pnl is closedPnl, in which neither fees nor funding are.
var positionFields = group("completed positions", Periods, did(func(f *market.Facts) *positions { return &f.Closed }),
	row[positions]{"positionCount", Count, Sum, "Number of positions in perpetuals that were closed in the period.", of(func(all *direction) (decimal, bool) { return number(all.Count) })},
	row[positions]{"winCount", Count, Sum, "Number of them with a pnl above 0.", of(func(all *direction) (decimal, bool) { return number(all.Wins) })},
	row[positions]{"lossCount", Count, Sum, "Number of them with a pnl below 0.", of(func(all *direction) (decimal, bool) { return number(all.Losses) })},
	row[positions]{"winRate", Ratio, Derived, "100 × winCount / positionCount, from 0 to 100.", of(func(all *direction) (decimal, bool) { return percent(all.Wins, all.Count) })},
	row[positions]{"totalPnl", Money, Sum, "Sum of the pnl of the positions, in US dollars.", of(func(all *direction) (decimal, bool) { return known(all.Pnl()) })},

	row[positions]{"longCount", Count, Sum, "Number of long positions.", func(c *positions) (decimal, bool) { return number(c.Long.Count) }},
	row[positions]{"longRatio", Ratio, Derived, "longCount / positionCount, a fraction.", func(c *positions) (decimal, bool) { return part(c.Long.Count, c.Long.Count+c.Short.Count) }},
	row[positions]{"longWinCount", Count, Sum, "Number of long positions with a pnl above 0.", func(c *positions) (decimal, bool) { return number(c.Long.Wins) }},
	row[positions]{"longPnl", Money, Sum, "Sum of the pnl of the long positions, in US dollars.", func(c *positions) (decimal, bool) { return known(c.Long.Pnl()) }},
	row[positions]{"longWinPnl", Money, Sum, "Sum of the pnl of the long positions with one above 0, in US dollars.", func(c *positions) (decimal, bool) { return known(c.Long.Won) }},
	row[positions]{"longWinRate", Ratio, Derived, "100 × longWinCount / longCount, from 0 to 100.", func(c *positions) (decimal, bool) { return percent(c.Long.Wins, c.Long.Count) }},
	row[positions]{"shortCount", Count, Sum, "Number of short positions.", func(c *positions) (decimal, bool) { return number(c.Short.Count) }},
	row[positions]{"shortPnl", Money, Sum, "Sum of the pnl of the short positions, in US dollars.", func(c *positions) (decimal, bool) { return known(c.Short.Pnl()) }},
	row[positions]{"shortWinCount", Count, Sum, "Number of short positions with a pnl above 0.", func(c *positions) (decimal, bool) { return number(c.Short.Wins) }},
	row[positions]{"shortWinPnl", Money, Sum, "Sum of the pnl of the short positions with one above 0, in US dollars.", func(c *positions) (decimal, bool) { return known(c.Short.Won) }},
	row[positions]{"shortWinRate", Ratio, Derived, "100 × shortWinCount / shortCount, from 0 to 100.", func(c *positions) (decimal, bool) { return percent(c.Short.Wins, c.Short.Count) }},

	row[positions]{"winPnl", Money, Sum, "Sum of the pnl of the positions with one above 0, in US dollars.", of(func(all *direction) (decimal, bool) { return known(all.Won) })},
	row[positions]{"lossPnl", Money, Sum, "Sum of the pnl of the positions with one below 0, in US dollars; it is not positive.", of(func(all *direction) (decimal, bool) { return known(all.Lost) })},
	row[positions]{"maxLoss", Money, Least, "The least pnl of the positions with one below 0, in US dollars.", func(c *positions) (decimal, bool) { return c.MinPnl, c.MinPnl.IsNeg() }},
	row[positions]{"maxPnl", Money, Greatest, "The greatest pnl of a position, in US dollars.", func(c *positions) (decimal, bool) { return c.MaxPnl, count(c) > 0 }},
	row[positions]{"minPnl", Money, Least, "The least pnl of a position, in US dollars.", func(c *positions) (decimal, bool) { return c.MinPnl, count(c) > 0 }},
	row[positions]{"maxProfit", Money, Greatest, "The greatest pnl of the positions with one above 0, in US dollars.", func(c *positions) (decimal, bool) { return c.MaxPnl, c.MaxPnl.IsPos() }},

	row[positions]{"avgOpenOrdersCount", Ratio, Derived, "Orders that opened a position or added to it, on average of the positions.", func(c *positions) (decimal, bool) { return mean(c, market.DecimalFromInt(c.OpenOrders)) }},
	row[positions]{"avgCloseOrdersCount", Ratio, Derived, "Orders that reduced a position or closed it, on average of the positions.", func(c *positions) (decimal, bool) { return mean(c, market.DecimalFromInt(c.CloseOrders)) }},
	row[positions]{"avgOrdersCount", Ratio, Derived, "Orders that opened a position and that closed it, on average of the positions.", func(c *positions) (decimal, bool) { return mean(c, market.DecimalFromInt(c.OpenOrders+c.CloseOrders)) }},

	row[positions]{"avgDurationMin", Ratio, Derived, "From the first fill of a position to its last, on average of the positions, in minutes.", func(c *positions) (decimal, bool) { return lasted(c, c.Duration, minute*count(c)) }},
	row[positions]{"avgDurationHour", Ratio, Derived, "From the first fill of a position to its last, on average of the positions, in hours.", func(c *positions) (decimal, bool) { return lasted(c, c.Duration, hour*count(c)) }},
	row[positions]{"maxDurationMin", Ratio, Greatest, "The longest time from the first fill of a position to its last, in minutes.", func(c *positions) (decimal, bool) { return lasted(c, c.MaxDuration, minute) }},
	row[positions]{"maxDurationHour", Ratio, Greatest, "The longest time from the first fill of a position to its last, in hours.", func(c *positions) (decimal, bool) { return lasted(c, c.MaxDuration, hour) }},
	row[positions]{"minDurationMin", Ratio, Least, "The shortest time from the first fill of a position to its last, in minutes.", func(c *positions) (decimal, bool) { return lasted(c, c.MinDuration, minute) }},
	row[positions]{"minDurationSec", Ratio, Least, "The shortest time from the first fill of a position to its last, in seconds.", func(c *positions) (decimal, bool) { return lasted(c, c.MinDuration, second) }},

	row[positions]{"avgFunding", Money, Derived, "Funding that was received less what was paid, on average of the positions, in US dollars.", func(c *positions) (decimal, bool) { return mean(c, c.Funding) }},
	row[positions]{"avgLeverage", Ratio, Derived, "The leverage that was set, on average of the positions of which it is known.", func(c *positions) (decimal, bool) { return part(c.Leverage, c.Levered) }},
	row[positions]{"avgPnl", Money, Derived, "totalPnl / positionCount, in US dollars.", of(func(all *direction) (decimal, bool) { return each(all.Pnl(), all.Count) })},
	row[positions]{"avgLoss", Money, Derived, "lossPnl / lossCount, in US dollars; it is negative.", of(func(all *direction) (decimal, bool) { return each(all.Lost, all.Losses) })},
	row[positions]{"avgProfit", Money, Derived, "winPnl / winCount, in US dollars.", of(func(all *direction) (decimal, bool) { return each(all.Won, all.Wins) })},
	row[positions]{"avgMargin", Money, Derived, "The margin of a position, its largest value / the leverage that was set, on average of the positions of which that is known, in US dollars.", func(c *positions) (decimal, bool) { return each(c.Margin, c.Levered) }},
	row[positions]{"avgPv", Money, Derived, "The largest value of a position, at the price of the fill that led to it, on average of the positions, in US dollars.", func(c *positions) (decimal, bool) { return mean(c, c.Value) }},

	row[positions]{"maxGrossProfitRate", Ratio, Greatest, "The greatest pnl / largest value of the positions with a pnl above 0, a fraction.", func(c *positions) (decimal, bool) { return c.MaxRate, c.MaxRate.IsPos() }},
	row[positions]{"maxGrossLossRate", Ratio, Least, "The least pnl / largest value of the positions with a pnl below 0, a fraction; it is negative.", func(c *positions) (decimal, bool) { return c.MinRate, c.MinRate.IsNeg() }},
	row[positions]{"profitFactor", Ratio, Derived, "winPnl / -lossPnl; not known without a loss.", of(func(all *direction) (decimal, bool) { return over(all.Won, all.Lost.Neg()) })},
	row[positions]{"riskRewardRatio", Ratio, Derived, "avgProfit / -avgLoss, 0 without a profit; not known without a loss.", of(riskReward)},
	row[positions]{"sharpe", Ratio, Derived, "Mean of pnl / largest value of the positions over its sample standard deviation, of one position and not of a year; not known of fewer than two, or where it is the same of all.", sharpe},
	row[positions]{"totalRoi", Ratio, Derived, "Sum of the pnl over the sum of the margins of the positions of which the leverage is known, a fraction.", func(c *positions) (decimal, bool) { return over(c.MarginPnl, c.Margin) }},
)

// Units of durations, ms.
const (
	second = 1000
	minute = 60 * second
	hour   = 60 * minute
)

type direction = market.PositionSum

// of makes a figure of the positions of both directions.
func of(value func(*direction) (decimal, bool)) figure[positions] {
	return func(c *positions) (decimal, bool) {
		all := c.All()
		return value(&all)
	}
}

func count(c *positions) int64 { return c.Long.Count + c.Short.Count }

// mean is an amount over the number of positions.
func mean(c *positions, d decimal) (decimal, bool) { return each(d, count(c)) }

// lasted is a duration in a unit, where there was a position.
func lasted(c *positions, ms, unit int64) (decimal, bool) {
	if count(c) == 0 {
		return decimal{}, false
	}
	return part(ms, unit)
}

// riskReward is as [market.Activity.ProfitLossRatio] is of fills.
func riskReward(all *direction) (decimal, bool) {
	if all.Wins == 0 {
		return decimal{}, all.Losses > 0
	}
	return over(all.Won.Mul(market.DecimalFromInt(all.Losses)), all.Lost.Neg().Mul(market.DecimalFromInt(all.Wins)))
}

// sharpe is exact to the last place: with n rates, their sum s and the sum q of their squares, its
// square is s² (n-1) / (n (n q - s²)), of which the root is taken of whole numbers.
func sharpe(c *positions) (decimal, bool) {
	if c.Rated < 2 {
		return decimal{}, false
	}
	n := big.NewInt(c.Rated)
	s, q := wholes(c.Rates, market.RatioPlaces), wholes(c.Squares, 2*market.RatioPlaces)
	spread := new(big.Int).Sub(new(big.Int).Mul(n, q), new(big.Int).Mul(s, s))
	if spread.Sign() <= 0 {
		return decimal{}, false
	}
	// The root of four times the square of the units, whose half is rounded.
	square := new(big.Int).Mul(s, s)
	square.Mul(square, big.NewInt(c.Rated-1)).Mul(square, big.NewInt(4*1_000_000*1_000_000))
	square.Quo(square, n.Mul(n, spread))
	root := square.Sqrt(square)
	root.Rsh(root.Add(root, big.NewInt(1)), 1)
	if !root.IsInt64() || root.Int64() > int64(market.MaxMicros) {
		return decimal{}, false
	}
	return market.Micros(root.Int64() * int64(s.Sign())).Decimal(), true
}

// wholes is a decimal in units of 10^-scale, of which it has no part.
func wholes(d decimal, scale int) *big.Int {
	negative, hi, lo, places, ok := d.ToHiLo()
	if !ok || int(places) > scale {
		one := market.DecimalFromInt(int64(powers[scale])) //nolint:gosec // a scale is small
		n, _ := new(big.Int).SetString(d.Mul(one).RoundHAZ(0).String(), 10)
		return n
	}
	n := new(big.Int).SetUint64(hi)
	n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(lo)).Mul(n, new(big.Int).SetUint64(powers[scale-int(places)]))
	if negative {
		n.Neg(n)
	}
	return n
}
