// Package indices is what indexes stood at, and what shares cost, day by day: open, high,
// low and close of each key and UTC day, in points or in a currency ([Day.Unit]).
//
// Keys are those that clients send, such as [FearGreed] and [VIX], or what an operator has
// chosen for a share, such as i:mstr:nasdaq.
//
// # What is stored
//
// A series has a row for each key and month, which holds its days: a history of decades is
// some hundred rows, and 500 days are read with 18. A view has the newest two days of each
// key, of which the change follows. A log has what was dropped, of which both are made again if
// they are lost.
//
// # Who is right
//
// Of a day the line of a drop holds against what a source tells, so that an operator can
// mend it for good; else what was said last.
package indices

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"quotary/shared/data/drop"
	"quotary/shared/data/internal/dataset"
	"quotary/shared/market"
	"quotary/shared/store"
)

// Name of the view, of the series and of the drops.
const Name = "indices"

// Keys of indexes that are known by themselves.
const (
	FearGreed = "i:fgi:alternative" // points from 0, extreme fear, to 100, extreme greed
	VIX       = "i:vix:cboe"        // points: what is expected of the S&P 500 to vary in a year, percent
)

// Kept is how many days of a key the view holds.
const Kept = 2

// Day is what an index stood at on a day. Figures are exact decimals; the volume is empty
// where it is not known.
type Day struct {
	Date   string `json:"date"` // yyyy-mm-dd
	Open   string `json:"open"`
	High   string `json:"high"`
	Low    string `json:"low"`
	Close  string `json:"close"`
	Volume string `json:"volume,omitempty"`
	Unit   string `json:"unit,omitempty"` // the currency, e.g. USD; empty for points

	// Place is where the line of a drop stood, or, without a file, when a source was asked.
	Place drop.Place `json:"place"`
}

// DayEntry is a day of a key, as a source or a drop tells it.
type DayEntry struct {
	Key string `json:"key"`
	Day
}

// EntryOf is a checked quote that came from a place.
func EntryOf(q market.DayQuote, place drop.Place) DayEntry {
	return DayEntry{q.Key, Day{q.Date, q.Open, q.High, q.Low, q.Close, q.Volume, q.Unit, place}}
}

// Compare is below 0 where e holds against d, which is of the same day. Of two that were
// said at once one is chosen by what it says.
func (d *Day) Compare(e *Day) int {
	rank := func(d *Day) int { return min(len(d.Place.File), 1) }
	return cmp.Or(cmp.Compare(rank(d), rank(e)), d.Place.Compare(e.Place), cmp.Compare(d.Close, e.Close), cmp.Compare(d.Open, e.Open),
		cmp.Compare(d.High, e.High), cmp.Compare(d.Low, e.Low), cmp.Compare(d.Volume, e.Volume), cmp.Compare(d.Unit, e.Unit))
}

// Days are days of a key, by date, each once.
type Days []Day

// Add returns the days with one more, and reports whether anything changed. The slice is
// never written to.
func (days Days) Add(day Day) (Days, bool) {
	i, found := slices.BinarySearchFunc(days, day.Date, func(d Day, date string) int { return cmp.Compare(d.Date, date) })
	if found && days[i].Compare(&day) >= 0 {
		return days, false
	}
	days = slices.Clone(days)
	if found {
		days[i] = day
		return days, true
	}
	return slices.Insert(days, i, day), true
}

// row is that of a day that a drop has said, in the log, under its key.
func row(d *DayEntry) store.Row { return dataset.PlaceRow(d.Key, d.Place, dataset.JSON(d)) }

// AppendRows appends the row of each day that a drop has said to rows. Sources are asked again.
func AppendRows(rows []store.Row, days []DayEntry) []store.Row {
	for i := range days {
		if days[i].Place.File != "" {
			rows = append(rows, row(&days[i]))
		}
	}
	return rows
}

var errRow = errors.New("a stored day of a drop has no key, date, close, file or line")

// DecodeRow reads a row.
func DecodeRow(r store.Row) (DayEntry, error) {
	d, err := dataset.FromJSON[DayEntry](r.Body)
	if err == nil && (!market.ValidCoinKey(d.Key) || d.Date == "" || d.Close == "" || d.Place.File == "" || d.Place.Line < 1) {
		err = errRow
	}
	return d, err
}

// series has the days of a month in a row.
var series = dataset.Series[Days]{Name: Name, Append: dataset.AppendJSON[Days], Decode: dataset.FromJSON[Days]}

// At is the key of the row of the month of a date; ok is false for what is no date of
// [market.FirstDay] or later.
func At(key, date string) (at store.SeriesAt, ok bool) {
	day, err := time.Parse(time.DateOnly, date)
	return series.At(key, market.Month1, market.Month1.StartMs(day.UnixMilli())), err == nil && date >= market.FirstDay
}

// Row is a row of days.
func Row(at store.SeriesAt, days Days) store.SeriesRow {
	return store.SeriesRow{SeriesKey: at.SeriesKey, Point: store.Point{Time: at.Time, Body: series.Append(nil, &days)}}
}

// Decode reads the body of a row.
func Decode(body []byte) (Days, error) { return series.Decode(body) }

// Read returns the days of a key from a time on and before another, either open when zero:
// by date.
func Read(ctx context.Context, s *store.Series, key string, from, to time.Time) (Days, error) {
	months := dataset.Range{To: to}
	if !from.IsZero() {
		months.From = market.Month1.Start(from)
	}
	rows, err := series.Read(ctx, s, key, market.Month1, months)
	if err != nil {
		return nil, err
	}
	var all Days
	for _, row := range rows {
		for _, day := range row.Value {
			start, err := time.Parse(time.DateOnly, day.Date)
			if err != nil {
				return nil, fmt.Errorf("read a day of %s: %w", key, err)
			}
			if !start.Before(from) && (to.IsZero() || start.Before(to)) {
				all = append(all, day)
			}
		}
	}
	return all, nil
}

// View holds the newest days of all keys.
type View struct {
	Indices []Index `json:"indices"` // by key
}

// Index is the newest days of a key: one at least, and [Kept] at most.
type Index struct {
	Key  string `json:"key"`
	Days Days   `json:"days"`
}

// Add takes a day and reports whether anything changed. The slice is never written to.
func (i *Index) Add(day Day) bool {
	days, changed := i.Days.Add(day)
	if !changed || len(days) > Kept && days[0].Date == day.Date {
		return false
	}
	i.Days = days[max(0, len(days)-Kept):]
	return true
}

// Lookup returns an index by its key.
func (v View) Lookup(key string) (Index, bool) {
	return dataset.Find(v.Indices, key, func(i *Index) string { return i.Key })
}

// Published is how the view is stored. Indexes change once a day.
var Published = store.ViewType[View]{Name: Name, Period: 10 * time.Second, Before: func(v *View) {
	slices.SortFunc(v.Indices, func(a, b Index) int { return strings.Compare(a.Key, b.Key) })
}}
