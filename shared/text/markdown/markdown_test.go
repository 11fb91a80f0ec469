package markdown

import (
	"strings"
	"testing"
)

func TestWhatIsHarmlessStays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "# Title\n\nSome *text* & more, 2 > 1.\n\n- a\n- b\n", "[a](https://a.example/x?y=1&z=2 \"title\")", "![p](HTTPS://img.example/p.png)",
		"<https://a.example/x>", "[a]( <http://a.example> )", "[a][1]\n\n[1]: https://a.example", "| a | b |\n|---|---|\n| [x] | 1 |", "> quoted [note]", "- [ ] open\n- [x] done",
		"中文 [链接](https://a.example/中)",
	} {
		if got := Harmless(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

func TestWhatIsNotHarmlessIsText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"<script>alert(1)</script>":                "&lt;script>alert(1)&lt;/script>",
		"<a href='javascript:x'>a</a>":             "&lt;a href='javascript:x'>a&lt;/a>",
		"<javascript:x>":                           "&lt;javascript:x>",
		"<https://a.example onload=x>":             "&lt;https://a.example onload=x>",
		"[a](javascript:alert(1))":                 `[a]\(javascript:alert(1))`,
		"[a]( \n JaVaScRiPt:x)":                    "[a]\\( \n JaVaScRiPt:x)",
		"[a] (javascript:x)":                       `[a] \(javascript:x)`,
		"[a](&#106;avascript:x)":                   `[a]\(&#106;avascript:x)`,
		"[a](<javascript:x>)":                      `[a]\(&lt;javascript:x>)`,
		"![a](data:image/svg+xml;base64,AAAA)":     `![a]\(data:image/svg+xml;base64,AAAA)`,
		"[a](//a.example)":                         `[a]\(//a.example)`,
		"[a](/x)":                                  `[a]\(/x)`,
		"[a][1]\n\n[1]: javascript:x":              "[a][1]\n\n[1]\\: javascript:x",
		"[1]:\n vbscript:x":                        "[1]\\:\n vbscript:x",
		"[![p](file:///etc/passwd)](mailto:a@b.c)": `[![p]\(file:///etc/passwd)]\(mailto:a@b.c)`,
		"a\x00b\r\nc\u009b":                        "ab\nc",
		"[a](java\x00script:x)":                    `[a]\(javascript:x)`,
		"[a](ht\x01tps://a.example)":               "[a](https://a.example)",
	} {
		if got := Harmless(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func FuzzHarmless(f *testing.F) {
	for _, seed := range []string{"[a](javascript:x)", "<b>", "](", "]:", "<https://a>", "[a]\n(\x00data:x)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Harmless(text)
		if again := Harmless(got); again != got {
			t.Errorf("%q becomes %q, and that %q", text, got, again)
		}
		for rest := got; ; {
			at := strings.IndexByte(rest, '<')
			if at < 0 {
				break
			}
			rest = rest[at:]
			if !address.MatchString(rest) {
				t.Fatalf("%q becomes %q with HTML", text, got)
			}
			rest = rest[1:]
		}
	})
}
