package jsontext_test

import (
	"encoding/json"
	"strings"
	"testing"

	"quotary/shared/text/jsontext"
)

func FuzzAppendString(f *testing.F) {
	for _, text := range []string{"", `a"b\c/`, "\x00\n\x1f\x7f", "é😀\u2028<&>", "\xff\xfea"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		written := jsontext.AppendString(nil, text)
		var read string
		if err := json.Unmarshal(written, &read); err != nil || read != strings.ToValidUTF8(text, "\ufffd") {
			t.Fatalf("%q was written as %s, which reads %q, %v", text, written, read, err)
		}
	})
}
