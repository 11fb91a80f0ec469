package visible

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestWhatIsNotShownIsTakenOutOrRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		given, text, line string
		name              bool
	}{
		{"", "", "", true},
		{"PURR/USDC", "PURR/USDC", "PURR/USDC", true},
		{"币安人生 é 🚀", "币安人生 é 🚀", "币安人生 é 🚀", true},
		{"👩\u200d🚀", "👩\u200d🚀", "👩🚀", false},
		{"US\u200bD\u200cC\u2060\ufeff\u00ad", "US\u200bD\u200cC\u2060\ufeff\u00ad", "USDC", false},
		{"U\u115fS\u1160D\u3164C\uffa0", "U\u115fS\u1160D\u3164C\uffa0", "USDC", false},
		{"US\ufe00D\ufe0fC\U000e0100", "US\ufe00D\ufe0fC\U000e0100", "USDC", false},
		{"U\u034fS\u17b4D\u180bC\u2800\u2065\U000e0041", "U\u034fS\u17b4D\u180bC\u2800\u2065\U000e0041", "USDC", false},
		{"币\ufe0f安", "币\ufe0f安", "币安", false},
		{"❤\ufe0f ⚡\ufe0f", "❤\ufe0f ⚡\ufe0f", "❤\ufe0f ⚡\ufe0f", true},
		{"1\ufe0f\u20e3", "1\ufe0f\u20e3", "1\u20e3", true},
		{"❤\ufe0f\ufe0f", "❤\ufe0f\ufe0f", "❤\ufe0f", false},
		{" a  b ", " a  b ", "a b", true},
		{"a\nb\tc\r\n", "a\nb\tc\r\n", "a b c", false},
		{"a\x00b\x1bc\x7f\u0085", "abc", "a b c", false},
		{"\u202eCDSU\u202c", "CDSU", "CDSU", false},
		{"US\u2066D\u2069C\u200f\u200e\u061c", "USDC", "USDC", false},
		{"a \u202e b", "a  b", "a b", false},
		{"a\u2028b\u2029", "a\u2028b\u2029", "a b", false},
		{"a\xffb", "ab", "ab", false},
		{"a\ufffeb\uffff", "ab", "ab", false},
	} {
		if got := Text(tt.given); got != tt.text {
			t.Errorf("Text(%q) = %q, want %q", tt.given, got, tt.text)
		}
		if got := Line(tt.given); got != tt.line {
			t.Errorf("Line(%q) = %q, want %q", tt.given, got, tt.line)
		}
		if got := Name(tt.given); got != tt.name {
			t.Errorf("Name(%q) = %t", tt.given, got)
		}
	}
}

func TestAHeadlineKeepsWhatTextsNeed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"👩\u200d🚀  lands\n": "👩\u200d🚀 lands", "می\u200cخواهم": "می\u200cخواهم", "a\u202e\u2028b": "a b",
	} {
		if got := Headline(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzALineIsAName(f *testing.F) {
	f.Add("a\u202e\x00 b\n")
	f.Fuzz(func(t *testing.T, text string) {
		line := Line(text)
		if !Name(line) || !utf8.ValidString(line) || Line(line) != line || Text(line) != line {
			t.Errorf("%q gives %q", text, line)
		}
		for _, r := range Text(text) {
			if Hidden(r) || unicode.Is(unicode.Bidi_Control, r) {
				t.Errorf("%q is not taken out of %q", r, text)
			}
		}
	})
}

func TestAnExcerptIsALineOfSoManyBytes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "short": "short", "12345678901": "1234567890", "123456789é": "123456789", "12345678é1": "12345678é",
		"a\n\u202eb\x00c\xff": "a b c", " a  b         c": "a b",
	} {
		if got := Excerpt(text, 10); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
