package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

func TestQuotaStatsListAndExportAgreeWithWhatWasCounted(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	first := b.create(object{"monthly_quota": 30})
	b.Move(time.Millisecond)
	second := b.create(object{"monthly_quota": 4000})
	b.Move(time.Millisecond)
	idle := b.create(object{"monthly_quota": 5})
	b.request(first.AccessKey, 30)
	b.request(second.AccessKey, 12)
	b.ok("POST", "/sub-keys/"+second.AccessKey+"/disable", nil)
	b.wantUsage(t, catalog.QuotaSummary{MaxTotalQuota: 10_000, AllocatedQuota: 4035, AvailableQuota: 5965, UsedQuota: 42, RemainingQuota: 9958},
		catalog.SubKeyStatistics{TotalSubKeys: 3, ActiveSubKeys: 2, DisabledSubKeys: 1, TotalQuota: 4035, UsedQuota: 42, RemainingQuota: 3993},
		[]string{first.AccessKey, second.AccessKey, idle.AccessKey}, []int64{30, 12, 0})

	// What a deleted sub-key used stays used.
	b.ok("DELETE", "/sub-keys/"+first.AccessKey, nil)
	b.wantUsage(t, catalog.QuotaSummary{MaxTotalQuota: 10_000, AllocatedQuota: 4005, AvailableQuota: 5995, UsedQuota: 42, RemainingQuota: 9958},
		catalog.SubKeyStatistics{TotalSubKeys: 2, ActiveSubKeys: 1, DisabledSubKeys: 1, TotalQuota: 4005, UsedQuota: 42, RemainingQuota: 3963},
		[]string{second.AccessKey, idle.AccessKey}, []int64{12, 0})

	// A month begins with nothing used.
	b.Move(31 * 24 * time.Hour)
	b.wantUsage(t, catalog.QuotaSummary{MaxTotalQuota: 10_000, AllocatedQuota: 4005, AvailableQuota: 5995, UsedQuota: 0, RemainingQuota: 10_000},
		catalog.SubKeyStatistics{TotalSubKeys: 2, ActiveSubKeys: 1, DisabledSubKeys: 1, TotalQuota: 4005, UsedQuota: 0, RemainingQuota: 4005},
		[]string{second.AccessKey, idle.AccessKey}, []int64{0, 0})
}

// wantUsage checks every place that shows use; the access keys are given in
// the order of their creation.
func (b *world) wantUsage(t *testing.T, quota catalog.QuotaSummary, stats catalog.SubKeyStatistics, accessKeys []string, used []int64) {
	t.Helper()
	check.Equalf(t, quota, apitest.Data[catalog.QuotaSummary](t, b.ok("GET", "/quota", nil)), "quota")
	check.Equalf(t, stats, apitest.Data[catalog.SubKeyStatistics](t, b.ok("GET", "/sub-keys/stats", nil)), "stats")
	page := apitest.Data[catalog.SubKeyPage](t, b.ok("GET", "/sub-keys", nil))
	rows := b.exported(t)
	if len(page.List) != len(used) || len(rows) != len(used) {
		t.Fatalf("%d listed and %d exported, want %d", len(page.List), len(rows), len(used))
	}
	for i, accessKey := range accessKeys {
		if row := rows[i]; row.AccessKey != accessKey || row.UsedMonthlyQuota != used[i] {
			t.Errorf("row %d of the export is %+v, want %s with %d", i, row, accessKey, used[i])
		}
		if k := page.List[len(used)-1-i]; k.AccessKey != accessKey || k.UsedMonthlyQuota != used[i] {
			t.Errorf("the list has %+v, want %s with %d", k, accessKey, used[i])
		}
		detail := apitest.Data[catalog.SubKeyDetail](t, b.ok("GET", "/sub-keys/"+accessKey, nil))
		if detail.UsedMonthlyQuota != used[i] {
			t.Errorf("the detail of %s shows %d used, want %d", accessKey, detail.UsedMonthlyQuota, used[i])
		}
	}
}

func TestWithoutATotalCapNothingRemainsByTheFormula(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	preset := contract
	preset.MaxTotalQuota = 0
	b.key = b.Register(t, preset)
	b.create(object{})
	got := apitest.Data[catalog.QuotaSummary](t, b.ok("GET", "/quota", nil))
	want := catalog.QuotaSummary{AllocatedQuota: 1000, AvailableQuota: -1000}
	check.Equalf(t, want, got, "quota")
}

// exported reads the export, which has no envelope.
func (b *world) exported(t *testing.T) (rows []catalog.ExportRow) {
	t.Helper()
	must.Do(t, json.Unmarshal(b.ok("GET", "/sub-keys/export", nil).Body, &rows))
	return rows
}

// TestAnExportGoesOnBehindItsCursor: what one answer does not hold the next ones do, each
// sub-key once, though several were created in the same millisecond.
func TestAnExportGoesOnBehindItsCursor(t *testing.T) {
	t.Parallel()
	for _, most := range []int{1, 2, 3, 5} {
		w := apitest.Open(t, catalog.Distributor, func(w *apitest.World) {
			(&management{keys: w.Keys, usage: w.Counters, exportPage: most}).serve(w.Family)
		})
		b := &world{World: w, t: t, key: w.Register(t, contract)}
		for i := range 5 {
			b.create(object{"monthly_quota": 10})
			if i == 2 {
				b.Move(time.Millisecond)
			}
		}
		var got []string
		for cursor, answers := "", 1; ; answers++ {
			a := b.ok("GET", "/sub-keys/export?cursor="+cursor, nil)
			var rows []catalog.ExportRow
			if err := json.Unmarshal(a.Body, &rows); err != nil || len(rows) > most {
				t.Fatalf("%d rows of at most %d, error %v", len(rows), most, err)
			}
			for _, r := range rows {
				got = append(got, r.AccessKey)
			}
			if cursor = a.Header[catalog.HeaderNextCursor]; cursor == "" {
				break
			}
			if answers > 5 {
				t.Fatal("the export does not end")
			}
		}
		page := apitest.Data[catalog.SubKeyPage](t, b.ok("GET", "/sub-keys?page_size=100", nil))
		var want []string
		for _, k := range page.List {
			want = append(want, k.AccessKey)
		}
		slices.Reverse(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d a page (-listed +exported):\n%s", most, diff)
		}
	}
}

// TestAnExportIsSafeInASpreadsheet: names are chosen by others than who opens the file.
func TestAnExportIsSafeInASpreadsheet(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	preset := contract
	preset.MaxSubKeys = 100
	b.key = b.Register(t, preset)
	names := map[string]string{ // as written
		"plain": "plain", `=HYPERLINK("x")`: `'=HYPERLINK("x")`, "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "＝1": "'＝1", `a,"b"`: `a,"b"`, "é": "é",
		"x;=1+1;y": "x;'=1+1;y", `x;"=1+1;y`: `x;'"=1+1;y`, "x; @a": "x;' @a", ` "-1`: `' "-1`, "a;b-c=d;": "a;b-c=d;",
	}
	for name := range names {
		b.create(object{"name": name, "monthly_quota": 1})
	}
	answer := b.ok("GET", "/sub-keys/export?format=csv", nil)
	if got := answer.Header["Content-Type"]; got != "text/csv; charset=utf-8" {
		t.Errorf("Content-Type %s", got)
	}
	lines, err := csv.NewReader(bytes.NewReader(answer.Body)).ReadAll()
	if err != nil || len(lines) != len(names)+1 {
		t.Fatalf("%d lines, %v: %s", len(lines), err, answer.Body)
	}
	for _, comma := range ",;\t" {
		reader := csv.NewReader(bytes.NewReader(answer.Body))
		reader.Comma, reader.LazyQuotes, reader.TrimLeadingSpace, reader.FieldsPerRecord = comma, true, true, -1
		cells, err := reader.ReadAll()
		if err != nil || len(cells) != len(names)+1 {
			t.Fatalf("%d lines separated by %q, %v", len(cells), comma, err)
		}
		for _, cell := range slices.Concat(cells...) {
			if strings.HasPrefix(cell, "=") || strings.ContainsAny(cell[:min(len(cell), 1)], "+-@") {
				t.Errorf("separated by %q, a cell is %s", comma, cell)
			}
		}
	}
	rows := b.exported(t)
	for i, row := range rows {
		want := []string{row.AccessKey, names[row.Name], "1", "1", "0", row.CreatedAt}
		check.Equalf(t, want, lines[i+1], "line %d", i+1)
	}
	check.Equalf(t, []string{"access_key", "name", "status", "monthly_quota", "used_monthly_quota", "created_at"}, lines[0], "names")
}
