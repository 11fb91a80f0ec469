// Package doctable holds lists in documents to the code that they are written from.
package doctable

import (
	"os"
	"strings"

	"quotary/shared/testing/must"
)

// T is a test.
type T interface {
	must.T
	Errorf(format string, args ...any)
}

// Check holds what stands between the two marks of a list in a document to want, or writes it
// there. The marks are "<!-- NAME: written by make readme -->" and "<!-- end of NAME -->".
func Check(t T, path, name, want string, update bool) {
	t.Helper()
	begin, end := "<!-- "+name+": written by make readme -->\n", "<!-- end of "+name+" -->"
	text := must.Get(os.ReadFile(path))(t)
	head, rest, found := strings.Cut(string(text), begin)
	have, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatal(path + " has lost the marks of the " + name)
	}
	if update {
		must.Do(t, os.WriteFile(path, []byte(head+begin+want+end+tail), 0o644)) //nolint:gosec // a document
		return
	}
	if have != want {
		t.Errorf("the %s of %s are not those of the code: run make readme", name, path)
	}
}
