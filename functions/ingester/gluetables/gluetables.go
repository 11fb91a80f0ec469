// Package gluetables describes the Parquet files that the ingester writes as tables of a Glue database for
// Athena: the archive of each dataset, and the trader table. Names and types of columns are those of the schemas with which files are written.
package gluetables

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"quotary/functions/ingester/archive"
	"quotary/shared/data/fills"
	"quotary/shared/data/ledgers"
	"quotary/shared/data/orders"
	"quotary/shared/data/payments"
	"quotary/shared/data/traders"
	"quotary/shared/data/twaps"
	"quotary/shared/store"
	"quotary/shared/table/tablefile"
)

// Table is a table over objects of the bucket of views.
type Table struct {
	Name    string
	Prefix  string // of the keys of its objects, with a slash at the end
	Columns []Column
	// Listed is whether what lies there is a list of the files that are read (a symlink manifest), and not
	// the files. These lie in a folder date=<yyyy-mm-dd> for each day, date being a column as well.
	Listed bool
}

// Column is a column of a table.
type Column struct {
	Name string `json:"name"` // lower case, as Glue has all names
	Type string `json:"type"` // as Hive writes it, in a View as Athena does
}

// Tables are all of them. It fails for a column of a type that Hive does not have.
func Tables() ([]Table, error) {
	rows, err := TraderRows()
	tables := []Table{rows}
	for _, d := range archived {
		columns, failed := columnsOf(d.schema)
		if failed != nil && err == nil {
			err = fmt.Errorf("describe the archive of %s: %w", d.name, failed)
		}
		tables = append(tables, Table{Name: d.name, Prefix: archive.Folder(d.name), Columns: columns})
	}
	return tables, err
}

// TraderRows are the rows of all files of the newest version of the trader table. An address may have
// several of them: [NewestTraders] has each once.
func TraderRows() (Table, error) {
	columns, err := columnsOf(tablefile.Schema(traders.Columns()))
	if err != nil {
		err = fmt.Errorf("describe the trader table: %w", err)
	}
	return Table{Name: "trader_rows", Prefix: path.Dir(traders.ListKey) + "/", Columns: columns, Listed: true}, err
}

// dataset is one whose rows are archived.
type dataset struct {
	name   string
	schema *parquet.Schema
}

var archived = []dataset{
	archivedAs(fills.Name, fills.Archive), archivedAs(orders.FilledName, orders.Archive), archivedAs(orders.OtherName, orders.Archive),
	archivedAs(ledgers.Name, ledgers.Archive), archivedAs(payments.Name, payments.Archive), archivedAs(twaps.StatusesName, twaps.Archive),
}

// archivedAs is a dataset whose files have the columns of T.
func archivedAs[T any](name string, _ func(store.Row) (T, error)) dataset {
	return dataset{name, parquet.SchemaOf(new(T))}
}

func columnsOf(schema *parquet.Schema) (columns []Column, err error) {
	for _, f := range schema.Fields() {
		of, err := typeOf(f)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", f.Name(), err)
		}
		columns = append(columns, Column{strings.ToLower(f.Name()), of})
	}
	return columns, nil
}

// typeOf is the type of a column as Hive writes it.
func typeOf(n parquet.Node) (string, error) {
	var logical format.LogicalTypeValue
	if l := n.Type().LogicalType(); l != nil {
		logical = l.Value
	}
	switch l := logical.(type) {
	case *format.ListType:
		of, err := typeOf(n.Fields()[0].Fields()[0])
		return "array<" + of + ">", err
	case *format.StringType:
		return "string", nil
	case *format.TimestampType:
		return "timestamp", nil
	case *format.DecimalType:
		return fmt.Sprintf("decimal(%d,%d)", l.Precision, l.Scale), nil
	}
	if !n.Leaf() {
		columns, err := columnsOf(parquet.NewSchema("", n))
		var members []string
		for _, c := range columns {
			members = append(members, c.Name+":"+c.Type)
		}
		return "struct<" + strings.Join(members, ",") + ">", err
	}
	if of, ok := plainTypes[n.Type().Kind()]; ok {
		return of, nil
	}
	return "", fmt.Errorf("no type of Hive stands for %s", n.Type())
}

// plainTypes are those of columns of which the schema says no more than how they are stored.
var plainTypes = map[parquet.Kind]string{parquet.Boolean: "boolean", parquet.Int64: "bigint", parquet.FixedLenByteArray: "binary"}

// View is a view of Athena.
type View struct {
	Name    string
	Columns []Column
	SQL     string

	database string
}

// NewestTraders has the newest row of each trader: of an address that is in several files of a version
// that of the latest one counts.
func NewestTraders(database string, rows *Table) View {
	v := View{Name: "traders", database: database}
	var names []string
	for _, c := range rows.Columns {
		names = append(names, c.Name)
		v.Columns = append(v.Columns, Column{c.Name, athenaTypes.Replace(c.Type)})
	}
	v.SQL = fmt.Sprintf("SELECT %s FROM (SELECT *, row_number() OVER (PARTITION BY address ORDER BY version DESC) AS place FROM %s.%s) WHERE place = 1",
		strings.Join(names, ", "), database, rows.Name)
	return v
}

// athenaTypes replaces types of Hive by those of Athena's SQL.
var athenaTypes = strings.NewReplacer("string", "varchar", "binary", "varbinary", "timestamp", "timestamp(3)", "<", "(", ">", ")")

// Text is the view as Athena keeps it in Glue: what its CREATE VIEW writes as the original text.
func (v *View) Text() (string, error) {
	text, err := json.Marshal(map[string]any{"originalSql": v.SQL, "catalog": "awsdatacatalog", "schema": v.database, "columns": v.Columns})
	if err != nil {
		return "", fmt.Errorf("describe the view %s: %w", v.Name, err)
	}
	return "/* Presto View: " + base64.StdEncoding.EncodeToString(text) + " */", nil
}
