package catalog

import (
	"errors"
	"time"
)

// StartDate is the start of a time span: an ISO 8601 date (2026-01-31) or date-time
// (2026-01-31T08:00:00Z). A date alone is its first moment; what names no zone is UTC.
//
// The zero value is a start that was not given.
type StartDate struct{ time.Time }

// EndDate is the end of a time span, inclusive: an ISO 8601 date (2026-01-31) or date-time
// (2026-01-31T08:00:00Z). A date alone is the last millisecond of that day; what names no
// zone is UTC.
//
// The zero value is an end that was not given.
type EndDate struct{ time.Time }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *StartDate) UnmarshalText(text []byte) error {
	t, _, err := parseDate(string(text))
	d.Time = t
	return err
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *EndDate) UnmarshalText(text []byte) error {
	t, isDay, err := parseDate(string(text))
	if isDay {
		t = t.AddDate(0, 0, 1).Add(-time.Millisecond)
	}
	d.Time = t
	return err
}

// UnmarshalJSON accepts a string.
func (d *StartDate) UnmarshalJSON(b []byte) error { return unmarshalScalar(b, d.UnmarshalText) }

// UnmarshalJSON accepts a string.
func (d *EndDate) UnmarshalJSON(b []byte) error { return unmarshalScalar(b, d.UnmarshalText) }

var errDate = errors.New("an ISO 8601 date or date-time from 1970 on (for example 2026-01-31 or 2026-01-31T08:00:00Z)")

// parseDate also reports whether the text is a day without a time.
func parseDate(text string) (t time.Time, isDay bool, err error) {
	// time.Parse also takes one-digit hours.
	if len(text) > 35 || len(text) != len(time.DateOnly) && (len(text) < len("2006-01-02T15:04") || text[13] != ':') {
		return time.Time{}, false, errDate
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04"} {
		if t, err = time.Parse(layout, text); err == nil {
			if t = t.UTC(); t.Year() < 1970 || t.Year() > 9999 {
				break
			}
			return t, layout == time.DateOnly, nil
		}
	}
	return time.Time{}, false, errDate
}

// spanDates is the span between two dates, for [Spanner].
func spanDates(from StartDate, to EndDate, now time.Time) (start, end time.Time) {
	if from.IsZero() {
		return time.Time{}, time.Time{}
	}
	if to.IsZero() {
		return from.Time, now
	}
	return from.Time, to.Time
}
