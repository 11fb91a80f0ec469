package traderquery_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"quotary/shared/catalog"
	"quotary/shared/data/traders"
	"quotary/shared/market"
	"quotary/shared/testing/must"
	"quotary/shared/traderfields"
	"quotary/shared/traderquery"
)

// wears reports whether a trader fulfils all conditions of a tag, as they are written.
func wears(t *testing.T, means string, of *traders.Trader) bool {
	t.Helper()
	for condition := range strings.SplitSeq(means, ", ") {
		part := strings.Fields(condition)
		i := slices.IndexFunc(columns, func(c traderfields.Column) bool { return c.Name() == part[0] })
		if i < 0 {
			t.Fatalf("%s is about no column", condition)
		}
		v, known := figure{columns[i].Field, columns[i].Period}.of(of)
		if !known || !holds(part[1], v, must.Get(market.ParseDecimal(part[2]))(t)) {
			return false
		}
	}
	return true
}

var columns = traderfields.Columns()

func TestTagsAreTheirConditions(t *testing.T) {
	t.Parallel()
	w := must.Get(made())(t)
	var all []catalog.Address
	want := map[string][]string{}
	for i := range w.list {
		address := market.AddressOf(w.list[i].Address)
		all = append(all, catalog.Address(address))
		for _, tag := range traderquery.Tags {
			if wears(t, tag.Means, &w.list[i]) {
				want[address] = append(want[address], tag.Zh)
			}
		}
	}
	q := traderquery.Tagged(append(all, "0x00000000000000000000000000000000deadbeef"), "zh")
	a := must.Get(w.reader.Ask(context.Background(), &q.Query, q.Show))(t)
	if len(a.Rows) != len(all) {
		t.Fatalf("%d of %d traders are found", len(a.Rows), len(all))
	}
	for i := range a.Rows {
		address := market.AddressOf(a.Rows[i].Address)
		if got := q.Tags(&a.Rows[i]); got == nil || !slices.Equal(got, append([]string{}, want[address]...)) {
			t.Errorf("%s has %v, want %v", address, got, want[address])
		}
	}
	seen := 0
	for _, tag := range traderquery.Tags {
		in, count := body(), 0
		in.Tags, in.LoadTags, in.Lang = []string{strings.ToUpper(tag.En), tag.Zh}, true, "zh"
		for _, names := range want {
			if slices.Contains(names, tag.Zh) {
				count++
			}
		}
		rows, total := w.ask(t, &in)
		if seen += min(count, 1); total != count {
			t.Errorf("%d traders have the tag %s, want %d", total, tag.En, count)
		}
		for _, row := range rows {
			if address, ok := row["address"].(string); !ok || !slices.Equal(row["tags"].([]string), want[address]) { //nolint:forcetypeassert // else the test fails
				t.Errorf("%v has %v, want %v", row["address"], row["tags"], want[address])
			}
		}
	}
	if seen < len(traderquery.Tags)/2 {
		t.Errorf("only %d tags are worn by anybody", seen)
	}
}

func TestTagsHaveNamesOfTheirOwnAndCoverEachGroup(t *testing.T) {
	t.Parallel()
	names, groups := map[string]bool{}, map[string]bool{}
	for _, tag := range traderquery.Tags {
		if names[tag.En] || names[tag.Zh] || tag.Name("en") != tag.En || tag.Name("zh") != tag.Zh {
			t.Errorf("%s, %s: named twice", tag.En, tag.Zh)
		}
		names[tag.En], names[tag.Zh], groups[tag.Group] = true, true, true
	}
	if len(traderquery.Tags) < 25 || len(groups) != 6 {
		t.Errorf("%d tags of %d groups", len(traderquery.Tags), len(groups))
	}
}
