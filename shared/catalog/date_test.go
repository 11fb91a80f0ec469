package catalog

import (
	"testing"
	"time"

	"quotary/shared/testing/must"
)

func TestTheSpanBetweenDates(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct{ from, to, start, end string }{
		{"2026-01-01", "2026-01-01", "2026-01-01T00:00:00Z", "2026-01-01T23:59:59.999Z"},
		{"2026-01-01T10:00:00Z", "2026-01-01T11:00Z", "", ""}, // a zone needs seconds
		{"2026-01-01T10:00", "2026-01-01T11:00", "2026-01-01T10:00:00Z", "2026-01-01T11:00:00Z"},
		{"2026-01-01", "", "2026-01-01T00:00:00Z", "2026-03-01T12:00:00Z"},
		{"", "2026-01-01", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"},
		{"2024-02-29", "2024-02-29", "2024-02-29T00:00:00Z", "2024-02-29T23:59:59.999Z"},
	} {
		var from StartDate
		var to EndDate
		if tt.from != "" {
			must.Do(t, from.UnmarshalText([]byte(tt.from)))
		}
		if tt.to != "" {
			if err := to.UnmarshalText([]byte(tt.to)); (err != nil) != (tt.end == "") {
				t.Fatalf("%s: %v", tt.to, err)
			}
		}
		if tt.end == "" {
			continue
		}
		start, end := spanDates(from, to, now)
		if start.Format(time.RFC3339Nano) != tt.start || end.Format(time.RFC3339Nano) != tt.end {
			t.Errorf("from %q to %q is %s to %s", tt.from, tt.to, start, end)
		}
	}
}
