package visible

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestWhatIsHiddenInJSONIsReplaced(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		``:                                 ``,
		"\"US\u200dDC\u2028\u3164\u200b\"": `"US` + "\ufffdDC\ufffd\ufffd\ufffd" + `"`,
		"\"^\u200d^\"":                     `"^` + "\ufffd" + `^"`,
		"\"👩\u200d🚀 🚀\u200d \u200d👩\"":             "\"👩\u200d🚀 🚀\ufffd \ufffd👩\"",
		"\"❤\ufe0f\u200d🔥 1\ufe0f\u20e3 ‼\ufe0f\"": "\"❤\ufe0f\u200d🔥 1\ufe0f\u20e3 ‼\ufe0f\"",
		"\"US\ufe0fDC\u034f\"":                     `"US` + "\ufffdDC\ufffd" + `"`,
		`"USDC\ufe0f\u200d\ufe0f\u2800"`:           `"USDC` + "\ufffd\ufffd\ufffd\ufffd" + `"`,
		`"\ud83d\udc69\u200d\ud83d\ude80\u200d"`:   `"\ud83d\udc69\u200d\ud83d\ude80` + "\ufffd" + `"`,
		`{"a":"b"}`:                                `{"a":"b"}`,
		"{\n\t\"a\": \"b\"\r\n}":                   "{\n\t\"a\": \"b\"\r\n}",
		`"币安人生 é 👩‍🚀"`:                             `"币安人生 é 👩‍🚀"`,
		`"\u5e01 \u00e9 \ud83d\ude80 \/\\\""`:      `"\u5e01 \u00e9 \ud83d\ude80 \/\\\""`,
		`"\\u202e"`:                                `"\\u202e"`,
		"\"a\u202eb\"":                             `"a` + "\ufffd" + `b"`,
		`"a\u202Eb"`:                               `"a` + "\ufffd" + `b"`,
		`"\\\u202e\u0000"`:                         `"\\` + "\ufffd\ufffd" + `"`,
		`"a\nb\tc\rd\be\f"`:                        `"a` + "\ufffdb\ufffdc\ufffdd\ufffde\ufffd" + `"`,
		"\"\x7f\u0085\xff\"":                       `"` + "\ufffd\ufffd\ufffd" + `"`,
		`"\ud800 \udc00\ud83d"`:                    `"` + "\ufffd \ufffd\ufffd" + `"`,
		`"\ufffe\uffff\u001b[2J"`:                  `"` + "\ufffd\ufffd\ufffd" + `[2J"`,
		`{"usdc":"1","usdc\u200f":"2"}`:            `{"usdc":"1","usdc` + "\ufffd" + `":"2"}`,
		`"\u20`:                                    `"\u20`,
		`"\`:                                       `"\`,
		`"\ud83d\u202e\ude80","\u2066","\\\""`:     `"` + "\ufffd\ufffd\ufffd" + `","` + "\ufffd" + `","\\\""`,
	} {
		before := strings.Clone(given)
		text := []byte(given)
		if got := string(JSON(text)); got != want {
			t.Errorf("%s gives %q, want %q", given, got, want)
		}
		if string(text) != before {
			t.Errorf("%q itself was changed, to %q", before, text)
		}
	}
}

// What costs nothing is kept as it is: nearly all that is looked at has nothing to hide.
func TestJSONOfWhichNothingIsHiddenIsNotCopied(t *testing.T) {
	for _, text := range []string{`[{"coin":"BTC","szi":"-1.5"}]`, `{"name":"币安人生","say":"\"\u00e9\""}`} {
		raw := []byte(text)
		if n := testing.AllocsPerRun(10, func() { raw = JSON(raw) }); n > 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

// Whoever decodes it finds texts that are names, and as many values as before.
func FuzzJSONHasNothingHidden(f *testing.F) {
	f.Add([]byte(`{"a":["\u202e","\ud83d\ude80","\\u202e\n"],"\ud800":{"b":"` + "\u2066\xff" + `"}}`))
	f.Add([]byte(`["❤\ufe0f\u200d🔥","1\ufe0f\u20e3","a\ufe0f\u200d\ufe0f",1E700]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		clean := JSON(text)
		if again := JSON(clean); string(again) != string(clean) {
			t.Fatalf("%q gives %q, and then %q", text, clean, again)
		}
		if !json.Valid(text) {
			return
		}
		var value any
		numbers := json.NewDecoder(bytes.NewReader(clean)) // 1E700 is one, and no float
		numbers.UseNumber()
		if err := numbers.Decode(&value); err != nil {
			t.Fatalf("%q gives %q: %v", text, clean, err)
		}
		var see func(value any)
		see = func(value any) {
			switch of := value.(type) {
			case string:
				if !Name(strings.ReplaceAll(of, "\u200d", "")) {
					t.Fatalf("%q has %q", clean, of)
				}
			case []any:
				for _, one := range of {
					see(one)
				}
			case map[string]any:
				for name, one := range of {
					see(name)
					see(one)
				}
			}
		}
		see(value)
		if !utf8.Valid(clean) || strings.ContainsFunc(string(clean), func(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }) {
			t.Fatalf("%q gives %q", text, clean)
		}
	})
}
