package jsonscan_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"quotary/shared/text/jsonscan"
)

// value reads any value the way a caller would, to hold it against
// encoding/json.
func value(p *jsonscan.Scanner) (v any, ok bool) {
	switch p.Peek() {
	case '"':
		return p.Text()
	case '{':
		members := map[string]any{}
		ok := p.Object(func(key string) (ok bool) {
			members[key], ok = value(p)
			return ok
		})
		return members, ok
	case '[':
		elements := []any{}
		ok := p.Array(func() bool {
			element, ok := value(p)
			elements = append(elements, element)
			return ok
		})
		return elements, ok
	}
	switch {
	case p.Literal("true"):
		return true, true
	case p.Literal("false"):
		return false, true
	case p.Literal("null"):
		return nil, true
	}
	number, ok := p.Number()
	return json.Number(number), ok
}

func FuzzScanner(f *testing.F) {
	for _, text := range []string{
		`{"a":[1,-0.5e+7,"x\u0041\ud83d\ude00\ud83d\\\"",true,false,null,{}],"b":[]}`, `"\ud83d\u0041"`, `[1,]`, `{"a"}`, `01`, "\"\n\"", "1 \x00", ``,
		strings.Repeat("[", 300),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || strings.Count(text, "[")+strings.Count(text, "{") > 100 {
			t.Skip("not claimed")
		}
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		var want any
		valid := json.Valid([]byte(text)) && decoder.Decode(&want) == nil

		skipping := jsonscan.New(text)
		if skipped := skipping.Skip() && skipping.End(); skipped != valid {
			t.Fatalf("skipped %t, encoding/json %t", skipped, valid)
		}
		reading := jsonscan.New(text)
		got, ok := value(&reading)
		if ok = ok && reading.End(); ok != valid {
			t.Fatalf("read %t, encoding/json %t", ok, valid)
		}
		if valid && !reflect.DeepEqual(got, want) {
			t.Fatalf("read %#v, encoding/json %#v", got, want)
		}
	})
}

func TestDeepNestingIsRefused(t *testing.T) {
	t.Parallel()
	p := jsonscan.New(strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000))
	if p.Skip() {
		t.Error("skipped")
	}
}
