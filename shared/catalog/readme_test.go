package catalog_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"quotary/shared/catalog"
)

// The README's table of endpoints is written from the catalog: run
// make readme after a change.
func TestTheReadmeListsTheCatalog(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../../README.md", "<!-- endpoints: written by make readme -->\n", "<!-- end of endpoints -->"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(text), begin)
	have, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has lost the marks of the table", path)
	}
	var table strings.Builder
	table.WriteString("| Method | Path | Who may call | Envelope | State |\n|---|---|---|---|---|\n")
	for _, e := range catalog.All() {
		state, envelope := "built", string(e.Envelope)
		if e.Planned {
			state = "planned"
		}
		if envelope == "" {
			envelope = "-"
		}
		fmt.Fprintf(&table, "| %s | `%s` | %s | %s | %s |\n", e.Method, e.Documented(), e.Access, envelope, state)
	}
	if *update {
		if err := os.WriteFile(path, []byte(head+begin+table.String()+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have != table.String() {
		t.Error("the README's table of endpoints is not the catalog's: run make readme")
	}
}
