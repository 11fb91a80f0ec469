package gluetables_test

import (
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/gluetables"
	"quotary/functions/ingester/perp"
	"quotary/shared/testing/must"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// Who changes a column sees it: whoever asks with Athena has to deploy it too.
func TestTheTablesOfTheDatabase(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, of := range must.Get(gluetables.Tables())(t) {
		fmt.Fprintf(&text, "%s %s listed=%t\n", of.Name, of.Prefix, of.Listed)
		for _, c := range of.Columns {
			fmt.Fprintf(&text, "  %s %s\n", c.Name, c.Type)
		}
	}
	const golden = "testdata/tables.txt"
	if *update {
		must.Do(t, os.WriteFile(golden, []byte(text.String()), 0o600))
	}
	if diff := cmp.Diff(string(must.Get(os.ReadFile(golden))(t)), text.String()); diff != "" {
		t.Errorf("if that is meant: go test ./functions/ingester/gluetables -update\n%s", diff)
	}
}

func TestEveryArchivedDatasetIsATable(t *testing.T) {
	t.Parallel()
	var tables, datasets []string
	for _, of := range must.Get(gluetables.Tables())(t) {
		if !of.Listed {
			tables = append(tables, of.Name)
		}
	}
	for _, log := range perp.Logs {
		if log.Archive != nil {
			datasets = append(datasets, log.Dataset)
		}
	}
	slices.Sort(tables)
	slices.Sort(datasets)
	if diff := cmp.Diff(datasets, tables); diff != "" {
		t.Error(diff)
	}
}

// Glue has names in lower case, and engines find columns whatever the case.
func TestNoTwoColumnsDifferByCaseAlone(t *testing.T) {
	t.Parallel()
	for _, of := range must.Get(gluetables.Tables())(t) {
		seen := map[string]bool{"date": !of.Listed}
		for _, c := range of.Columns {
			if seen[c.Name] || c.Name != strings.ToLower(c.Name) {
				t.Errorf("%s: the column %s is there already, or not in lower case", of.Name, c.Name)
			}
			seen[c.Name] = true
		}
	}
}

func TestTheTextOfAViewIsWhatAthenaReads(t *testing.T) {
	t.Parallel()
	rows := must.Get(gluetables.TraderRows())(t)
	v := gluetables.NewestTraders("quotary_dev", &rows)
	text := must.Get(v.Text())(t)
	encoded := strings.TrimSuffix(strings.TrimPrefix(text, "/* Presto View: "), " */")
	var got struct {
		OriginalSQL     string `json:"originalSql"`
		Catalog, Schema string
		Columns         []gluetables.Column
	}
	must.Do(t, json.Unmarshal(must.Get(base64.StdEncoding.DecodeString(encoded))(t), &got))
	if got.OriginalSQL != v.SQL || got.Catalog != "awsdatacatalog" || got.Schema != "quotary_dev" || !strings.Contains(v.SQL, " FROM quotary_dev.trader_rows)") {
		t.Errorf("the view is %s.%s: %.80s", got.Catalog, got.Schema, got.OriginalSQL)
	}
	types := map[string]string{}
	for _, c := range got.Columns {
		types[c.Name] = c.Type
	}
	for name, want := range map[string]string{
		"address": "varbinary", "version": "timestamp(3)", "tier": "varchar", "totalpnl30d": "decimal(18,6)", "positioncount": "bigint", "coins7d": "array(varchar)",
	} {
		if types[name] != want {
			t.Errorf("%s has the type %q, want %s", name, types[name], want)
		}
	}
	if len(got.Columns) != len(rows.Columns) {
		t.Errorf("%d columns of %d", len(got.Columns), len(rows.Columns))
	}
}
