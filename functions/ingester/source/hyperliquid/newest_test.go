package hyperliquid

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestTheNewestEventIsThatAtTheEndOfTheFiles(t *testing.T) {
	t.Parallel()
	at := func(ms int64) string { return strings.ReplaceAll(fillLine(1), "1770033590001", fmt.Sprint(ms)) }
	if !strings.Contains(at(5), `"time":5,`) {
		t.Fatalf("a line has another time: %s", at(5))
	}
	long := strings.TrimSuffix(at(7), "\n") + strings.Repeat(" ", 3*endBytes) + "\n"
	type written struct{ file, text string }
	for name, c := range map[string]struct {
		files []written
		want  int64
	}{
		"nothing":                            {nil, 0},
		"one":                                {[]written{{"20260202/9", at(3)}}, 3},
		"the last":                           {[]written{{"20260202/9", at(9)}, {"20260202/10", at(3) + at(4)}}, 4},
		"late ones":                          {[]written{{"20260202/9", at(4) + at(3)}}, 4},
		"the next day":                       {[]written{{"20260202/23", at(3)}, {"20260203/0", at(4)}}, 4},
		"an hour that has just begun":        {[]written{{"20260202/9", at(3)}, {"20260202/10", ""}}, 3},
		"a half-written line":                {[]written{{"20260202/9", at(3) + at(4)[:50]}}, 3},
		"what nobody can read":               {[]written{{"20260202/9", at(3) + "{}\nnonsense\n"}}, 3},
		"far before the end":                 {[]written{{"20260202/9", at(3) + strings.Repeat("{}\n", endBytes)}}, 3},
		"a block longer than the first look": {[]written{{"20260202/9", at(3) + long}}, 7},
	} {
		n := node{t, t.TempDir()}
		for _, w := range c.files {
			n.write(w.file, w.text)
		}
		want := time.Time{}
		if c.want > 0 {
			want = time.UnixMilli(c.want).UTC()
		}
		if got, err := (&Files{Dir: n.dir}).Newest(); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, want)
		}
	}
}
