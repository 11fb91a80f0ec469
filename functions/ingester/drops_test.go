package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quotary/shared/data/drop"
)

func TestLoadSaysWhatBecameOfAFile(t *testing.T) {
	t.Parallel()
	refused := func(taken, refused int) drop.Report {
		var r drop.Report
		for range taken {
			r.Took()
		}
		for line := range refused {
			r.Refuse(int64(line+1), errors.New("it is bad"))
		}
		return r
	}
	for name, test := range map[string]struct {
		report drop.Report
		want   []string // parts of what is printed
		no     string
		err    string
		saved  bool
	}{
		"all is taken":        {report: refused(5, 0), want: []string{"lines 5, taken 5, refused 0\n"}, no: "more"},
		"some are refused":    {report: refused(5, 10), want: []string{"line 10: it is bad\n", "refused 10\n"}, no: "more", err: "10 of 15 lines were refused"},
		"many are refused":    {report: refused(5, 12), want: []string{"line 10: it is bad\nand 2 more, all in ", "names.ndjson.report.json\n"}, no: "line 11", err: "12 of 17", saved: true},
		"most are refused":    {report: refused(0, 20_000), want: []string{"and 19990 more, the first 10000 of all in "}, err: "20000 of 20000", saved: true},
		"it was taken before": {report: drop.Report{SameAs: "a.ndjson"}, want: []string{"taken before as a.ndjson: nothing is loaded", "AGAIN=1"}, no: "lines 0"},
		"it is broken":        {report: drop.Report{Stopped: "the file is broken"}, err: "the file is broken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := loadCommand{File: filepath.Join(t.TempDir(), "names.ndjson")}
			var out strings.Builder
			err := c.print(&out, &test.report)
			if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("it ends with %v", err)
			}
			for _, part := range test.want {
				if !strings.Contains(out.String(), part) {
					t.Errorf("%q is not in:\n%s", part, out.String())
				}
			}
			if test.no != "" && strings.Contains(out.String(), test.no) {
				t.Errorf("%q is in:\n%s", test.no, out.String())
			}
			if _, err := os.Stat(c.File + drop.Suffix); (err == nil) != test.saved {
				t.Errorf("the report is beside the file: %t", err == nil)
			}
		})
	}
}
