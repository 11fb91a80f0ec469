package drop_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/data/drop"
	"quotary/shared/testing/must"
)

// read returns the lines of a file as "<number> <text>", and the error at its end.
func read(text, file string) (lines []string, err error) {
	err = drop.Lines(context.Background(), strings.NewReader(text), file, func(line int64, text []byte, err error) error {
		if err != nil {
			text = []byte(err.Error())
		}
		lines = append(lines, fmt.Sprintf("%d %.40s", line, text))
		return nil
	})
	return lines, err
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	must.Get(io.WriteString(w, text))(t)
	must.Do(t, w.Close())
	return b.String()
}

func TestLinesOfAFile(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", drop.MaxLine)
	for text, want := range map[string][]string{
		"":                            nil,
		"\n\n":                        nil,
		"one\ntwo\n":                  {"1 one", "2 two"},
		"one\r\n\r\n  two  \r\n":      {"1 one", "3 two"},
		"one\ntorn":                   {"1 one", "2 torn"},
		"\ufeffone\n\ufefftwo":        {"1 one", "2 \ufefftwo"},
		"a\n" + long + "\nb":          {"1 a", "2 " + long[:40], "3 b"},
		"a\n" + long + "x\nb":         {"1 a", "2 the line is longer than 1 MiB", "3 b"},
		"a\n" + long + long + "\nb":   {"1 a", "2 the line is longer than 1 MiB", "3 b"},
		"a\n" + long + long + long:    {"1 a", "2 the line is longer than 1 MiB"},
		"a\n" + long + "\r\nb\n\n\nc": {"1 a", "2 " + long[:40], "3 b", "6 c"},
	} {
		for file, content := range map[string]string{"plain": text, "zipped.gz": zipped(t, text)} {
			got, err := read(content, file)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s %.20q: %v (-want +got):\n%s", file, text, err, diff)
			}
		}
	}
}

func TestAFileThatCannotBeUnpackedIsFinal(t *testing.T) {
	t.Parallel()
	archive := zipped(t, strings.Repeat("line\n", 5000))
	if _, err := read("no gzip", "a.gz"); drop.Final(err) == "" {
		t.Errorf("no gzip: %v", err)
	}
	damaged := archive[:len(archive)-8] + "damaged!"
	if lines, err := read(damaged, "a.gz"); drop.Final(err) == "" || len(lines) == 0 {
		t.Errorf("a damaged gzip: %d lines, %v", len(lines), err)
	}
	for _, cut := range []int{0, 5, len(archive) / 2, len(archive) - 9, len(archive) - 1} {
		if _, err := read(archive[:cut], "a.gz"); drop.Final(err) == "" {
			t.Errorf("%d bytes of a gzip: %v", cut, err)
		}
		for _, file := range []string{"a.gz", "a"} {
			transfer := io.MultiReader(strings.NewReader(archive[:cut]), iotest.ErrReader(fmt.Errorf("cut off: %w", io.ErrUnexpectedEOF)))
			if err := drop.Lines(context.Background(), transfer, file, func(int64, []byte, error) error { return nil }); err == nil || drop.Final(err) != "" {
				t.Errorf("a transfer that broke off after %d bytes: %v", cut, err)
			}
		}
	}
	broken := errors.New("broken")
	err := drop.Lines(context.Background(), strings.NewReader("a\nb\n"), "a", func(int64, []byte, error) error { return broken })
	if !errors.Is(err, broken) || drop.Final(err) != "" {
		t.Errorf("the error of a line: %v", err)
	}
}

func TestAReportIsBounded(t *testing.T) {
	t.Parallel()
	var r drop.Report
	for line := range int64(50_000) {
		r.Refuse(line+1, errors.New(strings.Repeat("é", 1000)))
		r.Took()
	}
	if r.Lines != 100_000 || r.Taken != 50_000 || r.Refused != 50_000 || len(r.Faults) != 10_000 {
		t.Errorf("%d lines, %d taken, %d refused, %d faults", r.Lines, r.Taken, r.Refused, len(r.Faults))
	}
	if text := r.Encode(); len(text) > 8<<20 || !bytes.Contains(text, []byte(`"line": 10000,`)) {
		t.Errorf("%d bytes", len(text))
	}
	if text := (&drop.Report{}).Encode(); !bytes.Contains(text, []byte(`"faults": []`)) {
		t.Errorf("%s", text)
	}
}

func TestKeysOfDrops(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		drop.Key("coins", "a.ndjson"): "coins a.ndjson", "drop/coins/a": "coins a", "drop/coins/": "", "drop/coins": "", "drop/coins/x/a": "",
		"drop//a": "", "views/coins": "", "drop/coins/a.report.json": "", "drop/coins/report.json": "coins report.json",
	} {
		got := ""
		if dataset, file, ok := drop.Split(key); ok {
			got = dataset + " " + file
		}
		if got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

func TestPlacesAreOrdered(t *testing.T) {
	t.Parallel()
	ordered := []drop.Place{{}, {Time: 1, File: "a", Line: 9}, {Time: 1, File: "b", Line: 1}, {Time: 1, File: "b", Line: 2}, {Time: 2, File: "a", Line: 1}}
	for i, a := range ordered {
		for j, b := range ordered {
			if got, want := a.Compare(b), min(max(i-j, -1), 1); got != want {
				t.Errorf("%v to %v: %d", a, b, got)
			}
		}
	}
}

// sample is a type with every tag.
type sample struct {
	ID   string `json:"id" required:"true" maxlen:"5"`
	Kind string `json:"kind" enum:"a|b"`
	N    int64  `json:"n" min:"-5" max:"2000000"`
	M    int64  `json:"m" enum:"0|7"`
	On   bool   `json:"on"`

	Names []string `json:"names" most:"3" maxlen:"4"`
}

func TestHiddenCharactersAreDropped(t *testing.T) {
	t.Parallel()
	of := drop.TypeOf[sample]()
	if value, err := of.Decode([]byte(`{"id":"\u202ea\u0000\nb\u009b\t"}`)); err != nil || value.ID != "a\nb\t" {
		t.Errorf("%q, %v", value.ID, err)
	}
	if value, err := of.Decode([]byte(`{"id":"x","names":["\u202ea\u0000b","a b"," a\nb ","é"]}`)); err != nil || fmt.Sprintf("%q", value.Names) != `["a b" "é"]` {
		t.Errorf("%q, %v", value.Names, err)
	}
	if _, err := of.Decode([]byte(`{"id":"\u0000"}`)); err == nil {
		t.Error("nothing but a control character is an id")
	}
}

func TestListsOfTexts(t *testing.T) {
	t.Parallel()
	of := drop.TypeOf[sample]()
	for list, want := range map[string]string{
		`["a","b","c"]`: `["a" "b" "c"]`, `["a","a","b","b","c","c"]`: `["a" "b" "c"]`, `[]`: `[]`, `null`: `[]`, `["éééé"]`: `["éééé"]`,
		`["a","b","c","d"]`: "", `["ééééé"]`: "", `[""]`: "", `["\u0000"]`: "", `[null]`: "", `[1]`: "", `"a"`: "", `{}`: "", `[["a"]]`: "",
	} {
		value, err := of.Decode([]byte(`{"id":"x","names":` + list + `}`))
		switch {
		case want == "" && (err == nil || err.Error() != "names must be a list of at most 3 texts of 1 to 4 characters"):
			t.Errorf("%s is %q, %v", list, value.Names, err)
		case want != "" && (err != nil || fmt.Sprintf("%q", value.Names) != want):
			t.Errorf("%s is %q, %v, want %s", list, value.Names, err, want)
		}
	}
}

func FuzzALine(f *testing.F) {
	of := drop.TypeOf[sample]()
	for _, seed := range []string{`{"id":"x","kind":"a","n":-5,"on":true}`, `{"id":"x","n":1e3}`, `{"id":"x","n":-6}`, `{"id":"x","m":7}`, `{"id":`, `{"id":[[[]]]}`, `{}`, `{"id":"\ud800"}`, `{"id":"x","names":["a","b"]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		value, err := of.Decode(line)
		if err != nil {
			if err.Error() == "" {
				t.Error("no reason")
			}
			return
		}
		if len(value.Names) > 3 || slices.ContainsFunc(value.Names, func(name string) bool { return name == "" || len([]rune(name)) > 4 }) {
			t.Errorf("%q has the names %q", line, value.Names)
		}
		if value.ID == "" || len([]rune(value.ID)) > 5 || value.Kind != "" && value.Kind != "a" && value.Kind != "b" ||
			value.N < -5 || value.N > 2_000_000 || value.M != 0 && value.M != 7 || of.CheckNumbers(&value) != nil {
			t.Errorf("%q is read as %+v", line, value)
		}
	})
}

// BenchmarkDrop reads a drop of 1,000,000 lines, the store excluded.
func BenchmarkDrop(b *testing.B) {
	of := drop.TypeOf[sample]()
	var text bytes.Buffer
	const lines = 1_000_000
	for n := range lines {
		fmt.Fprintf(&text, `{"id":"%d","kind":"a","n":%d,"on":true}`+"\n", n%100_000, n)
	}
	b.ReportAllocs()
	for b.Loop() {
		taken := 0
		err := drop.Lines(context.Background(), bytes.NewReader(text.Bytes()), "a", func(_ int64, text []byte, err error) error {
			if err != nil {
				return err
			}
			_, err = of.Decode(text)
			taken++
			return err
		})
		if err != nil || taken != lines {
			b.Fatal(taken, err)
		}
	}
	b.ReportMetric(float64(lines*b.N)/b.Elapsed().Seconds(), "lines/s")
}

// TestAFileOfBlankLinesEndsWithItsReader: a few kilobytes are unpacked to very many.
func TestAFileOfBlankLinesEndsWithItsReader(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	read := 0
	blank := readerFunc(func(p []byte) (int, error) {
		read += len(p)
		for i := range p {
			p[i] = '\n'
		}
		return len(p), nil
	})
	err := drop.Lines(ended, blank, "a", func(int64, []byte, error) error { return nil })
	if !errors.Is(err, context.Canceled) || drop.Final(err) != "" || read > 4*drop.MaxLine {
		t.Errorf("it ended with %v behind %d bytes", err, read)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
