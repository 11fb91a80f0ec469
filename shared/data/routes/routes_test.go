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
var lists = rapid.Custom(func(t *rapid.T) (of [times][]market.BuilderFacts) {
	for i := range of {
		did := markettest.DidAtMost(6, rapid.Int64Range(markettest.Base, markettest.Base+5*hourMs)).Draw(t, "did")
		var sum market.Facts
		for _, f := range did.Facts() {
			sum.Merge(f)
		}
		for k := range sum.Builders {
			sum.Builders[k].Unknown = rapid.SampledFrom([]int64{0, 0, 0, 2}).Draw(t, "unknown")
		}
		of[i] = sum.Builders
	}
	return of
})

// TestSumsAreThoseOfWhatIsKnownOfEachTrader, whatever was known before, and wherever it was stored and read
// again; and all builders whose sums have changed are told.
func TestSumsAreThoseOfWhatIsKnownOfEachTrader(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r, known, told := routes.New(times, routes.MostBytes), map[table.Address][times][]market.BuilderFacts{}, map[table.Address][times]market.RoutedFacts{}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			of, did := trader(rapid.IntRange(1, 4).Draw(t, "trader")), lists.Draw(t, "did")
			if rapid.IntRange(0, 4).Draw(t, "nothing") == 0 {
				did = [times][]market.BuilderFacts{}
			}
			r.Set(of, did[:]...)
			known[of] = did
			if rapid.IntRange(0, 3).Draw(t, "stored") == 0 {
				changed := r.Changed()
				r = must.Get(routes.Decode(r.Encode(), times, routes.MostBytes))(t)
				check(t, r, known, told, changed)
			} else {
				check(t, r, known, told, r.Changed())
			}
		}
	})
}

func check(t *rapid.T, r *routes.Routes, known map[table.Address][times][]market.BuilderFacts, told map[table.Address][times]market.RoutedFacts, changed []table.Address) {
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
		var got [times]market.RoutedFacts
		for i := range got {
			got[i] = r.Of(b, i)
		}
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
			r := routes.New(times, rapid.SampledFrom([]int{300, routes.MostBytes}).Draw(t, "room"))
			for n := range rapid.IntRange(0, 5).Draw(t, "traders") {
				did := lists.Draw(t, "did")
				r.Set(trader(n), did[:]...)
			}
			return string(r.Encode())
		}),
		Encode: func(body string) []byte { return []byte(body) },
		Decode: func(b []byte) (string, error) {
			r, err := routes.Decode(b, times, routes.MostBytes)
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
	r, did := routes.New(times, routes.MostBytes), lists.Example(3)
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

// TestWhatThereIsNoRoomForIsNotKnown of the builders that a trader names, until there is room for all traders:
// the others keep their sums, and each trader counts once.
func TestWhatThereIsNoRoomForIsNotKnown(t *testing.T) {
	t.Parallel()
	via := func(builders ...int) (list []market.BuilderFacts) {
		for _, b := range builders {
			list = append(list, market.BuilderFacts{Builder: trader(b), RoutedFacts: market.RoutedFacts{Value: market.DecimalFromInt(7)}})
		}
		return list
	}
	r := routes.New(1, 100)
	for _, step := range []struct {
		what    string
		trader  int
		via     []market.BuilderFacts
		unknown []int // builders, of 1, 2 and 3
		changed []int
		left    int
	}{
		{"there is room", 10, via(1), nil, []int{1}, 0},
		{"a trader has too many", 11, via(2, 3, 4, 5), []int{2, 3}, []int{2, 3, 4, 5}, 1},
		{"again", 11, via(2, 3, 4, 5), []int{2, 3}, nil, 1},
		{"another", 12, via(3, 4, 5, 6), []int{2, 3}, []int{6}, 2},
		{"one of them has less", 11, via(2), []int{2, 3}, []int{2}, 1},
		{"what was there grows", 10, via(1, 2, 3, 4), []int{1, 2, 3}, []int{1}, 2},
		{"and goes", 10, nil, []int{1, 2, 3}, nil, 1},
		{"there is room for all", 12, via(3), nil, []int{1, 2, 3, 4, 5, 6}, 0},
	} {
		r.Set(trader(step.trader), step.via)
		changed := r.Changed()
		slices.SortFunc(changed, market.CompareAccounts)
		var want []table.Address
		for _, b := range step.changed {
			want = append(want, trader(b))
		}
		if !slices.Equal(changed, want) || r.LeftOut() != step.left {
			t.Errorf("%s: %d traders are left out, and %v have changed, want %v", step.what, r.LeftOut(), changed, want)
		}
		for b := 1; b <= 3; b++ {
			if known := r.Of(trader(b), 0).Unknown == 0; known == slices.Contains(step.unknown, b) {
				t.Errorf("%s: what builder %d routed is known: %t", step.what, b, known)
			}
		}
		r = must.Get(routes.Decode(r.Encode(), 1, 100))(t)
	}
}
