package keys

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// What a caller sent comes back in messages: they stay short, valid and on one
// line whatever it was.
func FuzzMessagesAboutForeignNamesAreHarmless(f *testing.F) {
	f.Add("HL_FILLS", 1)
	f.Add("\xff\x00\n\"", 12)
	f.Add(strings.Repeat("€", 100), 300)
	f.Fuzz(func(t *testing.T, name string, n int) {
		names := make([]string, min(max(n, 1), 200))
		for i := range names {
			names[i] = name
		}
		got := quoteList(names, maxQuoted)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\x00") || len(got) > maxQuoted*(64*10+8)+20 {
			t.Errorf("%d names %q give %d bytes: %q", n, name, len(got), got)
		}
	})
}

func FuzzOnlyTokensOfTheRightFormHaveAnID(f *testing.F) {
	f.Add(newToken())
	f.Add("")
	f.Add(strings.Repeat("\n", 43))
	f.Fuzz(func(t *testing.T, token string) {
		id, ok := inviteID(token)
		if ok != isHex(id, 64) || (ok && len(token) != 43) {
			t.Errorf("inviteID(%q) = %q, %t", token, id, ok)
		}
	})
}
