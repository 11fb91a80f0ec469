package catalog

import "time"

// Timestamp is a time as the answers about keys show it: RFC 3339 in UTC, to the
// millisecond.
func Timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// TimestampOrNull is nil for the zero time.
func TimestampOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := Timestamp(t)
	return &s
}
