package accountchanges_test

import (
	"slices"
	"testing"
	"time"

	"quotary/shared/data/accountchanges"
	"quotary/shared/store/storetest"
	"quotary/shared/table"
	"quotary/shared/testing/must"
)

// numbered are addresses that end with the numbers from one on and before another.
func numbered(from, to int) (list []table.Address) {
	for n := from; n < to; n++ {
		list = append(list, table.Address{17: byte(n >> 16), 18: byte(n >> 8), 19: byte(n)})
	}
	return list
}

// since are accounts that did something in an hour some hours before a time, or one of 300 before it.
func since(at time.Time, list []table.Address) (did []accountchanges.Did) {
	for i, a := range list {
		did = append(did, accountchanges.Did{Address: a, Since: at.Truncate(time.Hour).Add(-time.Duration(i%300) * time.Hour).UnixMilli()})
	}
	return did
}

func TestChangesAreFoundByWhenTheyWere(t *testing.T) {
	t.Parallel()
	log := storetest.Open(t).Log
	at := time.UnixMilli(1_764_300_000_123).UTC()
	written := map[time.Time]accountchanges.Changes{
		at:                    {Did: since(at, numbered(0, 12_000)), Others: numbered(20_000, 20_003)},
		at.Add(time.Hour):     {Others: numbered(1, 3)},
		at.Add(2 * time.Hour): {Did: since(at.Add(2*time.Hour), numbered(5, 6))},
	}
	for range 2 { // as after a crash
		for at, c := range written {
			rows := accountchanges.Rows(at, &c)
			if err := log.Put(t.Context(), accountchanges.Name, rows); err != nil {
				t.Fatal(err)
			}
			for _, row := range rows {
				if row.Expires.Before(at.Add(32 * 24 * time.Hour)) {
					t.Errorf("a row of %s expires at %s", at, row.Expires)
				}
			}
		}
	}
	for name, c := range map[string]struct{ from, to time.Time }{
		"all":           {at, at.Add(2 * time.Hour)},
		"those between": {at.Add(time.Millisecond), at.Add(2*time.Hour - time.Millisecond)},
		"none":          {at.Add(3 * time.Hour), at.Add(4 * time.Hour)},
	} {
		read := map[time.Time]accountchanges.Changes{}
		must.Do(t, accountchanges.Read(t.Context(), log, c.from, c.to, func(at time.Time, c *accountchanges.Changes) {
			read[at] = accountchanges.Changes{Did: append(read[at].Did, c.Did...), Others: append(read[at].Others, c.Others...)}
		}))
		for at, want := range written {
			if at.Before(c.from) || at.After(c.to) {
				want = accountchanges.Changes{}
			}
			got := read[at]
			slices.SortFunc(got.Did, func(a, b accountchanges.Did) int { return slices.Compare(a.Address[:], b.Address[:]) })
			slices.SortFunc(got.Others, func(a, b table.Address) int { return slices.Compare(a[:], b[:]) })
			if !slices.Equal(got.Did, want.Did) || !slices.Equal(got.Others, want.Others) {
				t.Errorf("%s: at %s %d did something and %d changed, want %d and %d", name, at, len(got.Did), len(got.Others), len(want.Did), len(want.Others))
			}
		}
	}
}
