package syndication

import (
	"testing"
	"time"
)

func TestDatesAsFeedsWriteThem(t *testing.T) {
	t.Parallel()
	const want = "2026-04-02T21:13:00Z"
	for text, want := range map[string]string{
		"Thu, 02 Apr 2026 21:13:00 GMT":         want,
		"Thu, 02 Apr 2026 21:13:00 +0000":       want,
		"Thu, 02 Apr 2026 21:13:00 +0000 (UTC)": want,
		"02 Apr 2026 16:13 -0500":               want,
		"Thu,02 Apr 2026 21:13:00 GMT":          want,
		"Thu, 2 April 2026 21:13:00 Z":          want,
		"Thurs, 2 Apr. 2026 21:13 UT":           want,
		"Fri, 03 Apr 2026 06:13:00 JST":         want,
		"Fri, 03 Apr 2026 05:13:00 HKT":         want,
		"Thu, 02 Apr 2026 17:13:00 EDT":         want,
		"Thu, 02 Apr 2026 22:13:00 BST":         want,
		"Fri, 03 Apr 2026 02:43:00 IST":         want,
		"Fri, 03 Apr 2026 05:13:00 GMT+8":       want,
		"Fri, 03 Apr 2026 05:13:00 UTC+08:00":   want,
		"Fri, 03 Apr 2026 05:13:00 GMT +0800":   want,
		"Fri, 03 Apr 2026 05:13:00 +0800 CST":   want,
		"Fri, 03 Apr 2026 05:13:00 +0800 (CST)": want,
		"Fri, 03 Apr 2026 05:13:00 +8":          want,
		"Thursday, 02-Apr-26 21:13:00 GMT":      want,
		"Thu Apr  2 21:13:00 2026":              want,
		"Thu Apr  2 21:13:00 UTC 2026":          want,
		"April 2, 2026 9:13 PM":                 want,
		"April 2nd, 2026 09:13pm GMT":           want,
		"2026-04-02T21:13:00Z":                  want,
		"2026-04-02t21:13:00.5z":                want,
		"2026-04-03T05:13:00.123456+08:00":      want,
		"2026-04-03 05:13:00 +0800":             want,
		"2026-04-02 21:13":                      want,
		"2026/04/02 21:13:00":                   want,
		"\n  2026-04-02T21:13Z ":                want,
		"22 Sept 2026 10:00:00 GMT":             "2026-09-22T10:00:00Z",
		"Wed, 25 Nov 2026 08:00:00 JST":         "2026-11-24T23:00:00Z",
		"2026-04-02":                            "2026-04-02T00:00:00Z",
		"Thu, 02 Apr 2026":                      "2026-04-02T00:00:00Z",
		"Sat, 01 Jan 2000 12:00:00 AM":          "2000-01-01T00:00:00Z",
		"Tue, 30 Jun 2026 23:59:60 GMT":         "2026-07-01T00:00:00Z",
		"Sun, 06 Nov 94 08:49:37 GMT":           "1994-11-06T08:49:37Z",

		"": "", "now": "", "the day before yesterday": "", "Thu": "", "GMT": "", "21:13:00": "", "2026": "",
		"Thu, 02 Apr 2026 21:13:00 XYZ":     "", // nobody knows when that is
		"Thu, 02 Apr 2026 21:13:00 EST JST": "",
		"Thu, 02 Apr 2026 21:13:00 +9900":   "",
		"Thu, 02 Apr 2026 21:61:00 GMT":     "",
		"Thu, 02 Apr 2026 13:00 PM":         "",
		"31 Apr 2026 10:00:00 GMT":          "",
		"02 Foo 2026 10:00:00 GMT":          "",
		"04/02/2026":                        "", // April or February
		"2026-13-02T00:00:00Z":              "",
		"0000-01-01":                        "",
		"1775164380":                        "",
	} {
		got := ""
		if at := Date(text); !at.IsZero() {
			got = at.Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
