package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

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
// one that begins like a formula gets an apostrophe in front.
func noFormula(text string) string {
	if first, _ := utf8.DecodeRuneInString(text); strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + text
	}
	return text
}
