package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/data/datatest"
	"quotary/shared/data/drop"
	"quotary/shared/data/indices"
	"quotary/shared/data/rates"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
)

// text is K-lines as tests write them.
func text(rows []catalog.KlineRow) string {
	var b strings.Builder
	for _, row := range rows {
		for _, figure := range row {
			if figure == nil {
				figure = new(json.Number("null"))
			}
			fmt.Fprint(&b, *figure, " ")
		}
		fmt.Fprint(&b, ";")
	}
	return b.String()
}

// workdays stores days of a key that are no weekend, the last of them the day before
// apitest.Start: day n opens at n, closes at n+1, and is a tenth lower and higher in between.
func (w *world) workdays(t *testing.T, key string, count int, volume bool) []time.Time {
	t.Helper()
	var days []time.Time
	for at := apitest.Start.Truncate(24*time.Hour).AddDate(0, 0, -1); len(days) < count; at = at.AddDate(0, 0, -1) {
		if at.Weekday() != time.Saturday && at.Weekday() != time.Sunday {
			days = append([]time.Time{at}, days...)
		}
	}
	var entries []indices.DayEntry
	for n, at := range days {
		q := market.DayQuote{
			Key: key, Date: at.Format(time.DateOnly), Open: strconv.Itoa(n), Close: strconv.Itoa(n + 1),
			High: fmt.Sprintf("%d.1", n+1), Low: strconv.Itoa(n),
		}
		if volume {
			q.Volume = strconv.Itoa(10 * n)
		}
		entries = append(entries, indices.EntryOf(q, drop.Place{Time: 1}))
	}
	datatest.PutIndexDays(t, w.series, entries...)
	return days
}

func (w *world) lines(t *testing.T, query string) []catalog.KlineRow {
	t.Helper()
	return apitest.Data[catalog.CommonKlineList](t, w.Get(t, w.SubKey, path+"?"+query)).KlineData
}

func TestKlinesOfAnIndex(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	days := w.workdays(t, "i:vix:cboe", 60, false)
	w.Get(t, w.SubKey, path+"?symbol=i:vix:cboe&period=86400&size=2&open_time=8").Golden(t, "index-1d")
	last := days[59].Unix()
	for query, want := range map[string]string{
		"open_time=8&size=1":                    fmt.Sprintf("%d 59 60.1 59 60 null ;", last),
		"size=1":                                fmt.Sprintf("%d 59 60.1 59 60 null ;", last-8*3600), // that day opens in Beijing
		"open_time=8&size=1&since=" + s(last-1): fmt.Sprintf("%d 58 59.1 58 59 null ;", days[58].Unix()),
		"open_time=8&size=1&since=" + s(last):   fmt.Sprintf("%d 59 60.1 59 60 null ;", last),
		"since=1":                               "",
	} {
		if got := text(w.lines(t, "symbol=i:vix:cboe&"+query)); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if got := w.lines(t, "symbol=i:VIX:cboe&size=500"); len(got) != 60 {
		t.Errorf("%d days, want all 60", len(got))
	}
	if got := w.lines(t, "dbkey=i:nothing:cboe"); len(got) != 0 {
		t.Errorf("of an unknown index there is %s", text(got))
	}
	for _, period := range []string{"60", "3600", "43200"} {
		w.Get(t, w.SubKey, path+"?symbol=i:vix:cboe&period="+period).Refused(t, http.StatusBadRequest, "period is invalid", "86400, 259200, 604800 and 2592000")
	}
}

// Of an index with few days those are found that lie further back than K-lines usually do.
func TestKlinesOfAnIndexWithFewDays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var entries []indices.DayEntry
	for n := range 4 {
		at := apitest.Start.AddDate(0, -3*n, 0).Format(time.DateOnly)
		entries = append(entries, indices.EntryOf(market.DayQuote{Key: "i:quarterly:house", Date: at, Open: "1", High: "1", Low: "1", Close: "1"}, drop.Place{Time: 1}))
	}
	datatest.PutIndexDays(t, w.series, entries...)
	for size, want := range map[int]int{1: 1, 3: 3, 500: 4} {
		if got := w.lines(t, fmt.Sprintf("symbol=i:quarterly:house&size=%d", size)); len(got) != want {
			t.Errorf("%d of %d: %s", len(got), want, text(got))
		}
	}
}

func s(n int64) string { return strconv.FormatInt(n, 10) }

// A week opens with Monday, a month with its first day, and each has the open of its first day
// and the close of its last.
func TestLongerKlinesOfAnIndexAreMadeOfItsDays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	days := w.workdays(t, "i:mstr:nasdaq", 300, true)
	for period, begins := range map[string]func(time.Time) time.Time{
		"604800":  func(at time.Time) time.Time { return at.AddDate(0, 0, -(int(at.Weekday())+6)%7) },
		"2592000": func(at time.Time) time.Time { return at.AddDate(0, 0, 1-at.Day()) },
	} {
		var want strings.Builder
		for from := 0; from < len(days); {
			start, to, volume := begins(days[from]), from, 0
			for ; to < len(days) && begins(days[to]).Equal(start); to++ {
				volume += 10 * to
			}
			fmt.Fprintf(&want, "%d %d %d.1 %d %d %d ;", start.Unix(), from, to, from, to, volume)
			from = to
		}
		if got := text(w.lines(t, "symbol=i:mstr:nasdaq&open_time=8&size=500&period="+period)); got != want.String() {
			t.Errorf("period %s:\n got %.300s\nwant %.300s", period, got, want.String())
		}
	}
}

func TestKlinesOfAnExchangeRate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var known rates.View
	for i, r := range [][2]string{{"1.08", "7.776"}, {"1.1", "7.733"}} {
		known.Add(market.DayRates{Date: apitest.Start.AddDate(0, 0, i-2).Format(time.DateOnly), USD: dec(t, r[0]), CNY: dec(t, r[1])})
	}
	storetest.Publish(t, w.views, rates.Published, known)
	day := apitest.Start.Truncate(24*time.Hour).AddDate(0, 0, -2).Unix()
	for query, want := range map[string]string{
		"symbol=t:usdcny:sina":            fmt.Sprintf("%d 7.2 7.2 7.2 7.2 null ;%d 7.03 7.03 7.03 7.03 null ;", day, day+86400),
		"symbol=T:EURUSD&size=1":          fmt.Sprintf("%d 1.1 1.1 1.1 1.1 null ;", day+86400),
		"symbol=t:usdcny&since=" + s(day): fmt.Sprintf("%d 7.2 7.2 7.2 7.2 null ;", day),
		"symbol=t:usdcnh:sina":            "",
	} {
		if got := text(w.lines(t, query+"&open_time=8")); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}
