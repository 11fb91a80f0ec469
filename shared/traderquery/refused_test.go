package traderquery_test

import (
	"slices"
	"strings"
	"testing"

	"quotary/shared/catalog"
	"quotary/shared/market"
	"quotary/shared/traderfields"
	"quotary/shared/traderquery"
)

func TestWhatCannotBeAskedIsNamed(t *testing.T) {
	t.Parallel()
	one := &catalog.Decimal{Decimal: market.DecimalFromInt(1)}
	text := func(s string) *string { return &s }
	sortBy := func(field, dir string) func(*catalog.DiscoverIn) {
		return func(in *catalog.DiscoverIn) { in.Sort = &catalog.DiscoverSort{Field: field, Dir: dir} }
	}
	selects := func(names ...string) func(*catalog.DiscoverIn) {
		return func(in *catalog.DiscoverIn) { in.Selects = names }
	}
	filters := func(list ...catalog.DiscoverFilter) func(*catalog.DiscoverIn) {
		return func(in *catalog.DiscoverIn) { in.Filters = list }
	}
	var all []string // figures of periods
	for i := range traderfields.Fields {
		for _, p := range traderfields.Fields[i].Periods {
			if p != traderfields.AllTime {
				all = append(all, traderfields.Fields[i].Name+p.Suffix())
			}
		}
	}
	fine := catalog.DiscoverFilter{Field: "totalPnl", Val: one}
	for want, change := range map[string]func(*catalog.DiscoverIn){
		`invalid selects: no field is named "totalPnI"`:                       selects("totalPnl", "totalPnI"),
		`invalid selects: no field is named "totalPnl3d"`:                     selects("totalPnl3d"),
		`invalid selects: no field is named "address7d"`:                      selects("address7d"),
		`invalid selects: 151 figures are asked for`:                          selects(all[:151]...),
		`invalid selects: "adFirstTradeAt" is not open`:                       selects("adFirstTradeAt"),
		`invalid sort.field: "adFirstTradeAt7d" is not open`:                  sortBy("adFirstTradeAt7d", ""),
		`filters[0].val2: must be a text, as dexNames is compared with it`:    filters(catalog.DiscoverFilter{Field: "dexNames", Val: one}),
		`filters[0].val2: must be a text, as vtName is compared with it`:      filters(catalog.DiscoverFilter{Field: "vtName", Val: one}),
		`filters[0].op: must be one of =, !=, <>, exist, as vtName is a text`: filters(catalog.DiscoverFilter{Field: "vtName", Op: ">=", Val2: text("a")}),
		`invalid sort.field: vtLeader is a text`:                              sortBy("vtLeader", ""),
		`invalid selects: vtName is not bound to a period`:                    selects("vtName7d"),
		`invalid sort.field: dexNames is a text`:                              sortBy("dexNames", ""),
		`invalid selects: snapPerpValue is not bound to a period`:             selects("snapPerpValue7d"),
		`invalid sort.dir: must be asc or desc`:                               sortBy("totalPnl", "up"),
		`no field has a name of more than 64 characters`:                      sortBy(strings.Repeat("x", 65), ""),
		`invalid filters[1].field: no field is named "address"`:               filters(fine, catalog.DiscoverFilter{Field: "address", Val: one}),
		`invalid filters[0].field: must be the name of a field`:               filters(catalog.DiscoverFilter{Val: one}),
		`invalid filters[0].op: must be one of`:                               filters(catalog.DiscoverFilter{Field: "totalPnl", Op: "==", Val: one}),
		`invalid filters[0].val: must be a number`:                            filters(catalog.DiscoverFilter{Field: "totalPnl", Val2: text("5")}),
		`invalid filters[0].val: oaLastOrderAt is a date`:                     filters(catalog.DiscoverFilter{Field: "oaLastOrderAt"}),
		`invalid filters[0].val2: must be an ISO 8601 date`:                   filters(catalog.DiscoverFilter{Field: "oaLastOrderAt", Val2: text("yesterday")}),
		`invalid tags: there is no tag "Genius"`:                              func(in *catalog.DiscoverIn) { in.Tags = []string{"Whale", "Genius"} },
		`invalid selects: trFills is not known of period 0 (all time): its`:   func(in *catalog.DiscoverIn) { in.Period, in.Selects = 0, []string{"trFills"} },
		`acPerpPnl is not known of period 1: its period must be one of 7, 30`: selects("acPerpPnl1d"),
	} {
		in := body()
		change(&in)
		if _, err := traderquery.Discover(&in, now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	for _, span := range []string{"-", "-0d", "-1y", "--1d", "-99999w", "-1.5d"} {
		in := body()
		in.Filters = []catalog.DiscoverFilter{{Field: "oaLastOrderAt", Val2: &span}}
		if _, err := traderquery.Discover(&in, now); err == nil || !strings.Contains(err.Error(), "filters[0].val2") {
			t.Errorf("%s: error %v", span, err)
		}
	}
}

func TestAllFieldsOfAPeriodMayBeAskedFor(t *testing.T) {
	t.Parallel()
	in := body()
	in.Period, in.Selects = 30, nil
	for i := range traderfields.Fields {
		f := &traderfields.Fields[i]
		if !f.IsText() && (f.Periods == nil || slices.Contains(f.Periods, traderfields.Month)) {
			in.Selects = append(in.Selects, f.Name)
		}
	}
	if _, err := traderquery.Discover(&in, now); err != nil || len(in.Selects) < 100 {
		t.Errorf("%d fields: %v", len(in.Selects), err)
	}
}
