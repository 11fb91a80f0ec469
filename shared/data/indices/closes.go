package indices

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"quotary/shared/market"
	"quotary/shared/store"
)

// DayOf names a day of a key.
type DayOf struct {
	Key  string
	Date string // yyyy-mm-dd
}

// closedFor is for how many days before a date nobody may have traded: a weekend with a holiday at
// each end.
const closedFor = 4

// OnOrBefore returns the day itself of each that is asked for or, where nothing was traded on it,
// the last one before it, of at most four days before. Those of which neither is stored are left
// out.
func OnOrBefore(ctx context.Context, s *store.Series, asked []DayOf) (map[DayOf]Day, error) {
	earliest := make([]string, len(asked))
	var rows []store.SeriesAt
	for i, a := range asked {
		earliest[i] = a.earliest()
		for _, date := range [...]string{a.Date, earliest[i]} {
			if at, ok := At(a.Key, date); ok {
				rows = append(rows, at)
			}
		}
	}
	points, err := s.Load(ctx, rows)
	if err != nil {
		return nil, err
	}
	months := make(map[store.SeriesAt]Days, len(points))
	for at, p := range points {
		if months[at], err = Decode(p.Body); err != nil {
			return nil, fmt.Errorf("read %s at %s: %w", at.SeriesKey, at.Time.Format(time.RFC3339), err)
		}
	}
	found := make(map[DayOf]Day, len(asked))
	for i, a := range asked {
		for _, date := range [...]string{a.Date, earliest[i]} {
			at, _ := At(a.Key, date)
			if day, ok := months[at].onOrBefore(a.Date); ok && day.Date >= earliest[i] {
				found[a] = day
				break
			}
		}
	}
	return found, nil
}

// earliest is the first date whose day may stand for that of a; none for what is no date.
func (a *DayOf) earliest() string {
	day, err := time.Parse(time.DateOnly, a.Date)
	if err != nil {
		return a.Date
	}
	return max(day.AddDate(0, 0, -closedFor).Format(time.DateOnly), market.FirstDay)
}

// onOrBefore is the last day that is not behind a date; false for none.
func (days Days) onOrBefore(date string) (Day, bool) {
	i, found := slices.BinarySearchFunc(days, date, func(d Day, date string) int { return strings.Compare(d.Date, date) })
	if found {
		return days[i], true
	}
	if i == 0 {
		return Day{}, false
	}
	return days[i-1], true
}
