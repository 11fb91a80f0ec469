package perp

import (
	"testing"
	"time"

	"quotary/shared/data/accountchanges"
	"quotary/shared/data/fills"
	"quotary/shared/table"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// TestAccountsOfBeforeThereWereNotesAreNoted, each once, in a domain that has run without notes.
func TestAccountsOfBeforeThereWereNotesAreNoted(t *testing.T) {
	t.Parallel()
	stores, list := newStores(t), readFills(t, recording)
	must.Do(t, stores.Log.Put(t.Context(), fills.Name, fills.AppendRows(nil, list)))
	noted := func() map[table.Address]int {
		all := map[table.Address]int{}
		must.Do(t, accountchanges.Read(t.Context(), stores.Log, time.Time{}, time.Now(), func(_ time.Time, c *accountchanges.Changes) {
			for _, did := range c.Did {
				all[did.Address]++
			}
			for _, a := range c.Others {
				all[a]++
			}
		}))
		return all
	}
	lives := 0
	life := func(what string, with []Projection, holds func() bool) {
		t.Helper()
		lives++
		p := newPipeline(stores, replayed(list[:lives])) // of which a life takes one
		p.Projections = with
		stop := run(t, p)
		testenv.Until(t, what, func() bool { return p.Stats.Events.Load() == 1 && p.Stats.CatchingUp.Load() == 0 && holds() })
		must.Do(t, stop())
	}
	always := func() bool { return true }
	life("the domain has run without notes", nil, always)
	if n := len(noted()); n != 0 {
		t.Fatalf("%d accounts were noted before", n)
	}
	want := map[string]bool{}
	for i := range list {
		want[list[i].Address] = true
	}
	life("all are noted", []Projection{&accountNotes{}}, func() bool { return len(noted()) == len(want) })
	life("nobody is noted again", []Projection{&accountNotes{}}, always)
	for a, n := range noted() {
		if n != 1 {
			t.Errorf("%x was noted %d times", a, n)
		}
	}
}
