package traderfields_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"quotary/shared/testing/doctable"
	"quotary/shared/traderfields"
)

var update = flag.Bool("update", false, "rewrite the list of fields in the guide")

func TestTheGuideListsEveryField(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	listed := 0
	for _, g := range traderfields.Groups {
		fmt.Fprintf(&text, "\n### %s\n\nSource: %s.\n\n| Field | Periods | Kind | Adds up as | What it is |\n|---|---|---|---|---|\n", g.Name, g.Source)
		for _, f := range traderfields.Fields {
			if f.Group != g.Name {
				continue
			}
			listed++
			fmt.Fprintf(&text, "| `%s` | %s | %s | %s | %s |\n", f.Name, periodsOf(&f), f.Kind, f.Adds, f.Formula)
		}
	}
	text.WriteString("\n")
	if listed != len(traderfields.Fields) {
		t.Errorf("%d of %d fields are in a group that is listed", listed, len(traderfields.Fields))
	}
	doctable.Check(t, "../../docs/traders.md", "fields", text.String(), *update)
}

// periodsOf are the periods of a field as people read them.
func periodsOf(f *traderfields.Field) string {
	if f.Periods == nil {
		return "none"
	}
	var names []string
	for _, p := range f.Periods {
		if p == traderfields.AllTime {
			names = append(names, "all time")
			continue
		}
		names = append(names, p.Suffix())
	}
	return strings.Join(names, ", ")
}
