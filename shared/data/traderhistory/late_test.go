package traderhistory

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"quotary/shared/data/internal/datasettest"
	"quotary/shared/table"
	"quotary/shared/testing/must"
)

func TestStoredLate(t *testing.T) {
	accounts := rapid.Map(rapid.MapOf(rapid.Byte(), rapid.Int64Range(0, 1000)), func(of map[byte]int64) LateAccounts {
		list := LateAccounts{}
		for a, n := range of {
			list[table.Address{19: a}] = LateAccount{Since: n * hourMs, First: 7 * n, Last: 8 * n}
		}
		return list
	})
	datasettest.Codec[Late]{
		Values: rapid.Custom(func(t *rapid.T) Late {
			return Late{Turn: accounts.Draw(t, "turn"), Waiting: accounts.Draw(t, "waiting")}
		}),
		Encode: func(l Late) []byte { return l.Encode() }, Decode: DecodeLate,
		Use: func(l Late) { l.Begin(2, 50) },
	}.Test(t)
}

// TestWhoWaitsLongestIsNext, once what was noted of it has settled, and nobody waits for what its turn is about.
func TestWhoWaitsLongestIsNext(t *testing.T) {
	t.Parallel()
	var l Late
	for _, note := range []struct {
		account      byte
		since, noted int64
		isNew        bool
	}{{1, 9, 100, true}, {2, 5, 90, true}, {3, 5, 80, true}, {2, 5, 90, false}, {4, 7, 180, true}, {4, 9, 150, true}, {4, 9, 170, false}, {3, 4, 200, true}, {4, 1, 300, true}, {3, 7, 400, true}} {
		if isNew := l.Wait(table.Address{19: note.account}, note.since, note.noted); isNew != note.isNew {
			t.Errorf("%+v is new: %t", note, isNew)
		}
	}
	begin := func(before int64, want LateAccounts) {
		t.Helper()
		if l.Begin(2, before) != (len(want) > 0) || !maps.Equal(l.Turn, want) {
			t.Errorf("before %d it is the turn of %v, want %v", before, l.Turn, want)
		}
	}
	begin(80, nil)
	begin(85, LateAccounts{{19: 3}: {4, 80, 400}})
	if l.Wait(table.Address{19: 3}, 5, 400) {
		t.Error("what was noted since is noted again")
	}
	begin(140, LateAccounts{{19: 1}: {9, 100, 100}, {19: 2}: {5, 90, 90}})
	if l.Wait(table.Address{19: 1}, 9, 100) || l.Wait(table.Address{19: 1}, 10, 50) || !l.Wait(table.Address{19: 1}, 9, 110) {
		t.Error("what its turn is about waits, or what was noted later does not")
	}
	l = must.Get(DecodeLate(l.Encode()))(t)
	begin(350, LateAccounts{{19: 1}: {0, 110, 110}, {19: 4}: {0, 150, 300}}) // of full hours
	begin(350, nil)
	begin(1000, LateAccounts{{19: 3}: {0, 400, 400}})
	begin(1000, nil)
	if left := slices.Collect(maps.Keys(l.Waiting)); len(left) > 0 {
		t.Errorf("%v wait", left)
	}
}
