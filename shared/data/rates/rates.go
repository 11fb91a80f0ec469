// Package rates is the view of daily reference exchange rates, by which figures in
// US dollars are given in yuan too. A day without a rate (weekends, holidays) has
// that of the last day before it.
package rates

import (
	"cmp"
	"slices"
	"time"

	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view.
const Name = "rates"

// Keep is how many days with a rate the view holds: half a year, where changes are
// over a week.
const Keep = 130

// published is when the rates of a day come into force, after midnight UTC: the
// European Central Bank publishes them at about 16:00 in Frankfurt.
const published = 15 * time.Hour

// View holds the last days that have rates.
type View struct {
	Days []Day `json:"days"` // by date
}

// Day is the rates of a day: units of a currency for one euro, exact decimals.
type Day struct {
	Date string `json:"date"` // yyyy-mm-dd
	USD  string `json:"usd"`
	CNY  string `json:"cny"`
}

// At returns the rate of yuan to US dollars that is in force at a time: that of the
// last day whose rates are published by then; false where none is known.
func (v View) At(t time.Time) (market.YuanRate, bool) {
	date := t.UTC().Add(-published).Format(time.DateOnly)
	i, found := slices.BinarySearchFunc(v.Days, date, func(d Day, date string) int { return cmp.Compare(d.Date, date) })
	if !found {
		i--
	}
	if i < 0 {
		return market.YuanRate{}, false
	}
	usd, errUSD := market.ParseDecimal(v.Days[i].USD)
	cny, errCNY := market.ParseDecimal(v.Days[i].CNY)
	ok := errUSD == nil && errCNY == nil && usd.IsPos() && cny.IsPos()
	return market.YuanRate{USD: usd, CNY: cny}, ok
}

// Add takes the rates of a day and reports whether anything changed. Rates of the
// same day that come again replace those that were known; the oldest beyond Keep are
// dropped. The slice of the view is never written to.
func (v *View) Add(r market.DayRates) bool {
	day := Day{Date: r.Date, USD: r.USD.String(), CNY: r.CNY.String()}
	i, found := slices.BinarySearchFunc(v.Days, day.Date, func(d Day, date string) int { return cmp.Compare(d.Date, date) })
	if found && v.Days[i] == day || !found && i == 0 && len(v.Days) >= Keep {
		return false
	}
	days := slices.Clone(v.Days)
	if found {
		days[i] = day
	} else {
		days = slices.Insert(days, i, day)
	}
	v.Days = days[max(0, len(days)-Keep):]
	return true
}

// Published is how the view is stored. A rate comes once a day.
var Published = store.ViewType[View]{Name: Name, Period: time.Minute}

// Yuan returns what writes amounts in US dollars in yuan, by the rate that is in force at
// a time: empty where none is known.
func (v View) Yuan(t time.Time) func(usd market.Decimal) string {
	rate, ok := v.At(t)
	return func(usd market.Decimal) string {
		if !ok {
			return ""
		}
		return rate.Yuan(usd.String())
	}
}
