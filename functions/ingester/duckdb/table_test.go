//go:build cgo

package duckdb_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/shared/market"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/testing/must"
)

// The columns of the table: two of money, of which one is mostly not known, a ratio, a count, a date and
// the coins that were traded.
var columns = []tablefile.Column{
	{Name: "pnl", Kind: tablefile.Money, Scale: 6}, {Name: "rare", Kind: tablefile.Money, Scale: 8}, {Name: "rate", Kind: tablefile.Ratio, Scale: 4},
	{Name: "trades"}, {Name: "last", Kind: tablefile.Date}, {Name: "coins", Kind: tablefile.Names},
}

const coins = 5 // the column of sets

// folder is a table in a folder.
type folder struct {
	path   string
	newest tablefile.Manifest
}

// Newest says what the newest version is.
func (f *folder) Newest(context.Context) (tablefile.Manifest, error) { return f.newest, nil }

// Range reads a part of a file.
func (f *folder) Range(_ context.Context, key string, offset, n int64) ([]byte, error) {
	file, err := os.Open(filepath.Join(f.path, key)) //nolint:gosec // a file of the test
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b := make([]byte, n)
	_, err = file.ReadAt(b, offset)
	return b, err
}

// put adds a file of rows with random figures.
func (f *folder) put(t *testing.T, rng *rand.Rand, tier string, addresses []table.Address) {
	t.Helper()
	version := f.newest.Version + 1
	values, known := make([][]int64, coins), make([]table.Bits, coins)
	traded := make([][]string, len(addresses))
	for c := range values {
		values[c], known[c] = make([]int64, len(addresses)), table.NewBits(len(addresses))
	}
	for i := range addresses {
		for c, v := range []int64{
			int64(rng.NormFloat64() * 1e6 * math.Exp(4*rng.NormFloat64())), rng.Int64N(1e12) - 5e11, rng.Int64N(20_000) - 10_000,
			int64(math.Exp(2 * math.Abs(rng.NormFloat64()))), 1_760_000_000_000 + rng.Int64N(4e10),
		} {
			if share := []int{9, 1, 7, 10, 8}[c]; rng.IntN(10) < share {
				values[c][i] = v
				known[c].Set(i)
			}
		}
		for n, coin := range []string{"BTC", "ETH", "SOL", "HYPE", "it's"} {
			if rng.IntN(2+2*n) == 0 {
				traded[i] = append(traded[i], coin)
			}
		}
	}
	body := must.Get(tablefile.Bytes(columns, &tablefile.Part{
		Tier: tier, Version: version, Addresses: addresses,
		Values: func(c int) ([]int64, table.Bits, error) { return values[c], known[c], nil },
		Names:  func(int) ([][]string, error) { return traded, nil },
	}))(t)
	key := fmt.Sprintf("%d-%s.parquet", version, tier)
	must.Do(t, os.WriteFile(filepath.Join(f.path, key), body, 0o600))
	f.newest.Version = version
	f.newest.Files = append(f.newest.Files, tablefile.Named{Key: key, Bytes: int64(len(body))})
}

// table makes one of two tiers and an overlay: of who is in two of them the later file's row counts.
func newTable(t *testing.T) (*folder, []table.Address) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	all := make([]table.Address, table.BlockRows+20_000)
	for i := range all {
		for b := range all[i] {
			all[i][b] = byte(rng.IntN(256))
		}
	}
	f := &folder{path: t.TempDir()}
	f.put(t, rng, "cold", all[3000:])
	f.put(t, rng, "hot", all[:8000])
	f.put(t, rng, "overlay", all[7500:9000])
	return f, all
}

// newest is each trader's newest row, as any engine finds it: the one of the latest version.
func (f *folder) sql() string {
	return fmt.Sprintf(`CREATE TABLE newest AS SELECT * EXCLUDE (place) FROM
		(SELECT *, row_number() OVER (PARTITION BY address ORDER BY version DESC) AS place FROM read_parquet('%s/*.parquet')) WHERE place = 1`, f.path)
}

// question is one of our queries and the same in SQL.
type question struct {
	table.Query
	where, order string
}

func draw(t *rapid.T, all []table.Address) (q question) {
	var conditions []string
	for range rapid.IntRange(0, 3).Draw(t, "filters") {
		c := rapid.IntRange(0, coins-1).Draw(t, "column")
		if rapid.IntRange(0, 7).Draw(t, "unknown") == 0 {
			q.Filters = append(q.Filters, table.Filter{Column: c, Null: true})
			conditions = append(conditions, columns[c].Name+" IS NULL")
			continue
		}
		op := rapid.SampledFrom([]table.Op{table.Equal, table.Different, table.Less, table.AtMost, table.Greater, table.AtLeast}).Draw(t, "op")
		value := rapid.SampledFrom([]string{"0", "1", "-1", "2.5", "0.00005", "-0.33", "1234.567891", "1000000", "-99999.99", "7"}).Draw(t, "value")
		figure := columns[c].Name
		if columns[c].Kind == tablefile.Date {
			value, figure = strconv.FormatInt(1_760_000_000_000+rapid.Int64Range(0, 4e10).Draw(t, "ms"), 10), "epoch_ms(last)"
		}
		q.Filters = append(q.Filters, table.Compare(c, op, must.Get(market.ParseDecimal(value))(t), columns[c].Scale))
		conditions = append(conditions, fmt.Sprintf("%s %s CAST('%s' AS DECIMAL(38, 12))", figure, []string{"=", "!=", "<", "<=", ">", ">="}[op], value))
	}
	if rapid.Bool().Draw(t, "coins") {
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"BTC", "ETH", "SOL", "HYPE", "it's", "none"}), 0, 4, rapid.ID[string]).Draw(t, "names")
		kind := rapid.SampledFrom([]table.SetKind{table.Any, table.All, table.None, table.Only}).Draw(t, "kind")
		q.Sets = []table.SetFilter{{Column: coins, Names: names, Kind: kind}}
		list := "CAST([] AS VARCHAR[])"
		if len(names) > 0 {
			list = "['" + strings.ReplaceAll(strings.Join(names, "\x00"), "'", "''") + "']"
			list = strings.ReplaceAll(list, "\x00", "', '")
		}
		conditions = append(conditions, fmt.Sprintf(map[table.SetKind]string{
			table.Any: "list_has_any(coins, %s)", table.All: "list_has_all(coins, %s)", table.None: "NOT list_has_any(coins, %s)",
			table.Only: "len(coins) > 0 AND list_has_all(%s, coins)",
		}[kind], list))
	}
	if rapid.IntRange(0, 4).Draw(t, "by address") == 0 {
		var list []string
		for range rapid.IntRange(1, 50).Draw(t, "addresses") {
			a := rapid.SampledFrom(all).Draw(t, "address")
			q.Addresses = append(q.Addresses, a)
			list = append(list, "'"+hex.EncodeToString(a[:])+"'")
		}
		conditions = append(conditions, "lower(hex(address)) IN ("+strings.Join(list, ", ")+")")
	}
	q.Order, q.Ascending = rapid.IntRange(0, coins-1).Draw(t, "order"), rapid.Bool().Draw(t, "ascending")
	q.Offset, q.Limit = rapid.IntRange(0, 200).Draw(t, "offset"), rapid.IntRange(1, 60).Draw(t, "limit")
	q.where = "TRUE"
	if len(conditions) > 0 {
		q.where = "(" + strings.Join(conditions, ") AND (") + ")"
	}
	q.order = columns[q.Order].Name + map[bool]string{true: " ASC", false: " DESC"}[q.Ascending] + " NULLS LAST, address"
	return q
}

// shown are a row's address and figures as texts, as DuckDB is asked for them.
const shown = "lower(hex(address)), coalesce(pnl::VARCHAR, '-'), coalesce(rare::VARCHAR, '-'), coalesce(rate::VARCHAR, '-'), coalesce(trades::VARCHAR, '-'), coalesce(epoch_ms(last)::VARCHAR, '-')"

func textOf(row *tablefile.Row) string {
	parts := []string{hex.EncodeToString(row.Address[:])}
	for c, v := range row.Values {
		text := "-"
		if v.Known {
			text = fixed(v.Value, columns[c].Scale)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

// fixed is a whole number over 10^scale, with all its places.
func fixed(v int64, scale int) string {
	sign, digits := "", strconv.FormatInt(v, 10)
	if v < 0 {
		sign, digits = "-", digits[1:]
	}
	if scale == 0 {
		return sign + digits
	}
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale+1-len(digits)) + digits
	}
	return sign + digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
}

func TestDuckDBAnswersAsTheReaderOfATable(t *testing.T) {
	f, all := newTable(t)
	db := open(t)
	must.Get(db.ExecContext(t.Context(), f.sql()))(t)
	if got := rowsOf(t, db, "SELECT count(*)::VARCHAR, count(DISTINCT address)::VARCHAR FROM newest"); !slices.Equal(got, []string{fmt.Sprint(len(all), " ", len(all))}) {
		t.Fatalf("rows and traders: %v, want %d of each", got, len(all))
	}
	r := tablefile.NewReader(columns, f.Newest, f, 256<<20)
	figures := []int{0, 1, 2, 3, 4}
	asked, found := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		q := draw(rt, all)
		got := must.Get(r.Ask(t.Context(), &q.Query, figures))(rt)
		var rows []string
		for i := range got.Rows {
			rows = append(rows, textOf(&got.Rows[i]))
		}
		want := rowsOf(t, db, "SELECT %s FROM newest WHERE %s ORDER BY %s LIMIT %d OFFSET %d", shown, q.where, q.order, q.Limit, q.Offset)
		if total := rowsOf(t, db, "SELECT count(*)::VARCHAR FROM newest WHERE %s", q.where); total[0] != strconv.Itoa(got.Total) {
			rt.Fatalf("%s: %d rows pass, DuckDB says %s", q.where, got.Total, total[0])
		}
		if diff := cmp.Diff(want, rows); diff != "" {
			rt.Fatalf("%s ORDER BY %s: %s", q.where, q.order, diff)
		}
		asked++
		found += len(rows)
	})
	t.Logf("%d questions, %d rows", asked, found)
}
