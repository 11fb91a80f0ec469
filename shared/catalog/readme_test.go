package catalog_test

import (
	"fmt"
	"strings"
	"testing"

	"quotary/shared/catalog"
	"quotary/shared/testing/doctable"
)

// Lists in documents are written from the catalog: run make generate after a change.
func TestDocumentsListTheCatalog(t *testing.T) {
	t.Parallel()
	doctable.Check(t, "../../docs/endpoints.md", "endpoints", endpointTable(), *update)
	doctable.Check(t, "../../docs/endpoints.md", "info types", infoTable(), *update)
	doctable.Check(t, "../../docs/endpoints.md", "reasons", reasonTable(), *update)
	doctable.Check(t, "../../docs/indicators.md", "indicators", indicatorTable(), *update)
	doctable.Check(t, "../../README.md", "info types", infoNames(), *update)
}

func endpointTable() string {
	var table strings.Builder
	table.WriteString("| Method | Path | Who may call | Envelope | State |\n|---|---|---|---|---|\n")
	for _, e := range catalog.All() {
		envelope := string(e.Envelope)
		if envelope == "" {
			envelope = "-"
		}
		fmt.Fprintf(&table, "| %s | `%s` | %s | %s | %s |\n", e.Method, e.Documented(), e.Access, envelope, state(e.Planned))
	}
	return table.String()
}

func indicatorTable() string {
	var table strings.Builder
	table.WriteString("| Indicator | Values of a row | What it says | How it comes about | Unit | Who defined it, and of which pairs there are rows |\n|---|---|---|---|---|---|\n")
	for _, i := range catalog.Indicators {
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s | %s | %s |\n", i.Key, strings.Join(i.Fields, ", "), i.Means, i.Formula, i.Unit, i.Source)
	}
	return table.String()
}

func infoTable() string {
	var table strings.Builder
	table.WriteString("| Type | Must have | May have | What it answers |\n|---|---|---|---|\n")
	for _, kind := range catalog.InfoTypes {
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", kind.Name, strings.Join(kind.Needs, ", "), strings.Join(kind.Takes, ", "), kind.About)
	}
	return table.String()
}

func reasonTable() string {
	var table strings.Builder
	table.WriteString("| Reason | Status | Charged | What the client does |\n|---|---|---|---|\n")
	for _, reason := range catalog.Reasons() {
		r, charged := reason.Refusal(), "no"
		if r.Charged {
			charged = "yes"
		}
		fmt.Fprintf(&table, "| `%s` | %d | %s | %s |\n", reason, r.Status, charged, r.Advice)
	}
	return table.String()
}

// infoNames are the types that are answered from what is stored, a few a line, and how many more
// there are.
func infoNames() string {
	var names []string
	asked := 0
	for _, kind := range catalog.InfoTypes {
		if kind.Weight > 0 {
			asked++
			continue
		}
		names = append(names, "`"+kind.Name+"`")
	}
	names = append(names, fmt.Sprintf("and %d more that the venue itself is asked", asked))
	var text strings.Builder
	for i, name := range names {
		switch {
		case i == len(names)-1:
			name += ".\n"
		case i%4 == 3:
			name += ",\n"
		default:
			name += ", "
		}
		text.WriteString(name)
	}
	return text.String()
}

func state(planned bool) string {
	if planned {
		return "planned"
	}
	return "built"
}
