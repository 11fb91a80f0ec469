package market_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/market"
)

func TestPartsAreThereOnceInWhateverOrderTheyCome(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		// Some are there from the start, as in a row that is read: in order.
		ids := rapid.SliceOfNDistinct(rapid.Uint64Range(0, 200), 1, 150, rapid.ID[uint64]).Draw(t, "ids")
		stored := rapid.IntRange(0, len(ids)).Draw(t, "stored")
		parts := market.Parts(ids[:stored]).Sorted()
		for i, id := range ids {
			if has := parts.Has(id); has != (i < stored) {
				t.Fatalf("%d of %v: %t", id, parts, has)
			}
			if i >= stored {
				parts.Add(id)
			}
		}
		want := slices.Sorted(slices.Values(ids))
		for id := range uint64(201) {
			if _, has := slices.BinarySearch(want, id); parts.Has(id) != has {
				t.Fatalf("%d of %v: %t", id, parts, !has)
			}
		}
		if got := parts.Sorted(); !slices.Equal(got, want) {
			t.Fatalf("sorted %v, want %v", got, want)
		}
	})
}

// An order that meets 40,000 others is delivered fill by fill, where the node writes a line a fill.
func TestTheFillsOfAnOrderAreNotSortedAgainForEachOfThem(t *testing.T) {
	t.Parallel()
	const n = 40_000
	var parts market.Parts
	sorted := 0
	for i := range uint64(n) {
		sorted += parts.Add(i * 0x9e3779b97f4a7c15) // in no order
	}
	if most := n * 16 / 2; sorted > most+n { // 2 to the power of 16 are 65,536
		t.Errorf("%d were sorted for %d, want at most %d", sorted, n, most+n)
	}
}
