package companies

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/drop"
	"quotary/shared/data/drop/droptest"
	"quotary/shared/data/internal/datasettest"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/store"
)

func TestTheStoredView(t *testing.T) {
	datasettest.Codec[View]{
		Values: rapid.Custom(func(t *rapid.T) View {
			var v View
			for i := range rapid.IntRange(0, 4).Draw(t, "companies") {
				c := Company{Key: fmt.Sprint("i:", i)}
				known := rapid.IntRange(1, 3).Draw(t, "known by")
				if known&1 != 0 {
					c.Filing = &Filing{Asked: markettest.Time().Draw(t, "asked"), Name: "Acme", Debt: market.Fact{Value: markettest.Decimal(9, 2).Draw(t, "debt"), AsOf: "2026-09-30"}}
				}
				if known&2 != 0 {
					c.Entry, c.Place = &Entry{Key: c.Key, Shares: markettest.Decimal(9, 2).Draw(t, "shares")}, &drop.Place{Time: 1, File: "a", Line: 1}
				}
				v.Companies = append(v.Companies, c)
			}
			return v
		}),
		Encode: Published.Encode,
		Decode: Published.Decode,
		Use: func(v View) {
			for i := range v.Companies {
				c := &v.Companies[i]
				_ = c.Name() + c.Shares() + c.Cash() + c.Debt()
			}
			v.Lookup("i:0")
		},
	}.Test(t)
}

func TestStoredEntries(t *testing.T) {
	datasettest.Codec[Dropped]{
		Values: rapid.Custom(func(t *rapid.T) Dropped {
			return Dropped{Entry{Key: rapid.StringMatching(`i:[a-z]{1,9}`).Draw(t, "key"), Name: "Acme", Shares: markettest.Decimal(9, 2).Draw(t, "shares")},
				drop.Place{Time: markettest.Time().Draw(t, "put"), File: "a.ndjson", Line: rapid.Int64Range(1, 9).Draw(t, "line")}}
		}),
		Encode: func(d Dropped) []byte { return row(&d).Body },
		Decode: func(body []byte) (Dropped, error) { return DecodeRow(store.Row{Body: body}) },
	}.Test(t)
}

func TestALineOfADropReplacesWhatWasFiled(t *testing.T) {
	t.Parallel()
	c := Company{Filing: &Filing{Name: "ACME INC", Shares: market.Fact{Value: "1"}, Cash: market.Fact{Value: "2"}}, Entry: &Entry{Name: "Acme", Cash: "3"}}
	if got := fmt.Sprint(c.Name(), " ", c.Shares(), " ", c.Cash(), " ", c.Debt()); got != "Acme 1 3 " {
		t.Error(got)
	}
}

func TestTheSchemaOfDrops(t *testing.T) {
	t.Parallel()
	droptest.Schema(t, Entries, Name, "companies.schema.json")
}

func TestLinesOfADrop(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"key":"i:acme:nyse","name":"Acme","country":"US","description":"It makes all.","shares":"100","cash":"5.5","debt":""}`: "",
		`{"key":"i:acme:nyse"}`:                 "",
		`{"name":"Acme"}`:                       "key is missing",
		`{"key":"i:acme:nyse","shares":"-1"}`:   "shares must be",
		`{"key":"i:acme:nyse","debt":5}`:        "debt must be",
		`{"key":"i:acme:nyse","cash":"1,000"}`:  "cash must be",
		`{"key":"i:acme:nyse","employees":"1"}`: "no member",
	} {
		_, err := Entries.Decode([]byte(line))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}
