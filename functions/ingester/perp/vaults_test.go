package perp

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"quotary/shared/data/vaults"
	"quotary/shared/market"
	"quotary/shared/testing/must"
)

func vaultAddress(n int) string { return fmt.Sprintf("0x%040x", 0xa00+n) }

// drawVaults draws vaults that are made, listed, renamed, asked for and named by updates of their
// depositors.
func drawVaults(t *rapid.T) (all []*Batch) {
	for _, s := range moments(t) {
		n := rapid.IntRange(1, 3).Draw(t, "vault")
		of := market.Vault{Address: vaultAddress(n), Leader: fmt.Sprintf("0x%040x", n), Name: fmt.Sprint("vault ", s), Closed: s%3 == 0}
		b := NewBatch()
		switch rapid.IntRange(0, 3).Draw(t, "what") {
		case 0:
			b.Vaults = []market.Vaults{{Time: base + 1000*s, Vaults: []market.Vault{of}}}
		case 1:
			b.Vaults = []market.Vaults{{Time: base + 1000*s, Vaults: []market.Vault{{Address: of.Address}}}}
		case 2:
			b.Ledgers = []market.Ledger{vaultUpdate("vaultCreate", of.Leader, of.Address, base+int64(n))}
		case 3:
			b.Ledgers = []market.Ledger{vaultUpdate("vaultDeposit", "0x00000000000000000000000000000000000000ff", of.Address, base+1000*s)}
		}
		all = append(all, b)
	}
	return all
}

// drawVaultUpdates draws the same without what the venue tells.
func drawVaultUpdates(t *rapid.T) (all []*Batch) {
	for _, b := range drawVaults(t) {
		if b.Vaults = nil; len(b.Ledgers) > 0 {
			all = append(all, b)
		}
	}
	return all
}

func vaultUpdate(kind, of, vault string, ms int64) market.Ledger {
	delta := fmt.Sprintf(`{"type":%q,"vault":%q,"usdc":"100.0"}`, kind, vault)
	return market.Ledger{Address: of, Time: ms, Hash: fmt.Sprint("0x", kind, ms), Type: kind, Delta: json.RawMessage(delta)}
}

func TestAVaultIsWhatIsToldOfItLast(t *testing.T) {
	t.Parallel()
	q := newVaultQuestions()
	p := &vaultFacts{known: map[string]vaults.Vault{}, asked: q}
	const leader, another = "0x0000000000000000000000000000000000000001", "0x0000000000000000000000000000000000000002"
	a := vaultAddress(1)
	steps := []struct {
		what string
		b    market.Events
		want vaults.Vault
	}{
		{"its own account says that it is made", market.Events{Ledgers: []market.Ledger{vaultUpdate("vaultCreate", a, a, base)}}, vaults.Vault{Address: a, Created: base}},
		{"its leader says it", market.Events{Ledgers: []market.Ledger{vaultUpdate("vaultCreate", leader, a, base)}}, vaults.Vault{Address: a, Leader: leader, Created: base}},
		{"the venue knows none", market.Events{Vaults: []market.Vaults{{Time: base + 1, Vaults: []market.Vault{{Address: a}}}}}, vaults.Vault{Address: a, Leader: leader, Created: base, Asked: base + 1}},
		{"the venue tells", market.Events{Vaults: []market.Vaults{{Time: base + 5, Vaults: []market.Vault{{Address: a, Leader: another, Name: "A"}}}}}, vaults.Vault{Address: a, Leader: another, Name: "A", Created: base, Told: base + 5, Asked: base + 5}},
		{"it told before", market.Events{Vaults: []market.Vaults{{Time: base + 4, Vaults: []market.Vault{{Address: a, Leader: leader, Name: "B"}}}}}, vaults.Vault{Address: a, Leader: another, Name: "A", Created: base, Told: base + 5, Asked: base + 5}},
		{"what names none", market.Events{Ledgers: []market.Ledger{vaultUpdate("vaultDeposit", leader, "0x12", base), {Type: "vaultDeposit", Delta: json.RawMessage(`[]`)}}}, vaults.Vault{Address: a, Leader: another, Name: "A", Created: base, Told: base + 5, Asked: base + 5}},
	}
	for _, s := range steps {
		p.Apply(&Batch{Events: s.b}, time.UnixMilli(base))
		if v := p.View(time.UnixMilli(base)); len(v.Vaults) != 1 || v.Vaults[0] != s.want {
			t.Errorf("%s: %+v, want %+v", s.what, v.Vaults, s.want)
		}
	}
}

func TestEachVaultIsAskedForOnceAndAgainAfterAMonth(t *testing.T) {
	t.Parallel()
	q, now := newVaultQuestions(), time.UnixMilli(base).UTC()
	q.note("a", 0)
	q.note("b", 0)
	q.note("told", now.Add(-time.Hour).UnixMilli())
	q.note("old", now.Add(-vaultAgain-time.Hour).UnixMilli())
	ask := func(at time.Time) (all []string) {
		for {
			address, ok := q.next(at)
			if !ok {
				return all
			}
			all = append(all, address)
		}
	}
	first := ask(now)
	if slices.Sort(first[:2]); !slices.Equal(first, []string{"a", "b", "old"}) {
		t.Errorf("asked for %v", first)
	}
	q.note("a", now.UnixMilli()) // its answer
	if again := ask(now.Add(vaultTryAgain + time.Second)); !slices.Equal(again, []string{"b", "old"}) && !slices.Equal(again, []string{"old", "b"}) {
		t.Errorf("asked again for %v, want those without an answer", again)
	}
	if month := ask(now.Add(vaultAgain + time.Second)); !slices.Contains(month, "a") || !slices.Contains(month, "told") {
		t.Errorf("asked for %v a month later", month)
	}
}

func TestNoMoreVaultsAreKeptThanThereIsRoomFor(t *testing.T) {
	t.Parallel()
	q := newVaultQuestions()
	p := &vaultFacts{known: map[string]vaults.Vault{}, asked: q}
	var told market.Vaults
	for n := range vaults.Most + 7 {
		told.Vaults = append(told.Vaults, market.Vault{Address: vaultAddress(n), Leader: vaultAddress(n)})
	}
	p.Apply(&Batch{Events: market.Events{Vaults: []market.Vaults{told}}}, time.UnixMilli(base))
	if n := len(p.View(time.Time{}).Vaults); n != vaults.Most || q.leftOut.Load() != 7 || len(q.asked) != n {
		t.Errorf("%d vaults are kept, %d left out, %d asked for", n, q.leftOut.Load(), len(q.asked))
	}
}

func TestVaultsAreRestored(t *testing.T) {
	t.Parallel()
	q := newVaultQuestions()
	p := newVaults(q)
	v := vaults.View{Vaults: []vaults.Vault{{Address: vaultAddress(1)}, {Address: vaultAddress(2), Leader: vaultAddress(3), Asked: base}}}
	must.Do(t, p.Restore(map[string][]byte{vaults.Name: vaults.Published.Encode(v)}))
	if address, ok := q.next(time.UnixMilli(base)); !ok || address != vaultAddress(1) {
		t.Errorf("%q is asked for, %t", address, ok)
	}
	if address, ok := q.next(time.UnixMilli(base)); ok {
		t.Errorf("%q is asked for though it is known", address)
	}
}
