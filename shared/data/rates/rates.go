// Package rates is the view of daily reference exchange rates, by which figures in
// US dollars are given in yuan too. A day without a rate (weekends, holidays) has
// that of the last day before it.
package rates

import (
	"cmp"
	"maps"
	"slices"
	"strings"
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

	Others map[string]string `json:"others,omitempty"` // by the code of the currency, in lower case
}

// At returns the rate of yuan to US dollars that is in force at a time: that of the
// last day whose rates are published by then; false where none is known.
func (v View) At(t time.Time) (market.YuanRate, bool) {
	day, ok := v.inForce(t)
	usd, okUSD := day.perEuro("usd")
	cny, okCNY := day.perEuro("cny")
	return market.YuanRate{USD: usd, CNY: cny}, ok && okUSD && okCNY
}

// inForce is the last day whose rates are published by a time; false where none is known.
func (v View) inForce(t time.Time) (Day, bool) {
	date := t.UTC().Add(-published).Format(time.DateOnly)
	i, found := slices.BinarySearchFunc(v.Days, date, func(d Day, date string) int { return cmp.Compare(d.Date, date) })
	if !found {
		i--
	}
	if i < 0 {
		return Day{}, false
	}
	return v.Days[i], true
}

// Add takes the rates of a day and reports whether anything changed. Rates of the
// same day that come again replace those that were known; the oldest beyond Keep are
// dropped. The slice of the view is never written to.
func (v *View) Add(r market.DayRates) bool {
	day := Day{Date: r.Date, USD: r.USD.String(), CNY: r.CNY.String()}
	for code, rate := range r.Others {
		if day.Others == nil {
			day.Others = make(map[string]string, len(r.Others))
		}
		day.Others[code] = rate.String()
	}
	i, found := slices.BinarySearchFunc(v.Days, day.Date, func(d Day, date string) int { return cmp.Compare(d.Date, date) })
	if found && v.Days[i].same(&day) || !found && i == 0 && len(v.Days) >= Keep {
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

func (d *Day) same(e *Day) bool {
	return d.Date == e.Date && d.USD == e.USD && d.CNY == e.CNY && maps.Equal(d.Others, e.Others)
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

// perEuro is how many units of a currency, in lower case, one euro is; false for one that is not
// known.
func (d *Day) perEuro(currency string) (market.Decimal, bool) {
	text := d.Others[currency]
	switch currency {
	case "usd":
		text = d.USD
	case "cny":
		text = d.CNY
	case "eur":
		text = "1"
	}
	rate, err := market.ParseDecimal(text)
	return rate, err == nil && rate.IsPos()
}

// ratePlaces are those of an exchange rate: the European Central Bank's have four.
const ratePlaces = 6

// Quotes are the days of an exchange rate by its key, t:<currency><currency>, with any source
// behind it: how many of the second one of the first is, to six places. False for a key of no
// two currencies that are known.
func (v View) Quotes(key string) (quotes []market.DayQuote, ok bool) {
	name, found := strings.CutPrefix(strings.ToLower(key), "t:")
	pair, _, _ := strings.Cut(name, ":")
	if !found || len(pair) != 6 || pair[:3] == pair[3:] {
		return nil, false
	}
	for i := range v.Days {
		from, okFrom := v.Days[i].perEuro(pair[:3])
		to, okTo := v.Days[i].perEuro(pair[3:])
		if !okFrom || !okTo {
			return nil, false
		}
		rate := market.Quotient(to.String(), from.String(), ratePlaces)
		quotes = append(quotes, market.DayQuote{Key: key, Date: v.Days[i].Date, Unit: strings.ToUpper(pair[3:]), Open: rate, High: rate, Low: rate, Close: rate})
	}
	return quotes, len(quotes) > 0
}

// Convert returns what writes amounts of a currency in another one, by the rates that are in
// force at a time, rounded as [market.YuanRate.Yuan] rounds; false where one of them is not
// known. Currencies are in any letter case.
func (v View) Convert(t time.Time, from, to string) (convert func(amount string) string, ok bool) {
	if strings.EqualFold(from, to) {
		return func(amount string) string { return amount }, true
	}
	day, ok := v.inForce(t)
	if !ok {
		return nil, false
	}
	one, okFrom := day.perEuro(strings.ToLower(from))
	other, okTo := day.perEuro(strings.ToLower(to))
	return market.YuanRate{USD: one, CNY: other}.Yuan, okFrom && okTo
}
