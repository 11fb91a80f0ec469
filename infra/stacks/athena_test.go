package stacks_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"quotary/functions/ingester/gluetables"
	"quotary/shared/testing/must"
)

func TestTheDatabaseHasTheTablesThatTheIngesterWrites(t *testing.T) {
	t.Parallel()
	part := full.parts["athena"]
	_, resources := part.all("AWS::Glue::Table")
	found := map[string]any{}
	for _, r := range resources {
		input := at(r.Properties, "TableInput")
		found[at(input, "Name").(string)] = input
		if plain(r.Properties["DatabaseName"]) != "${Database}" {
			t.Errorf("%v is a table of %v", at(input, "Name"), r.Properties["DatabaseName"])
		}
	}
	tables := must.Get(gluetables.Tables())(t)
	for _, of := range tables {
		input := found[of.Name]
		where := plain(at(input, "StorageDescriptor", "Location"))
		if want := "s3://quotary-prod-views-${AWS::AccountId}-${AWS::Region}/" + of.Prefix; where != want {
			t.Errorf("%s lies in %s, want %s", of.Name, where, want)
		}
		if !slices.Equal(columnsOf(input), of.Columns) {
			t.Errorf("%s has other columns than the files", of.Name)
		}
		format := at(input, "StorageDescriptor", "InputFormat").(string)
		if symlinks := strings.HasSuffix(format, ".SymlinkTextInputFormat"); symlinks != of.Listed {
			t.Errorf("%s is read as %s", of.Name, format)
		}
		if days := at(input, "PartitionKeys", 0, "Name") == "date" && at(input, "Parameters", "projection.date.type") == "date"; days == of.Listed {
			t.Errorf("%s has the partitions %v, %v", of.Name, at(input, "PartitionKeys"), at(input, "Parameters"))
		}
	}
	view := found["traders"]
	encoded := strings.TrimSuffix(strings.TrimPrefix(at(view, "ViewOriginalText").(string), "/* Presto View: "), " */")
	text := must.Get(base64.StdEncoding.DecodeString(encoded))(t)
	if at(view, "TableType") != "VIRTUAL_VIEW" || at(view, "Parameters", "presto_view") != "true" || !strings.Contains(string(text), "quotary_prod.trader_rows") || !slices.Equal(columnsOf(view), tables[0].Columns) {
		t.Errorf("the view is a %v of %.80s", at(view, "TableType"), text)
	}
	if len(found) != len(tables)+1 || at(part.only(t, "AWS::Glue::Database").Properties, "DatabaseInput", "Name") != "quotary_prod" {
		t.Errorf("%d tables, want %d and a view", len(found), len(tables))
	}
}

func columnsOf(table any) (columns []gluetables.Column) {
	for _, c := range listed(at(table, "StorageDescriptor", "Columns")) {
		columns = append(columns, gluetables.Column{Name: at(c, "Name").(string), Type: at(c, "Type").(string)})
	}
	return columns
}

func TestAQueryOfAthenaIsBounded(t *testing.T) {
	t.Parallel()
	group := full.parts["athena"].only(t, "AWS::Athena::WorkGroup").Properties
	of := at(group, "WorkGroupConfiguration")
	if at(of, "EnforceWorkGroupConfiguration") != true || at(of, "BytesScannedCutoffPerQuery") != 1e10 ||
		plain(at(of, "ResultConfiguration", "OutputLocation")) != "s3://quotary-prod-athena-${AWS::AccountId}-${AWS::Region}/" {
		t.Errorf("the workgroup is %v", of)
	}
	bucket := full.parts["athena"].only(t, "AWS::S3::Bucket").Properties
	if at(bucket, "LifecycleConfiguration", "Rules", 0, "ExpirationInDays") != 7.0 {
		t.Errorf("answers stay: %v", bucket["LifecycleConfiguration"])
	}
}
