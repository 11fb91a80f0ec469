//go:build cgo

package duckdb_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/archive"
	"quotary/functions/ingester/perp"
	"quotary/shared/data/fills"
	"quotary/shared/data/ledgers"
	"quotary/shared/data/orders"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/testing/must"
)

const (
	days   = 3
	perDay = 20_000
)

var first = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// fillsOf are made-up fills of a day: a fifth of them of 0.3, the others of 0.1.
func fillsOf(day int) (list []market.Fill) {
	for i := range perDay {
		f := market.Fill{
			Address: fmt.Sprintf("0x%040x", i%500), Coin: []string{"BTC", "ETH"}[i%2], Px: "30135.0", Sz: "0.1", Side: market.Buy,
			Time: first.AddDate(0, 0, day).UnixMilli() + int64(i), StartPosition: "0.0", Dir: "Open Long", ClosedPnl: "0.0", Hash: "0x" + strings.Repeat("ab", 32),
			Oid: int64(day*perDay + i), Crossed: i%2 == 0, Fee: "0.1", Tid: int64(day*perDay + i), FeeToken: "USDC", Seq: int64(i),
		}
		if i%5 == 0 {
			f.Sz = "0.3"
		}
		list = append(list, f)
	}
	return list
}

// write makes files of rows as the ingester does, two of each day, in a folder.
func write(t *testing.T, folder, dataset string, day time.Time, rows []store.Row) {
	t.Helper()
	for _, log := range perp.Logs {
		if log.Dataset != dataset {
			continue
		}
		for i, part := range [][]store.Row{rows[:len(rows)/2], rows[len(rows)/2:]} {
			file, kept, err := log.Archive.Encode(part, func(_ int, err error) { t.Error(err) })
			if err != nil || len(kept) != len(part) {
				t.Fatalf("%d of %d rows, error %v", len(kept), len(part), err)
			}
			path := filepath.Join(folder, fmt.Sprintf("%s%d.parquet", archive.DayFolder(dataset, day), i))
			must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
			must.Do(t, os.WriteFile(path, file, 0o600))
		}
		return
	}
	t.Fatalf("no log %s", dataset)
}

// rowsOf asks DuckDB, and returns each row as a text.
func rowsOf(t testing.TB, db *sql.DB, query string, args ...any) (all []string) {
	t.Helper()
	rows := must.Get(db.QueryContext(t.Context(), fmt.Sprintf(query, args...)))(t)
	defer rows.Close()
	columns := must.Get(rows.Columns())(t)
	for rows.Next() {
		values, into := make([]string, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		must.Do(t, rows.Scan(into...))
		all = append(all, strings.Join(values, " "))
	}
	must.Do(t, rows.Err())
	return all
}

func open(t testing.TB) *sql.DB {
	t.Helper()
	db := must.Get(sql.Open("duckdb", ""))(t)
	t.Cleanup(func() { db.Close() })
	return db
}

func TestDuckDBCountsWhatWasArchived(t *testing.T) {
	folder, db := t.TempDir(), open(t)
	for day := range days {
		write(t, folder, fills.Name, first.AddDate(0, 0, day), fills.AppendRows(nil, fillsOf(day)))
	}
	files := fmt.Sprintf("read_parquet('%s/archive/fills/*/*.parquet', hive_partitioning = true)", folder)
	for query, want := range map[string][]string{
		`SELECT date::VARCHAR, count(*)::VARCHAR, sum(CAST(sz AS DECIMAL(38, 10)))::VARCHAR FROM %s GROUP BY date ORDER BY date`: {
			"2026-03-01 20000 2800.0000000000", "2026-03-02 20000 2800.0000000000", "2026-03-03 20000 2800.0000000000",
		},
		`SELECT count(DISTINCT (subject, time, id))::VARCHAR FROM %s`:                                                                  {fmt.Sprint(days * perDay)},
		`SELECT coin, count(*)::VARCHAR FROM %s WHERE date = '2026-03-02' AND crossed GROUP BY coin`:                                   {"BTC 10000"},
		`SELECT count(*)::VARCHAR FROM %s WHERE epoch_ms(time) // 86400000 != date_diff('day', DATE '1970-01-01', CAST(date AS DATE))`: {"0"},
		`SELECT count(*)::VARCHAR FROM %s WHERE body ->> 'px' = px AND CAST(body ->> 'oid' AS BIGINT) = oid`:                           {fmt.Sprint(days * perDay)},
	} {
		if diff := cmp.Diff(want, rowsOf(t, db, query, files)); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
}

// What is known of a column is its type, whoever reads it.
func TestDuckDBSeesTheColumnsOfEachDataset(t *testing.T) {
	folder, db := t.TempDir(), open(t)
	status := market.OrderStatus{
		Address: "0x" + strings.Repeat("a", 40), Time: first.UnixMilli(), Status: market.StatusFilled, Coin: "BTC", Side: "B", LimitPx: "1.0", Sz: "0.0", OrigSz: "1.0",
		Oid: 7, Timestamp: first.UnixMilli(), TriggerCondition: "N/A", TriggerPx: "0.0", OrderType: "Limit", Tif: "Gtc", Children: json.RawMessage("[]"),
	}
	open := status
	open.Status = "open"
	update := market.Ledger{Address: status.Address, Time: status.Time, Hash: "0x1", Type: "deposit", Funds: "deposit", USDC: "5.0", Delta: json.RawMessage(`{"type":"deposit","usdc":"5.0"}`)}
	write(t, folder, orders.FilledName, first, orders.AppendRows(nil, []market.OrderStatus{status}, orders.FilledName))
	write(t, folder, orders.OtherName, first, orders.AppendRows(nil, []market.OrderStatus{open}, orders.OtherName))
	write(t, folder, ledgers.Name, first, ledgers.AppendRows(nil, []market.Ledger{update}))
	write(t, folder, fills.Name, first, fills.AppendRows(nil, fillsOf(0)[:2]))
	key := "subject VARCHAR, time TIMESTAMP WITH TIME ZONE, id VARCHAR, seq BIGINT, index_a VARCHAR, index_b VARCHAR, index_c VARCHAR, index_d VARCHAR, body VARCHAR, "
	order := key + "status VARCHAR, coin VARCHAR, side VARCHAR, limit_px VARCHAR, sz VARCHAR, orig_sz VARCHAR, oid BIGINT, placed TIMESTAMP WITH TIME ZONE, " +
		"order_type VARCHAR, tif VARCHAR, trigger_px VARCHAR, is_trigger BOOLEAN, reduce_only BOOLEAN, cloid VARCHAR"
	for dataset, want := range map[string]string{
		fills.Name: key + "coin VARCHAR, side VARCHAR, px VARCHAR, sz VARCHAR, dir VARCHAR, start_position VARCHAR, closed_pnl VARCHAR, fee VARCHAR, fee_token VARCHAR, " +
			"crossed BOOLEAN, hash VARCHAR, oid BIGINT, tid BIGINT, cloid VARCHAR, builder VARCHAR, builder_fee VARCHAR, twap_id BIGINT, liquidated_user VARCHAR",
		orders.FilledName: order, orders.OtherName: order,
		ledgers.Name: key + "hash VARCHAR, type VARCHAR, funds VARCHAR, usdc VARCHAR, fee VARCHAR, value VARCHAR, delta VARCHAR",
	} {
		got := rowsOf(t, db, `SELECT column_name || ' ' || column_type FROM (DESCRIBE SELECT * FROM read_parquet('%s/archive/%s/*/*.parquet'))`, folder, dataset)
		if diff := cmp.Diff(strings.Split(want+", date DATE", ", "), got); diff != "" {
			t.Errorf("%s: %s", dataset, diff)
		}
	}
}
