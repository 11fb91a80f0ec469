package upstream_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"quotary/shared/upstream"
)

func TestAnswersAreReadWithinTheirBounds(t *testing.T) {
	t.Parallel()
	b := upstream.Bounds{Bytes: 100, Rows: 3}
	for _, c := range []struct {
		name, text string
		beyond     bool
	}{
		{"as many rows as may be", `[1,2,3]`, false},
		{"one too many", `[1,2,3,4]`, true},
		{"of an array in another", `[[1,2,3],[1,2,3],[1,2,3,4]]`, true},
		{"each of arrays by itself", `[[1,2,3],[1,2,3],[1,2,3]]`, false},
		{"members of an object", `{"a":1,"b":2,"c":3,"d":4}`, true},
		{"commas and brackets in a string", `["a,b,c,d,[,{,\",,,,",2]`, false},
		{"behind a string that ends in a backslash", `["\\",2,3,4]`, true},
		{"nested deeply", strings.Repeat("[", 65), true},
		{"nested less", strings.Repeat("[", 30) + strings.Repeat("]", 30), false},
		{"many bytes", `"` + strings.Repeat("x", 99) + `"`, true},
		{"as many bytes as may be", `"` + strings.Repeat("x", 98) + `"`, false},
		{"no JSON", `]]],,,,}}`, false},
		{"nothing", ``, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text, err := b.ReadJSON(iotest.OneByteReader(strings.NewReader(c.text)))
			if errors.Is(err, upstream.ErrBounds) != c.beyond || !c.beyond && string(text) != c.text {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}

func TestRowsOfAllListsTogetherAreBounded(t *testing.T) {
	t.Parallel()
	b := upstream.Bounds{Bytes: 1 << 20, Rows: 100}
	list := "[" + strings.Repeat("{},", 99) + "{}]"
	lists := func(n int) string { return "[" + strings.Repeat(list+",", n-1) + list + "]" }
	if err := b.CheckRows([]byte(lists(90))); err != nil {
		t.Error(err)
	}
	nested := "[" + lists(90) + "," + lists(90) + "]"
	if err := b.CheckRows([]byte(nested)); !errors.Is(err, upstream.ErrBounds) {
		t.Errorf("18,000 rows in lists of 100: %v", err)
	}
}
