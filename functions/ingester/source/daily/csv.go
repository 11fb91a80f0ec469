package daily

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"quotary/shared/market"
	"quotary/shared/upstream"
)

// columns are the names of the columns of a file, in lower case: date, open, high, low,
// close and, where there is one, volume.
type columns []string

var (
	errNoFile = errors.New("it is no file of days")
	errNoDays = errors.New("it has no days")
)

// readCSV reads a file of days under a heading. Rows that are none are counted; days before
// [market.FirstDay] are left out. A file without a single day is an error, as are a page of
// HTML and a sentence.
func readCSV(file []byte, headings []columns, day func(date string) string, key, unit string) (days []market.DayQuote, malformed int, err error) {
	if err := checkLines(file); err != nil {
		return nil, 0, err
	}
	first := true
	for line := range bytes.Lines(bytes.TrimPrefix(file, []byte("\ufeff"))) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		row, err := csv.NewReader(bytes.NewReader(line)).Read() // line by line: a quote that is not closed costs its row
		if first {
			if err != nil || !slices.ContainsFunc(headings, func(h columns) bool { return h.head(row) }) {
				return nil, 0, errNoFile
			}
			first = false
			continue
		}
		if err != nil || len(row) < 5 {
			malformed++
			continue
		}
		q := market.DayQuote{Key: key, Unit: unit, Date: day(row[0]), Open: row[1], High: row[2], Low: row[3], Close: row[4]}
		if len(row) > 5 {
			q.Volume = row[5]
		}
		if len(q.Date) == len(market.FirstDay) && q.Date < market.FirstDay {
			continue
		}
		q, err = q.Checked()
		if err != nil || slices.Contains(row[:5], "") {
			malformed++
			continue
		}
		days = append(days, q)
	}
	switch {
	case first:
		return nil, 0, errNoFile
	case len(days) == 0:
		return nil, malformed, errNoDays
	}
	return days, malformed, nil
}

// mostLine is how many bytes a line may have: a row has some 60.
const mostLine = 1000

// checkLines returns an error of a file with more lines than there are days, or with longer ones
// than a day has: each of its commas would be a field.
func checkLines(file []byte) error {
	lines := 0
	for line := range bytes.Lines(file) {
		if lines++; lines > bounds.Rows || len(line) > mostLine {
			return fmt.Errorf("%w: it has more than %d lines, or one of more than %d bytes", upstream.ErrBounds, bounds.Rows, mostLine)
		}
	}
	return nil
}

// head reports whether a row is the heading, of which a file may lack the volume.
func (h columns) head(row []string) bool {
	return len(row) >= 5 && slices.EqualFunc(row, h[:min(len(h), len(row))], func(a, b string) bool { return strings.EqualFold(strings.TrimSpace(a), b) })
}

func noQuery(bool) url.Values { return nil }
