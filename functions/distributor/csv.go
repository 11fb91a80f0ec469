package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"quotary/shared/catalog"
)

// csvOf writes an export for a spreadsheet, with a line of names.
func csvOf(rows catalog.Export) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	lines := [][]string{{"access_key", "name", "status", "monthly_quota", "used_monthly_quota", "created_at"}}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	for i := range rows {
		r := &rows[i]
		lines = append(lines, []string{r.AccessKey, noFormula(r.Name), number(r.Status), number(r.MonthlyQuota), number(r.UsedMonthlyQuota), r.CreatedAt})
	}
	if err := w.WriteAll(lines); err != nil {
		return nil, fmt.Errorf("write an export: %w", err)
	}
	return b.Bytes(), nil
}

// noFormula keeps a spreadsheet from computing a text that somebody else has chosen:
// where one begins like a formula it gets an apostrophe in front, at its begin and
// wherever another reader of the file might take a new cell to begin, as one that
// separates by semicolons does.
func noFormula(text string) string {
	var b strings.Builder
	begin := true // of a cell, but for quotes and spaces
	at := 0       // in the text, where that cell begins
	for i, r := range text {
		switch {
		case strings.ContainsRune(";,\t\r\n", r):
			begin = true
			b.WriteString(text[at : i+1])
			at = i + 1
		case begin && strings.ContainsRune("=+-@＝＋－＠", r):
			b.WriteByte('\'')
			begin = false
		case r != '"' && !unicode.IsSpace(r) && unicode.IsPrint(r):
			begin = false
		}
	}
	b.WriteString(text[at:])
	return b.String()
}
