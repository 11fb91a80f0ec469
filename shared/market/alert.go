package market

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// AlertParam is a parameter of a trigger: a whole number, or a price.
type AlertParam struct {
	Key      string
	Default  int64
	Min, Max int64
	Price    bool // any plain decimal above 0, without a default
	Cn, En   string
}

// Trigger is a condition on candles that have closed, in one of the indicators of alerts.
type Trigger struct {
	Key    string
	Cn, En string
	Params []AlertParam

	// fires is whether the condition came about with the last candle: for whom it speaks, 1 for
	// buyers and -1 for sellers, or 0.
	fires func(c *alertCandles, params []Decimal) int
}

// AlertIndicator is what an alert is about, with its triggers.
type AlertIndicator struct {
	Key      string
	Cn, En   string
	Triggers []Trigger
}

// AlertMinutes are the periods of alerts, in minutes. Their candles open in UTC.
var AlertMinutes = [...]int64{1, 3, 5, 10, 15, 30, 60, 120, 180, 240, 360, 720, 1440}

// AlertCandles is how many candles that have closed an alert looks at, at most: averages that
// begin with the oldest have settled by then.
const AlertCandles = 300

// whole is a parameter that is a number of candles.
func whole(key string, fallback, most int64, cn, en string) AlertParam {
	return AlertParam{Key: key, Default: fallback, Min: 1, Max: most, Cn: cn, En: en}
}

// AlertIndicators are all of them, in the order in which they are listed.
var AlertIndicators = [...]AlertIndicator{
	{"price", "价格", "Price", []Trigger{
		{"price_cross", "价格突破", "The close crosses a price", []AlertParam{{Key: "price", Price: true, Cn: "价格", En: "price"}},
			func(c *alertCandles, p []Decimal) int { return crossing(c.closes, level(p[0])) }},
	}},
	{"ma", "移动平均线", "Moving average", []Trigger{
		{"single_ma", "价格上穿/下穿均线", "The close crosses its moving average", []AlertParam{whole("n", 7, 200, "周期", "candles")},
			func(c *alertCandles, p []Decimal) int { return crossing(c.closes, c.average("ma", p[0])) }},
		{"double_ma", "均线金叉/死叉", "The shorter average crosses the longer one", []AlertParam{whole("short", 7, 200, "短周期", "candles of the shorter"), whole("long", 30, 200, "长周期", "candles of the longer")},
			func(c *alertCandles, p []Decimal) int { return crossing(c.average("ma", p[0]), c.average("ma", p[1])) }},
	}},
	{"ema", "指数移动平均线", "Exponential moving average", []Trigger{
		{"single_ema", "价格上穿/下穿均线", "The close crosses its exponential average", []AlertParam{whole("n", 7, 100, "周期", "candles")},
			func(c *alertCandles, p []Decimal) int { return crossing(c.closes, c.average("ema", p[0])) }},
		{"double_ema", "均线金叉/死叉", "The shorter average crosses the longer one", []AlertParam{whole("short", 7, 100, "短周期", "candles of the shorter"), whole("long", 30, 100, "长周期", "candles of the longer")},
			func(c *alertCandles, p []Decimal) int {
				return crossing(c.average("ema", p[0]), c.average("ema", p[1]))
			}},
	}},
	{"macd", "MACD", "MACD", []Trigger{
		{"macd_cross", "DIF 上穿/下穿 DEA", "The line crosses its signal", []AlertParam{whole("fast", 12, 100, "快线", "candles of the fast average"), whole("slow", 26, 100, "慢线", "candles of the slow average"), whole("signal", 9, 100, "信号线", "values of the signal")},
			func(c *alertCandles, p []Decimal) int {
				return crossing(macdOf(c.average("ema", p[0]), c.average("ema", p[1]), number(p[2])))
			}},
	}},
	{"kdj", "KDJ", "Stochastic oscillator", []Trigger{
		{"kdj_cross", "K 上穿/下穿 D", "K crosses D", []AlertParam{whole("n", 9, 100, "周期", "candles"), whole("k", 3, 20, "K 平滑", "smoothing of K"), whole("d", 3, 20, "D 平滑", "smoothing of D")},
			func(c *alertCandles, p []Decimal) int {
				places := c.series("place "+p[0].String(), func() []Decimal { return places(c.candles, number(p[0])) })
				return crossing(kdOf(places, number(p[1]), number(p[2])))
			}},
	}},
	{"rsi", "RSI", "Relative strength index", []Trigger{
		{"rsi_level", "RSI 超卖/超买", "It falls below the lower level (buy) or rises above the upper one (sell)", []AlertParam{whole("n", 14, 100, "周期", "candles"), whole("low", 30, 99, "超卖", "lower level"), whole("high", 70, 99, "超买", "upper level")},
			func(c *alertCandles, p []Decimal) int {
				values := c.series("rsi "+p[0].String(), func() []Decimal { return RSI(c.closes, number(p[0])) })
				switch {
				case crossing(values, level(p[1])) < 0:
					return 1
				case crossing(values, level(p[2])) > 0:
					return -1
				}
				return 0
			}},
	}},
	{"boll", "布林带", "Bollinger bands", []Trigger{
		{"boll_break", "突破上轨/下轨", "The close leaves the band, upwards (buy) or downwards (sell)", []AlertParam{whole("n", 20, 200, "周期", "candles"), whole("deviations", 2, 10, "标准差", "standard deviations")},
			func(c *alertCandles, p []Decimal) int {
				return c.left(number(p[0]), int64(number(p[1])))
			}},
	}},
	{"td", "TD 序列", "TD setup", []Trigger{
		{"td_nine", "九转", "The ninth close in a row below (buy) or above (sell) that of four candles before", nil,
			func(c *alertCandles, _ []Decimal) int {
				switch setups := Setups(c.closes); {
				case len(setups) == 0:
				case setups[len(setups)-1] == 9:
					return -1
				case setups[len(setups)-1] == -9:
					return 1
				}
				return 0
			}},
	}},
	{"vol", "成交量", "Volume", []Trigger{
		{"vol_surge", "放量", "Volume of many times the mean of the candles before, in a candle that rose (buy) or fell (sell)", []AlertParam{whole("n", 20, 200, "周期", "candles"), whole("times", 3, 100, "倍数", "times")},
			func(c *alertCandles, p []Decimal) int { return c.surge(number(p[0]), p[1]) }},
	}},
}

// left is on which side the last close has left the band around the mean of n closes; 0 where it
// is within, or the close before was outside on that side.
func (c *alertCandles) left(n int, deviations int64) int {
	signs := Outside(c.closes[max(0, len(c.closes)-n-1):], n, deviations)
	if len(signs) < 2 || signs[0] == signs[1] {
		return 0
	}
	return signs[1]
}

// number is a parameter that is a whole number, as it was read.
func number(d Decimal) int {
	n, _ := d.Int64()
	return int(n)
}

// AlertType is what an alert waits for: a trigger with its parameters, on candles of a period.
type AlertType struct {
	Indicator string
	Minutes   int64
	Trigger   string
	Params    []Decimal // all that the trigger has

	fires func(*alertCandles, []Decimal) int
}

// ParseAlertType reads "<indicator>:<minutes>:<trigger>[:<parameters>]", such as
// "ma:1440:single_ma:7": parameters are separated by commas or colons, and those that are left out
// take their defaults. The error names the part that is wrong, and what is accepted.
func ParseAlertType(text string) (a AlertType, err error) {
	parts := strings.Split(strings.ReplaceAll(text, ",", ":"), ":")
	if len(parts) < 3 || len(text) > mostAlertType {
		return a, fmt.Errorf("an alert is <indicator>:<minutes>:<trigger>[:<parameters>], as in ma:1440:single_ma:7")
	}
	known := slices.IndexFunc(AlertIndicators[:], func(i AlertIndicator) bool { return i.Key == parts[0] })
	if known < 0 {
		return a, fmt.Errorf("the indicator %.32q is unknown; accepted are %s", parts[0], joined(AlertIndicators[:], func(i AlertIndicator) string { return i.Key }))
	}
	indicator := &AlertIndicators[known]
	if a.Minutes, err = strconv.ParseInt(parts[1], 10, 64); err != nil || !slices.Contains(AlertMinutes[:], a.Minutes) {
		return a, fmt.Errorf("the period %.32q is unknown; accepted are %s", parts[1], joined(AlertMinutes[:], func(m int64) string { return strconv.FormatInt(m, 10) }))
	}
	one := slices.IndexFunc(indicator.Triggers, func(t Trigger) bool { return t.Key == parts[2] })
	if one < 0 {
		return a, fmt.Errorf("the trigger %.32q is none of %s; accepted are %s", parts[2], indicator.Key, joined(indicator.Triggers, func(t Trigger) string { return t.Key }))
	}
	trigger := &indicator.Triggers[one]
	a.Indicator, a.Trigger, a.fires = indicator.Key, trigger.Key, trigger.fires
	given := parts[3:]
	if len(given) > len(trigger.Params) {
		return a, fmt.Errorf("the number of parameters of the trigger %s is %d, not %d", trigger.Key, len(trigger.Params), len(given))
	}
	for i := range trigger.Params {
		text := ""
		if i < len(given) {
			text = given[i]
		}
		value, err := trigger.Params[i].read(text)
		if err != nil {
			return a, fmt.Errorf("the parameter %s of %s %w", trigger.Params[i].Key, trigger.Key, err)
		}
		a.Params = append(a.Params, value)
	}
	return a, nil
}

// mostAlertType is how long the text of an alert type may be.
const mostAlertType = 128

func (p *AlertParam) read(text string) (Decimal, error) {
	if p.Price {
		value, err := ParseDecimal(text)
		if err != nil || !value.IsPos() {
			return value, fmt.Errorf("must be a price above 0, not %.32q", text)
		}
		return value, nil
	}
	if text == "" {
		return decimalOf(p.Default), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < p.Min || n > p.Max {
		return Decimal{}, fmt.Errorf("must be a whole number from %d to %d, not %.32q", p.Min, p.Max, text)
	}
	return decimalOf(n), nil
}

func joined[T any](list []T, name func(T) string) string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = name(list[i])
	}
	return strings.Join(names, ", ")
}

// String is the type with all its parameters: two texts of one type are one.
func (a AlertType) String() string {
	parts := []string{a.Indicator, strconv.FormatInt(a.Minutes, 10), a.Trigger}
	for _, p := range a.Params {
		parts = append(parts, p.String())
	}
	return strings.Join(parts, ":")
}

// AlertPeriod is that of candles of so many minutes, one of [AlertMinutes]: their days open in UTC.
func AlertPeriod(minutes int64) Period { return Period{60 * minutes, OpenBeijing8} }

// Closed are candles of one pair and period that have closed, oldest first: what alerts are
// evaluated on. What many types are made of, such as an average, it works out once: of all types
// there are millions, and one distributor may have an alert of each of many.
type Closed struct{ alertCandles }

type alertCandles struct {
	candles []Candle
	closes  []Decimal
	made    map[string][]Decimal // series of one parameter, some hundreds
	fired   map[string]int       // by type
}

// NewClosed returns those, of which the last [AlertCandles] count.
func NewClosed(candles []Candle) *Closed {
	candles = candles[max(0, len(candles)-AlertCandles):]
	return &Closed{alertCandles{candles: candles, closes: closesOf(candles), made: map[string][]Decimal{}, fired: map[string]int{}}}
}

// Fires reports whether an alert goes off with the last candle, and for whom it speaks. Where
// too few candles are known it does not.
func (c *Closed) Fires(a *AlertType) (side Side, ok bool) {
	key := a.String()
	sign, known := c.fired[key]
	if !known && a.fires != nil {
		sign = a.fires(&c.alertCandles, a.Params)
		c.fired[key] = sign
	}
	switch {
	case sign > 0:
		return Buy, true
	case sign < 0:
		return Sell, true
	}
	return 0, false
}

// average is a moving average of closes, simple or exponential.
func (c *alertCandles) average(kind string, n Decimal) []Decimal {
	of := MovingAverages
	if kind == "ema" {
		of = ExponentialAverages
	}
	return c.series(kind+" "+n.String(), func() []Decimal { return of(c.closes, number(n)) })
}

// series is what fresh works out under a name, once.
func (c *alertCandles) series(name string, fresh func() []Decimal) []Decimal {
	list, ok := c.made[name]
	if !ok {
		list = fresh()
		c.made[name] = list
	}
	return list
}

// surge is whether the last candle had so many times the mean volume of the n before it.
func (c *alertCandles) surge(n int, times Decimal) int {
	if !c.busy(n, times) {
		return 0
	}
	last := &c.candles[len(c.candles)-1]
	return last.Close.Cmp(last.Open)
}

// busy reports whether the last candle has at least so many times the mean volume of the n before
// it; false where not all of these are known, and where nothing was traded in them.
func (c *alertCandles) busy(n int, times Decimal) bool {
	last := len(c.candles) - 1
	if last < n {
		return false
	}
	var sum Decimal
	for i := range c.candles[last-n : last] {
		sum = sum.Add(c.candles[last-n+i].Size)
	}
	return sum.IsPos() && c.candles[last].Size.Mul(decimalOf(int64(n))).Cmp(sum.Mul(times)) >= 0
}
