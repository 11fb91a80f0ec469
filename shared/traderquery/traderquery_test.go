package traderquery_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"quotary/shared/catalog"
	"quotary/shared/data/datatest"
	"quotary/shared/data/traders"
	"quotary/shared/market"
	"quotary/shared/table/tablefile"
	"quotary/shared/testing/must"
	"quotary/shared/traderfields"
	"quotary/shared/traderquery"
)

var now = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// file is the one file of a table in memory.
type file []byte

// Range reads a part of the file.
func (f file) Range(_ context.Context, _ string, offset, n int64) ([]byte, error) {
	return f[offset : offset+n], nil
}

// world is made-up traders, and a reader of their table.
type world struct {
	list   []traders.Trader
	reader *tablefile.Reader
}

// made is the world of all tests, which change nothing in it.
var made = sync.OnceValues(func() (*world, error) {
	w := &world{list: datatest.Traders(150, now.UnixMilli())}
	body, err := tablefile.Bytes(traders.Columns(), traders.Part(w.list))
	m := tablefile.Manifest{Version: 1, Files: []tablefile.Named{{Key: "a", Bytes: int64(len(body))}}}
	w.reader = tablefile.NewReader(traders.Columns(), func(context.Context) (tablefile.Manifest, error) { return m, nil }, file(body), 64<<20)
	return w, err
})

// ask is what a request is answered.
func (w *world) ask(t must.T, in *catalog.DiscoverIn) (rows []catalog.DiscoverRow, total int) {
	t.Helper()
	q := must.Get(traderquery.Discover(in, now))(t)
	a := must.Get(w.reader.Ask(context.Background(), &q.Query, q.Show))(t)
	return q.Rows(a.Rows), a.Total
}

// body is a request as it is without any member.
func body() catalog.DiscoverIn {
	return catalog.DiscoverIn{PageNum: 1, PageSize: 20, Period: 7, Lang: "en"}
}

// plain is a value of an answer as a decimal.
func plain(t must.T, v any) (market.Decimal, bool) {
	t.Helper()
	if v == nil {
		return market.Decimal{}, false
	}
	return must.Get(market.ParseDecimal(fmt.Sprint(v)))(t), true
}

// Every answer is that of a plain loop over the rows: who passes, in which order, with which values.
func TestAnswersAreThoseOfAPlainLoop(t *testing.T) {
	t.Parallel()
	w := must.Get(made())(t)
	rapid.Check(t, func(t *rapid.T) {
		in, o := drawn(t, w)
		want := o.answer(w, strings.EqualFold(in.Sort.Dir, "asc"))
		rows, total := w.ask(t, &in)
		if total != len(want) {
			t.Fatalf("%d traders pass, want %d", total, len(want))
		}
		from := min(int((in.PageNum-1)*in.PageSize), len(want))
		want = want[from:min(from+int(in.PageSize), len(want))]
		if len(rows) != len(want) {
			t.Fatalf("%d rows, want %d", len(rows), len(want))
		}
		for i, row := range rows {
			if row["address"] != market.AddressOf(want[i].Address) || len(row) != len(o.shown)+len(o.texts)+1 {
				t.Fatalf("row %d is %v, want %x with %d fields", i, row, want[i].Address, len(o.shown))
			}
			for _, f := range o.texts {
				if got, texts := row[f.Name], f.Texts(&want[i].Trader); (got != nil) != isKnown(f, want[i]) || got != nil && strings.Trim(fmt.Sprint(got), "[]") != strings.Join(texts, " ") {
					t.Fatalf("%s of %x is %v, want %q", f.Name, want[i].Address, got, texts)
				}
			}
			for name, of := range o.shown {
				v, known := of.of(want[i])
				if got, is := plain(t, row[name]); is != known || known && !got.Equal(v) {
					t.Fatalf("%s of %x is %v, want %s, known %t", name, want[i].Address, row[name], v, known)
				}
			}
		}
	})
}

func TestAllPagesHaveEachTraderOnce(t *testing.T) {
	t.Parallel()
	w := must.Get(made())(t)
	in, seen := body(), map[any]bool{}
	in.PageSize, in.Sort = 25, &catalog.DiscoverSort{Field: "winCount", Dir: "asc"}
	for in.PageNum = 1; ; in.PageNum++ {
		rows, total := w.ask(t, &in)
		for _, row := range rows {
			if seen[row["address"]] {
				t.Fatalf("%v is on two pages", row["address"])
			}
			seen[row["address"]] = true
		}
		if len(rows) < 25 {
			if len(seen) != len(w.list) || total != len(w.list) {
				t.Errorf("%d traders of %d are on the pages", len(seen), total)
			}
			return
		}
	}
}

func TestAnEmptyRequestHasTheUsualFieldsOfAWeek(t *testing.T) {
	t.Parallel()
	w := must.Get(made())(t)
	in := body()
	rows, total := w.ask(t, &in)
	if total != len(w.list) || len(rows) != 20 {
		t.Fatalf("%d rows of %d", len(rows), total)
	}
	names := []string{
		"address", "avgDurationMin", "avgLeverage", "longPnl", "longRatio", "oaLastOrderAt", "positionCount", "shortPnl",
		"snapPerpValue", "snapPositionCount", "snapTotalMarginUsed", "snapTotalValue", "totalPnl", "winRate",
	}
	var before market.Decimal
	for i, row := range rows {
		var got []string
		for name := range row {
			got = append(got, name)
		}
		if slices.Sort(got); !slices.Equal(got, names) {
			t.Fatalf("a row has %v, want %v", got, names)
		}
		if pnl, known := plain(t, row["totalPnl"]); known && i > 0 && pnl.Cmp(before) > 0 {
			t.Errorf("row %d has %s behind %s", i, pnl, before)
		} else {
			before = pnl
		}
	}
	in.CountOnly = true
	if rows, total := w.ask(t, &in); len(rows) != 0 || total != len(w.list) {
		t.Errorf("countOnly has %d rows of %d", len(rows), total)
	}
}

// Clients decode the types that documents say.
func TestTypesOfValues(t *testing.T) {
	t.Parallel()
	w := must.Get(made())(t)
	in := body()
	in.PageSize, in.Period = 25, 30
	in.Selects = []string{
		"totalPnl", "maxLoss7d", "snapPerpValue", "snapTotalMarginUsed", "snapPositionCount", "oaLastOrderAt", "avgLeverage", "snapEffLeverage", "snapMarginUsageRate",
		"winRate", "longRatio", "positionCount", "avgDurationMin", "snapLongPositionCount", "oaFirstOrderAt", "ddDrawdown", "ddHighTime", "trFeeRate",
	}
	texts := in.Selects[:9]
	rows, _ := w.ask(t, &in)
	seen := map[string]bool{}
	for _, row := range decoded(t, rows) {
		for _, name := range in.Selects {
			switch v := row[name].(type) {
			case nil:
			case string:
				seen[name] = slices.Contains(texts, name)
			case json.Number:
				seen[name] = !slices.Contains(texts, name)
			default:
				t.Errorf("%s is %T", name, v)
			}
		}
	}
	for _, name := range in.Selects {
		if !seen[name] {
			t.Errorf("%s has another type, or is null in every row", name)
		}
	}
}

// decoded are rows as a client reads them.
func decoded(t *testing.T, rows []catalog.DiscoverRow) (list []map[string]any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(must.Get(json.Marshal(rows))(t)))
	d.UseNumber()
	must.Do(t, d.Decode(&list))
	return list
}

func TestDatesAreComparedAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	w := must.Get(made())(t)
	of := figure{}
	for i := range traderfields.Fields {
		if traderfields.Fields[i].Name == "foLastOrderAt" {
			of = figure{&traderfields.Fields[i], traderfields.Week}
		}
	}
	ms := func(at time.Time) *catalog.Decimal {
		return &catalog.Decimal{Decimal: market.DecimalFromInt(at.UnixMilli())}
	}
	for text, f := range map[string]struct {
		val  *catalog.Decimal
		val2 string
		at   time.Time
	}{
		"ms":          {ms(now.Add(-3 * time.Hour)), "", now.Add(-3 * time.Hour)},
		"days before": {nil, "-3d", now.AddDate(0, 0, -3)},
		"minutes":     {nil, "-30m", now.Add(-30 * time.Minute)},
		"weeks":       {nil, "-1w", now.AddDate(0, 0, -7)},
		"a day":       {nil, "2026-11-19", time.Date(2026, 11, 19, 0, 0, 0, 0, time.UTC)},
		"a time":      {nil, "2026-11-19T12:30:00+02:00", time.Date(2026, 11, 19, 10, 30, 0, 0, time.UTC)},
		"both":        {ms(time.UnixMilli(0)), "-2d", now.AddDate(0, 0, -2)},
	} {
		in, want := body(), 0
		in.Filters = []catalog.DiscoverFilter{{Field: "foLastOrderAt", Op: ">", Val: f.val, Val2: &f.val2}}
		for i := range w.list {
			if v, known := of.of(&w.list[i]); known && v.Cmp(market.DecimalFromInt(f.at.UnixMilli())) > 0 {
				want++
			}
		}
		if _, total := w.ask(t, &in); total != want {
			t.Errorf("%s: %d pass, want %d", text, total, want)
		}
	}
}

func TestValuesBeyondEveryFigure(t *testing.T) {
	t.Parallel()
	w := must.Get(made())(t)
	known := body()
	known.Filters = []catalog.DiscoverFilter{{Field: "totalPnl", Op: "exist"}}
	_, all := w.ask(t, &known)
	if all == 0 {
		t.Fatal("nothing is known")
	}
	for text, passes := range map[string][]string{"9999999999999999999": {"<", "<=", "!=", "<>"}, "-9999999999999999999": {">", ">=", "!=", "<>", ""}, "0.00000001": nil} {
		var v catalog.Decimal
		must.Do(t, v.UnmarshalText([]byte(text)))
		for _, op := range []string{"", "<", "=", ">", ">=", "<=", "!=", "<>"} {
			in, want := body(), 0
			in.Filters = []catalog.DiscoverFilter{{Field: "totalPnl", Op: op, Val: &v}}
			if slices.Contains(passes, op) {
				want = all
			}
			if _, total := w.ask(t, &in); passes != nil && total != want || passes == nil && op == "=" && total != 0 {
				t.Errorf("%s %s: %d pass", op, text, total)
			}
		}
	}
}
