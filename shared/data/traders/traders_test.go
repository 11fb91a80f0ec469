package traders_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/traders"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
	"quotary/shared/traderfields"
)

const (
	dayMs = 86_400_000
	now   = markettest.Base + 40*dayMs
)

// drawn are traders of random deeds in the forty days until now.
var drawn = rapid.Custom(func(t *rapid.T) (list []traders.Trader) {
	for n := range rapid.IntRange(1, 8).Draw(t, "traders") {
		did := markettest.DidAtMost(6, rapid.Int64Range(now-40*dayMs, now-1)).Draw(t, "did")
		of, hours := traders.Trader{Address: table.Address{19: byte(n)}}, did.Facts()
		of.Did = map[traderfields.Period]*market.Window{}
		for _, p := range traderfields.Periods {
			from := int64(0)
			if p != traderfields.AllTime {
				from = now - int64(p)*dayMs
			}
			w := hours.Within(from, now)
			of.Did[p] = &w
		}
		list = append(list, of)
	}
	return list
})

// file is the one file of a table in memory.
type file []byte

// Range reads a part of the file.
func (f file) Range(_ context.Context, _ string, offset, n int64) ([]byte, error) {
	return f[offset : offset+n], nil
}

func TestEachFigureOfATraderIsFoundInTheTable(t *testing.T) {
	t.Parallel()
	for seed := range testenv.Amount(12, 500) { // each table has some hundred columns
		list := drawn.Example(seed)
		body := file(must.Get(tablefile.Bytes(traders.Columns(), traders.Part(list)))(t))
		m := tablefile.Manifest{Version: 1, Files: []tablefile.Named{{Key: "a", Bytes: int64(len(body))}}}
		r := tablefile.NewReader(traders.Columns(), func(context.Context) (tablefile.Manifest, error) { return m, nil }, body, 1<<20)
		var show []int
		for _, c := range traderfields.Columns() {
			place, ok := traders.Column(c.Name())
			if !ok {
				t.Fatalf("no column has the name %s", c.Name())
			}
			show = append(show, place)
		}
		a := must.Get(r.Ask(t.Context(), &table.Query{Unordered: true, Limit: 100}, show))(t)
		if len(a.Rows) != len(list) {
			t.Fatalf("%d rows of %d traders", len(a.Rows), len(list))
		}
		for i, c := range traderfields.Columns() {
			for n, row := range a.Rows {
				want, known := c.Field.Figure(&list[n].Trader, c.Period)
				if row.Values[i] != (tablefile.Value{Value: want, Known: known}) {
					t.Fatalf("%s of trader %d is %v, want %d, known %t", c.Name(), n, row.Values[i], want, known)
				}
			}
		}
		for _, p := range traderfields.Periods {
			column, ok := traders.Column("coins" + p.Suffix())
			for _, coin := range []string{"BTC", "xyz:GOLD"} {
				want := 0
				for i := range list {
					if slices.Contains(list[i].Did[p].Did.Coins, coin) {
						want++
					}
				}
				q := table.Query{Sets: []table.SetFilter{{Column: column, Names: []string{coin}, Kind: table.All}}}
				if a := must.Get(r.Ask(t.Context(), &q, nil))(t); !ok || a.Total != want {
					t.Fatalf("%d traded %s within %d days, want %d", a.Total, coin, p, want)
				}
			}
		}
	}
}

func TestRowsThatAreCollectedInPiecesAreThoseOfTheTraders(t *testing.T) {
	t.Parallel()
	for seed := range testenv.Amount(5, 100) {
		list := drawn.Example(seed)
		var rows traders.Rows
		for some := range slices.Chunk(list, 3) {
			must.Do(t, rows.Add(some))
		}
		odd := func(a table.Address) bool { return a[19]%2 == 1 }
		if seed%2 == 0 { // the last rows are made once more, of something else before
			last := list[len(list)-1]
			must.Do(t, rows.Add([]traders.Trader{{Address: table.Address{19: 99}}}))
			rows.Drop(func(a table.Address) bool { return a == last.Address || a[19] == 99 })
			must.Do(t, rows.Add([]traders.Trader{last}))
		}
		if rows.Len() != len(list) {
			t.Fatalf("%d rows of %d traders", rows.Len(), len(list))
		}
		taken := slices.DeleteFunc(slices.Clone(list), func(of traders.Trader) bool { return !odd(of.Address) })
		for what, c := range map[string]struct{ got, want *tablefile.Part }{
			"all":    {rows.Part(nil), traders.Part(list)},
			"chosen": {rows.Part(odd), traders.Part(taken)},
		} {
			c.got.Version, c.want.Version = 1, 1
			got, want := must.Get(tablefile.Bytes(traders.Columns(), c.got))(t), must.Get(tablefile.Bytes(traders.Columns(), c.want))(t)
			if !bytes.Equal(got, want) {
				t.Fatalf("%s of %d rows are another file than that of the traders", what, rows.Len())
			}
		}
	}
}

func TestColumnsHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for i, c := range traders.Columns() {
		if place, ok := traders.Column(c.Name); seen[c.Name] || !ok || place != i {
			t.Errorf("column %d, %s, is found at %d, %t", i, c.Name, place, ok)
		}
		seen[c.Name] = true
	}
	if _, ok := traders.Column("totalPnl3d"); ok || len(seen) < 400 {
		t.Error(fmt.Sprint(len(seen)), "columns; one has a period that none has:", ok)
	}
}
