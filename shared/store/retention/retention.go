// Package retention says for how long the rows of log datasets can be read: a
// deployment's setting, in days by dataset, and for ever where it names none.
//
// Rows are retained by whole days, UTC: a row of a day can be read until so many days
// after the end of that day. What is older is not served, whether it is still stored
// or not, so that two readers of one moment see the same. A reader that came to that
// edge says so in its context ([Reached]), and who answers the caller reads it from a
// [Report].
package retention

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Setting is how many days the rows of each dataset are retained after the end of
// their own day. The zero value retains everything for ever.
type Setting map[string]int

// MaxDays is the longest retention that can be set: 100 years.
const MaxDays = 36_500

var one = regexp.MustCompile(`^([a-z]+)=([0-9]{1,5})d$`)

// Parse reads a setting such as "fills=90d,orders=30d". An empty text sets nothing.
func Parse(text string) (Setting, error) {
	if text == "" {
		return nil, nil
	}
	s := Setting{}
	for part := range strings.SplitSeq(text, ",") {
		m := one.FindStringSubmatch(strings.TrimSpace(part))
		if m == nil {
			return nil, fmt.Errorf("%q is no retention: it takes a list such as fills=90d,orders=30d", part)
		}
		days, err := strconv.Atoi(m[2])
		if err != nil || days < 1 || days > MaxDays {
			return nil, fmt.Errorf("%q: rows are retained for 1 to %d days", part, MaxDays)
		}
		if _, twice := s[m[1]]; twice {
			return nil, fmt.Errorf("the retention of %s is set twice", m[1])
		}
		s[m[1]] = days
	}
	return s, nil
}

// Only is an error where the setting names a dataset that is not among those that
// can be retained for a time.
func (s Setting) Only(datasets []string) error {
	for dataset := range s {
		if !slices.Contains(datasets, dataset) {
			return fmt.Errorf("%s is no dataset with a retention: it takes %s", dataset, strings.Join(datasets, ", "))
		}
	}
	return nil
}

// Since is the first moment of which rows of a dataset can be read, zero where all
// can.
func (s Setting) Since(dataset string, now time.Time) time.Time {
	days, ok := s[dataset]
	if !ok {
		return time.Time{}
	}
	return Day(now).AddDate(0, 0, -days)
}

// Expires is when the rows of a day can no longer be read: the first moment at which
// [Setting.Since] lies behind the day. It is zero where they can for ever.
func (s Setting) Expires(dataset string, row time.Time) time.Time {
	days, ok := s[dataset]
	if !ok {
		return time.Time{}
	}
	return Day(row).AddDate(0, 0, days+1)
}

// Day is the first moment of a time's day, UTC.
func Day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// Report is since when the data could be read that was read under its context.
type Report struct {
	mu           sync.Mutex
	since, venue time.Time
}

type reportKey struct{}

// WithReport returns a context of which the report learns.
func WithReport(ctx context.Context) (context.Context, *Report) {
	r := &Report{}
	return context.WithValue(ctx, reportKey{}, r), r
}

// Reached reports to the context's [Report], if it has one, that older rows were asked
// for than those since a time, which are all that can be read.
func Reached(ctx context.Context, since time.Time) {
	r, ok := ctx.Value(reportKey{}).(*Report)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if since.After(r.since) {
		r.since = since
	}
}

// FromVenue reports to the context's [Report], if it has one, that what is answered of before a
// time is what the venue itself says.
func FromVenue(ctx context.Context, until time.Time) {
	if r, ok := ctx.Value(reportKey{}).(*Report); ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.venue = until
	}
}

// Venue is until when what is answered is what the venue itself says; zero for not at all.
func (r *Report) Venue() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.venue
}

// Since is the latest time that was reported: before it, something may be missing. It
// is zero where nothing is.
func (r *Report) Since() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.since
}
