package routes_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/data/routes"
	"quotary/shared/market"
	"quotary/shared/market/markettest"
	"quotary/shared/table"
	"quotary/shared/testing/must"
)

const (
	times  = 2
	hourMs = 3_600_000
)

var equal = cmp.Options{cmpopts.EquateEmpty(), cmp.Comparer(market.Decimal.Equal)}

func trader(n int) table.Address { return table.Address{19: byte(n)} }

// lists draws what builders routed of a trader, in hours of which some are of each time.
var lists = rapid.Custom(func(t *rapid.T) (of [times][]market.Via) {
	for i := range of {
		did := markettest.DidAtMost(6, rapid.Int64Range(markettest.Base, markettest.Base+5*hourMs)).Draw(t, "did")
		var sum market.Facts
		for _, f := range did.Facts() {
			sum.Merge(f)
		}
		of[i] = sum.Via
	}
	return of
})

// TestSumsAreThoseOfWhatIsKnownOfEachTrader, whatever was known before, and wherever it was stored and read
// again; and all builders whose sums have changed are told.
func TestSumsAreThoseOfWhatIsKnownOfEachTrader(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r, known, told := routes.New(times), map[table.Address][times][]market.Via{}, map[table.Address][times]market.RoutedFacts{}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			of, did := trader(rapid.IntRange(1, 4).Draw(t, "trader")), lists.Draw(t, "did")
			if rapid.IntRange(0, 4).Draw(t, "nothing") == 0 {
				did = [times][]market.Via{}
			}
			r.Set(of, did[:]...)
			known[of] = did
			if rapid.IntRange(0, 3).Draw(t, "stored") == 0 {
				changed := r.Changed()
				r = must.Get(routes.Decode(r.Encode(), times))(t)
				check(t, r, known, told, changed)
			} else {
				check(t, r, known, told, r.Changed())
			}
		}
	})
}

func check(t *rapid.T, r *routes.Routes, known map[table.Address][times][]market.Via, told map[table.Address][times]market.RoutedFacts, changed []table.Address) {
	t.Helper()
	sums := map[table.Address][times]market.RoutedFacts{}
	for _, did := range known {
		for i, list := range did {
			for k := range list {
				of := sums[list[k].Builder]
				of[i].Merge(&list[k].RoutedFacts)
				sums[list[k].Builder] = of
			}
		}
	}
	if len(r.Builders()) != len(sums) {
		t.Fatalf("%d builders, want %d", len(r.Builders()), len(sums))
	}
	for _, text := range markettest.Builders[1:] {
		b, _ := market.ParseAccount(text)
		got := [times]market.RoutedFacts{r.Of(b, 0), r.Of(b, 1)}
		if diff := cmp.Diff(sums[b], got, equal); diff != "" {
			t.Fatalf("(-sum +got):\n%s", diff)
		}
		if !cmp.Equal(told[b], got, equal) && !slices.Contains(changed, b) {
			t.Fatalf("it is not told that the sums of %s have changed", text)
		}
		told[b] = got
	}
}

// TestStoredRoutes has what is read written again: it is known by that.
func TestStoredRoutes(t *testing.T) {
	datasettest.Codec[string]{
		Values: rapid.Custom(func(t *rapid.T) string {
			r := routes.New(times)
			for n := range rapid.IntRange(0, 5).Draw(t, "traders") {
				did := lists.Draw(t, "did")
				r.Set(trader(n), did[:]...)
			}
			return string(r.Encode())
		}),
		Encode: func(body string) []byte { return []byte(body) },
		Decode: func(b []byte) (string, error) {
			r, err := routes.Decode(b, times)
			if err != nil {
				return "", err
			}
			for _, b := range r.Builders() {
				r.Of(b, times-1)
			}
			return string(r.Encode()), nil
		},
	}.Test(t)
}

func TestWhatIsSetAgainChangesNothing(t *testing.T) {
	t.Parallel()
	r, did := routes.New(times), lists.Example(3)
	r.Set(trader(1), did[:]...)
	if len(r.Changed()) == 0 {
		t.Fatal("nothing has changed")
	}
	before := r.Encode()
	r.Set(trader(1), did[:]...)
	r.Set(trader(2))
	if list := r.Changed(); len(list) > 0 || !bytes.Equal(before, r.Encode()) {
		t.Errorf("the sums of %d builders have changed", len(list))
	}
}
