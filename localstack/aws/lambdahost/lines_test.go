package lambdahost

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// collector keeps each Write.
type collector []string

func (c *collector) Write(p []byte) (int, error) {
	*c = append(*c, string(p))
	return len(p), nil
}

func TestLinesComeCompleteHoweverTheyWereWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab\n"))).Draw(t, "text")
		var got collector
		w := lineWriter{sink: &lineSink{out: &got}}
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			if written, err := w.Write([]byte(rest[:n])); written != n || err != nil {
				t.Fatalf("wrote %d of %d: %v", written, n, err)
			}
			rest = rest[n:]
		}
		w.flush()
		want := strings.SplitAfter(text, "\n")
		if last := len(want) - 1; want[last] == "" {
			want = want[:last]
		} else {
			want[last] += "\n"
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q arrived as %q", text, got)
		}
	})
}

func TestALineWithoutAnEndIsBroken(t *testing.T) {
	t.Parallel()
	var got collector
	w := lineWriter{sink: &lineSink{out: &got}}
	_, _ = w.Write([]byte(strings.Repeat("x", 2*maxLine+3)))
	w.flush()
	total := 0
	for _, line := range got {
		if len(line) > maxLine+1 || !strings.HasSuffix(line, "\n") {
			t.Errorf("a line of %d bytes", len(line))
		}
		total += strings.Count(line, "x")
	}
	if len(got) != 3 || total != 2*maxLine+3 {
		t.Errorf("%d lines with %d bytes", len(got), total)
	}
}
