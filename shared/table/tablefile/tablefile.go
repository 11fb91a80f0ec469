// Package tablefile keeps the parts of a table ([table.Part]) as Parquet files that engines such as
// Athena, DuckDB and Spark read as they are, and reads single columns of them.
//
// A file is one row group, and of each column a page for every block ([table.BlockRows] rows), so
// that a column is one range of the file, and a page becomes a block. Columns are in the order in
// which they are declared: what is asked together lies together. The footer says where they are; it
// is read once for a file, by [Open]. A file is never changed.
package tablefile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding"

	"quotary/shared/table"
)

// Kind says what a column is, and so how it is written.
type Kind int

// The kinds.
const (
	Count Kind = iota // a whole number
	Money             // a decimal of many different values
	Ratio             // a decimal of few
	Date              // ms since 1970, UTC
	Names             // a set of names: not a figure, but a column of sets
)

// Column is a column of a file.
type Column struct {
	Name  string
	Kind  Kind
	Scale int // decimal places of Money and Ratio: a figure is its whole number over 10^Scale
}

// MostDigits bounds values as they are kept in a file: DECIMAL(18, Scale).
const MostDigits = 18

// Most is the greatest value of a file.
const Most = 1e18 - 1

// The columns that every file has before its own.
const (
	addressName = "address" // 20 bytes
	versionName = "version" // of the publication that wrote the row, ms
	tierName    = "tier"    // of the file
	before      = 3
)

// Part is what a file is made of.
type Part struct {
	Tier      string
	Version   int64           // ms
	Addresses []table.Address // of the rows, each once
	// Values gives the values of a column of figures, and the rows in which it is known.
	Values func(column int) (values []int64, known table.Bits, err error)
	// Names gives the names that each row has in a column of sets, each once. It may be nil where there
	// is no such column.
	Names func(column int) (rows [][]string, err error)
}

// Write writes a part as a file. It fails with a value that a file does not hold.
func Write(to io.Writer, columns []Column, p *Part) error {
	w := parquet.NewWriter(to, Schema(columns), parquet.DataPageStatistics(true), parquet.PageBufferSize(64<<20), parquet.WriteBufferSize(1<<20))
	writers := w.ColumnWriters()
	if err := writePart(writers, columns, p); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("end the file: %w", err)
	}
	return nil
}

var errRows = errors.New("they are not those of the part")

func writePart(writers []*parquet.ColumnWriter, columns []Column, p *Part) error {
	buffer := make([]parquet.Value, 0, min(table.BlockRows, len(p.Addresses)))
	writeAll := func(column int, appendTo func(to []parquet.Value, from, until int) []parquet.Value) error {
		for from := 0; from < len(p.Addresses); from += table.BlockRows {
			buffer = appendTo(buffer[:0], from, min(from+table.BlockRows, len(p.Addresses)))
			if _, err := writers[column].WriteRowValues(buffer); err != nil {
				return fmt.Errorf("write column %d: %w", column, err)
			}
			if err := writers[column].Flush(); err != nil {
				return fmt.Errorf("write a page of column %d: %w", column, err)
			}
		}
		return nil
	}
	write := func(column int, value func(row int) parquet.Value) error {
		return writeAll(column, func(to []parquet.Value, from, until int) []parquet.Value {
			for row := from; row < until; row++ {
				to = append(to, value(row))
			}
			return to
		})
	}
	err := errors.Join(
		write(0, func(row int) parquet.Value { return parquet.FixedLenByteArrayValue(p.Addresses[row][:]).Level(0, 0, 0) }),
		write(1, func(int) parquet.Value { return parquet.Int64Value(p.Version).Level(0, 0, 1) }),
		write(2, func(int) parquet.Value { return parquet.ByteArrayValue([]byte(p.Tier)).Level(0, 0, 2) }),
	)
	for c := range columns {
		if err != nil {
			return err
		}
		if columns[c].Kind == Names {
			names, failed := p.Names(c)
			if failed != nil || len(names) != len(p.Addresses) {
				return fmt.Errorf("column %s has names of %d of %d rows: %w", columns[c].Name, len(names), len(p.Addresses), cmp.Or(failed, errRows))
			}
			names = few(names, mostNames-table.BlockRows)
			err = writeAll(before+c, func(to []parquet.Value, from, until int) []parquet.Value {
				for row := from; row < until; row++ {
					to = appendNames(to, names[row], before+c)
				}
				return to
			})
			continue
		}
		values, known, failed := p.Values(c)
		if failed != nil || len(values) != len(p.Addresses) {
			return fmt.Errorf("column %s has values of %d of %d rows: %w", columns[c].Name, len(values), len(p.Addresses), cmp.Or(failed, errRows))
		}
		for row, v := range values {
			if known.Has(row) && (v > Most || v < -Most) {
				return fmt.Errorf("column %s of row %d: %d has more than %d digits", columns[c].Name, row, v, MostDigits)
			}
		}
		null := parquet.NullValue().Level(0, 0, before+c)
		err = writeAll(before+c, func(to []parquet.Value, from, until int) []parquet.Value {
			for row := from; row < until; row++ {
				if known.Has(row) {
					to = append(to, parquet.Int64Value(values[row]).Level(0, 1, before+c))
				} else {
					to = append(to, null)
				}
			}
			return to
		})
	}
	return err
}

// few are names of rows, of which the last ones of a block have none where it has more than are read: a
// file of them would be in the way of all that comes behind it.
func few(rows [][]string, most int) [][]string {
	kept := make([][]string, len(rows))
	left := most
	for i, names := range rows {
		if i%table.BlockRows == 0 {
			left = most
		}
		if left -= max(len(names), 1); left >= 0 {
			kept[i] = names
		}
	}
	return kept
}

// appendNames appends a row of a column of sets.
func appendNames(to []parquet.Value, names []string, column int) []parquet.Value {
	if len(names) == 0 {
		return append(to, parquet.NullValue().Level(0, 0, column))
	}
	for i, name := range names {
		to = append(to, parquet.ByteArrayValue([]byte(name)).Level(min(i, 1), 1, column))
	}
	return to
}

// Schema is the schema of a file: address, version, tier, and its columns in their order, which a
// [parquet.Group] would sort.
func Schema(columns []Column) *parquet.Schema {
	group := parquet.Group{}
	var order []string
	packed := func(node parquet.Node, e encoding.Encoding) parquet.Node {
		return parquet.Compressed(parquet.Encoded(node, e), &zstd.Codec{Level: zstd.SpeedFastest})
	}
	put := func(name string, node parquet.Node) {
		group[name] = node
		order = append(order, name)
	}
	add := func(name string, node parquet.Node, e encoding.Encoding) { put(name, packed(node, e)) }
	add(addressName, parquet.Leaf(parquet.FixedLenByteArrayType(20)), &parquet.Plain)
	add(versionName, parquet.Timestamp(parquet.Millisecond), &parquet.DeltaBinaryPacked)
	add(tierName, parquet.String(), &parquet.RLEDictionary)
	for _, c := range columns {
		switch c.Kind {
		case Count:
			add(c.Name, parquet.Optional(parquet.Int(64)), &parquet.RLEDictionary)
		case Ratio:
			add(c.Name, parquet.Optional(parquet.Decimal(c.Scale, MostDigits, parquet.Int64Type)), &parquet.RLEDictionary)
		case Money:
			add(c.Name, parquet.Optional(parquet.Decimal(c.Scale, MostDigits, parquet.Int64Type)), &parquet.DeltaBinaryPacked)
		case Date:
			add(c.Name, parquet.Optional(parquet.Timestamp(parquet.Millisecond)), &parquet.DeltaBinaryPacked)
		case Names:
			put(c.Name, parquet.List(packed(parquet.String(), &parquet.RLEDictionary)))
		}
	}
	sorted := map[string]parquet.Field{}
	for _, f := range group.Fields() {
		sorted[f.Name()] = f
	}
	root := ordered{Group: group}
	for _, name := range order {
		root.fields = append(root.fields, sorted[name])
	}
	return parquet.NewSchema("row", root)
}

// ordered is a group whose fields are in an order of their own.
type ordered struct {
	parquet.Group
	fields []parquet.Field
}

// Fields returns the fields.
func (o ordered) Fields() []parquet.Field { return o.fields }

// Bytes is Write to memory.
func Bytes(columns []Column, p *Part) ([]byte, error) {
	var b bytes.Buffer
	err := Write(&b, columns, p)
	return b.Bytes(), err
}
