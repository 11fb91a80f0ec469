//go:build cgo

package duckdb_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/testing/must"
)

// BenchmarkTable asks a table of 1,000,000 rows by our reader, all of it in memory, and by DuckDB, of
// a table in memory: the first rows, and how many pass in all. Of the first twelve columns seven in
// ten figures are not known, of the others few.
func BenchmarkTable(b *testing.B) {
	const rows, sparse, width = 1_000_000, 12, 24
	rng := rand.New(rand.NewPCG(1, 2))
	var columns []tablefile.Column
	for c := range width {
		columns = append(columns, tablefile.Column{Name: fmt.Sprint("c", c), Kind: []tablefile.Kind{tablefile.Money, tablefile.Count}[c%2], Scale: []int{6, 0}[c%2]})
	}
	p := &tablefile.Part{Tier: "cold", Version: 1, Addresses: make([]table.Address, rows), Values: func(c int) ([]int64, table.Bits, error) {
		values, known := make([]int64, rows), table.NewBits(rows)
		for i := range values {
			if rng.IntN(100) >= map[bool]int{true: 29, false: 97}[c < sparse] {
				continue
			}
			known.Set(i)
			if values[i] = int64(math.Exp(2 * math.Abs(rng.NormFloat64()))); c%2 == 0 {
				values[i] = int64(rng.NormFloat64() * 1e9 * math.Exp(3*rng.NormFloat64()))
			}
		}
		return values, known, nil
	}}
	for i := range p.Addresses {
		for at := range p.Addresses[i] {
			p.Addresses[i][at] = byte(rng.IntN(256))
		}
	}
	f := &folder{path: b.TempDir()}
	body := must.Get(tablefile.Bytes(columns, p))(b)
	must.Do(b, os.WriteFile(filepath.Join(f.path, "a"), body, 0o600))
	f.newest = tablefile.Manifest{Version: 1, Files: []tablefile.Named{{Key: "a", Bytes: int64(len(body))}}}
	r := tablefile.NewReader(columns, f.Newest, f, 1<<30)
	db := open(b)
	must.Get(db.ExecContext(b.Context(), fmt.Sprintf("CREATE TABLE newest AS SELECT * FROM read_parquet('%s/a')", f.path)))(b)
	positive := func(columns ...int) (list []table.Filter) {
		for _, c := range columns {
			list = append(list, table.Filter{Column: c, Low: 1, High: table.MostValue})
		}
		return list
	}
	for _, one := range []struct {
		name    string
		order   int
		offset  int
		filters []table.Filter
	}{
		{"default", 0, 0, nil}, {"one filter", 12, 0, positive(14)}, {"3 filters", 12, 0, positive(14, 16, 1)}, {"8 filters", 12, 0, positive(0, 2, 4, 6, 14, 16, 18, 20)},
		{"8 loose filters, page 20", 12, 475, positive(13, 14, 15, 16, 17, 19, 21, 23)},
	} {
		q := table.Query{Order: one.order, Offset: one.offset, Limit: 25, Filters: one.filters}
		where := []string{"TRUE"}
		for _, f := range one.filters {
			where = append(where, columns[f.Column].Name+" > 0")
		}
		passing := strings.Join(where, " AND ")
		total := must.Get(r.Ask(b.Context(), &q, []int{0, 1}))(b).Total // what is asked first is read from files
		b.Run(one.name+"/ours", func(b *testing.B) {
			for b.Loop() {
				total = must.Get(r.Ask(context.Background(), &q, []int{0, 1}))(b).Total
			}
		})
		b.Run(one.name+"/duckdb", func(b *testing.B) {
			for b.Loop() {
				rowsOf(b, db, "SELECT lower(hex(address)), coalesce(c0::VARCHAR, ''), coalesce(c1::VARCHAR, '') FROM newest WHERE %s ORDER BY c%d DESC NULLS LAST, address LIMIT 25 OFFSET %d", passing, one.order, one.offset)
				if counted := rowsOf(b, db, "SELECT count(*)::VARCHAR FROM newest WHERE %s", passing); counted[0] != fmt.Sprint(total) {
					b.Fatalf("%s rows pass, we say %d", counted[0], total)
				}
			}
		})
	}
}
