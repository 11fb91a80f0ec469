package content

import (
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quotary/functions/ingester/engine"
	"quotary/shared/testing/must"
)

// TestViewsOfEntriesEndTheSameWhateverHappens lets entries come late, twice and in any
// order, over restarts from the view that was published last. The texts of airdrops stand in
// no view.
func TestViewsOfEntriesEndTheSameWhateverHappens(t *testing.T) {
	t.Parallel()
	t.Run("airdrops", func(t *testing.T) { t.Parallel(); viewsEndTheSame(t, &airdropEntries, drawAirdrop, `"text"`) })
	t.Run("flashes", func(t *testing.T) { t.Parallel(); viewsEndTheSame(t, &flashEntries, drawFlash, "nothing") })
}

func viewsEndTheSame[T, V any](t *testing.T, of *entries[T, V], draw func(*rapid.T) T, absent string) {
	apply := func(t *rapid.T, p Projection, list ...T) {
		b := NewBatch()
		*of.in(b) = list
		must.Do(t, p.Apply(b, engine.NewReads(), time.Now()))
	}
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(draw), 1, 12).Draw(t, "entries")
		clean := of.newView()
		apply(t, clean, all...)
		want := clean.Changes(time.Now(), true).Views[0].Body

		var last []byte // as published
		p := of.newView()
		for _, one := range rapid.Permutation(slices.Concat(all, all)).Draw(t, "order") {
			apply(t, p, one)
			if views := p.Changes(time.Now(), false).Views; len(views) > 0 {
				last = views[0].Body
			}
			if rapid.Bool().Draw(t, "restart") {
				p = of.newView()
				must.Do(t, p.Restore(map[string][]byte{p.Name(): last}))
			}
		}
		if diff := gocmp.Diff(string(want), string(last)); diff != "" || strings.Contains(string(want), absent) {
			t.Fatal(diff)
		}
	})
}
